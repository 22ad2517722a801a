// SPDX-License-Identifier: BSD-3-Clause
//
// Global objects of a C and of a C++ file, for static_objects.cpp.
#ifndef CONFORMANCE_STATIC_OBJECTS_H
#define CONFORMANCE_STATIC_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

enum { kStaticLongs = 300, kBssBytes = 1 << 20 };

#ifdef __cplusplus
extern "C" {
#endif

extern long c_data[kStaticLongs];       // initialised: .data
extern unsigned char c_bss[kBssBytes];  // zero: .bss
long* c_static_data(void);              // static at file scope, one word
long* c_function_static(void);          // static in a function
extern uint64_t c_signal;

#ifdef __cplusplus
}
#endif
#endif
