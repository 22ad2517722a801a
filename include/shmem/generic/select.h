// SPDX-License-Identifier: BSD-3-Clause
//
// How a C11 generic finds its function.
//
// The first argument decides: a context sends the choice on to the second argument and the ctx_ functions, anything
// else is itself the pointer whose type is looked up. Selection looks at types only, so arguments are evaluated once,
// by the call; and it does not count arguments, so one that holds commas (a compound literal, say) does no harm behind
// the first two. Function names are pasted from parts with a leading underscore, out of reach of a user's own macros.
#ifndef RAILSHMEM_SHMEM_GENERIC_SELECT_H
#define RAILSHMEM_SHMEM_GENERIC_SELECT_H

#include "shmem/types.h"

/// The result of a selection whose table lacks the type, for the assertion to find; exists in no library. It takes any
/// arguments, so that compilers complain by the assertion only.
typedef int railshmem_no_function(const volatile void* pointer, ...);
railshmem_no_function railshmem_generic_has_no_function_for_this_type;

#define RAILSHMEM_FIRST(A, ...) (A)
#define RAILSHMEM_SECOND(A, B, ...) (B)

// clang-format off

/// The function for one pointer argument, out of a table of types (c11.h). P is shmem_ or shmem_ctx_.
#define RAILSHMEM_CHOOSE(ROWS, P, OP, POINTER) \
  _Generic(POINTER, ROWS(P, OP) default: railshmem_generic_has_no_function_for_this_type)

/// Calls the selected function; if none exists, the compiler's message has the generic's name and its types.
#define RAILSHMEM_CALL(SELECTION, TYPES, OP, ...)                                             \
  ((void)sizeof(struct {                                                                      \
     _Static_assert(_Generic(SELECTION, railshmem_no_function*: 0, default: 1),               \
         "shmem" #OP " has no function for an argument of this type; it takes pointers to "   \
         TYPES ", and to nothing else");                                                      \
     int member;                                                                              \
   }), SELECTION(__VA_ARGS__))

/// A call whose first argument is the pointer.
#define RAILSHMEM_SELECT(ROWS, TYPES, OP, ...) \
  RAILSHMEM_CALL(RAILSHMEM_CHOOSE(ROWS, shmem_, OP, RAILSHMEM_FIRST(__VA_ARGS__, 0)), TYPES, OP, __VA_ARGS__)

/// A call whose first argument is a team and whose second is the pointer.
#define RAILSHMEM_SELECT_TEAM(ROWS, TYPES, OP, ...) \
  RAILSHMEM_CALL(RAILSHMEM_CHOOSE(ROWS, shmem_, OP, RAILSHMEM_SECOND(__VA_ARGS__, 0)), TYPES, OP, __VA_ARGS__)

/// A call whose first argument is the pointer, or a context with the pointer behind it.
#define RAILSHMEM_SELECT_CTX(ROWS, TYPES, OP, ...)                                                   \
  RAILSHMEM_CALL(_Generic(RAILSHMEM_FIRST(__VA_ARGS__, 0),                                           \
      shmem_ctx_t: RAILSHMEM_CHOOSE(ROWS, shmem_ctx_, OP, RAILSHMEM_SECOND(__VA_ARGS__, 0)),         \
      default: RAILSHMEM_CHOOSE(ROWS, shmem_, OP, RAILSHMEM_FIRST(__VA_ARGS__, 0))), TYPES, OP, __VA_ARGS__)

/// A call whose first argument may be a context, of functions without a type of elements.
#define RAILSHMEM_SELECT_SIGNAL(PLAIN, WITH_CTX, ...) \
  _Generic(RAILSHMEM_FIRST(__VA_ARGS__, 0), shmem_ctx_t: WITH_CTX, default: PLAIN)(__VA_ARGS__)

// clang-format on

#endif
