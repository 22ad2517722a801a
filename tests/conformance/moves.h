// SPDX-License-Identifier: BSD-3-Clause
//
// All block transfers of the API as one table, so that a test is a loop and no type is forgotten.
#ifndef CONFORMANCE_MOVES_H
#define CONFORMANCE_MOVES_H

#include <shmem.h>

#include "type_lists.h"

/// Elements from source to dest; one of the two is on `pe`.
using Move = void (*)(void* dest, const void* source, size_t nelems, int pe);

struct Form {
  const char* name;
  bool nbi;
};
constexpr Form kForms[] = {{"blocking", false}, {"nbi", true}, {"ctx", false}, {"ctx_nbi", true}};

struct Moves {
  const char* name;
  size_t element;  // bytes
  Move put[4];     // in the order of kForms
  Move get[4];
};

// clang-format off
#define MOVE(T, CALL) [](void* dest, const void* source, size_t nelems, int pe) { \
    CALL(static_cast<T*>(dest), static_cast<const T*>(source), nelems, pe); }
#define MOVE_CTX(T, CALL) [](void* dest, const void* source, size_t nelems, int pe) { \
    CALL(SHMEM_CTX_DEFAULT, static_cast<T*>(dest), static_cast<const T*>(source), nelems, pe); }
#define MOVES_FORMS(NAME, T) {MOVE(T, shmem_##NAME), MOVE(T, shmem_##NAME##_nbi), \
    MOVE_CTX(T, shmem_ctx_##NAME), MOVE_CTX(T, shmem_ctx_##NAME##_nbi)}
#define MOVES_TYPED(N, T) {#N, sizeof(T), MOVES_FORMS(N##_put, T), MOVES_FORMS(N##_get, T)},
#define MOVES_SIZED(BITS) {#BITS, BITS / 8, MOVES_FORMS(put##BITS, void), MOVES_FORMS(get##BITS, void)},

inline const Moves kMoves[] = {
    RAILSHMEM_FOR_RMA_TYPES(MOVES_TYPED)
    RAILSHMEM_FOR_SIZES(MOVES_SIZED)
    {"mem", 1, MOVES_FORMS(putmem, void), MOVES_FORMS(getmem, void)},
};
// clang-format on

inline const Moves& mem_moves() {
  return kMoves[sizeof kMoves / sizeof kMoves[0] - 1];
}

#endif
