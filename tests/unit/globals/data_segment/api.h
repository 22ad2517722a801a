// SPDX-License-Identifier: BSD-3-Clause
// What the test programs call, so that the code under test can be in the executable or in a shared library.
#pragma once

#include <stddef.h>

extern "C" {
/// A new fd of the shared memory, or -1 and the reason.
int test_share(char* reason, size_t nbytes);
/// 0, or -1 and the reason.
int test_unshare(char* reason, size_t nbytes);
void test_segment(char** base, size_t* nbytes);
}
