// SPDX-License-Identifier: BSD-3-Clause
//
// generics.c by the C++ overloads of the same names.
#include "generics.c"  // NOLINT(bugprone-suspicious-include): one test, two languages
