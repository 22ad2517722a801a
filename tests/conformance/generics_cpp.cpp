// SPDX-License-Identifier: BSD-3-Clause
//
// The test generics.c, by the C++ overloads.
#include "generics.c"  // NOLINT(bugprone-suspicious-include): one test, two languages
