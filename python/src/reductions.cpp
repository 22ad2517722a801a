// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/reductions.h"

#include <string_view>

#include "python/src/errors.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

struct Entry {
  std::string_view op;
  Kind kind;
  size_t itemsize;
  Reduction all;
  Reduction scattered;
};

/// The library's functions take pointers of the element type.
template <auto function, class T>
int erased(shmem_team_t team, void* dest, const void* source, size_t nelems) {
  return function(team, static_cast<T*>(dest), static_cast<const T*>(source), nelems);
}

// clang-format off
#define ENTRY(OP, KIND, NAME, TYPE) \
  {#OP, Kind::KIND, sizeof(TYPE), erased<shmem_##NAME##_##OP##_reduce, TYPE>, erased<shmemx_##NAME##_##OP##_reducescatter, TYPE>}
#define INTEGERS(OP) \
  ENTRY(OP, signed_integer, int8, int8_t), ENTRY(OP, signed_integer, int16, int16_t), \
  ENTRY(OP, signed_integer, int32, int32_t), ENTRY(OP, signed_integer, int64, int64_t), \
  ENTRY(OP, unsigned_integer, uint8, uint8_t), ENTRY(OP, unsigned_integer, uint16, uint16_t), \
  ENTRY(OP, unsigned_integer, uint32, uint32_t), ENTRY(OP, unsigned_integer, uint64, uint64_t)
// Numbers of 16 bits are given as their bits.
#define REALS(OP) \
  ENTRY(OP, real, float, float), ENTRY(OP, real, double, double), \
  {#OP, Kind::real, sizeof(uint16_t), erased<shmemx_half_##OP##_reduce, uint16_t>, erased<shmemx_half_##OP##_reducescatter, uint16_t>}, \
  {#OP, Kind::bfloat16, sizeof(uint16_t), erased<shmemx_bfloat16_##OP##_reduce, uint16_t>, erased<shmemx_bfloat16_##OP##_reducescatter, uint16_t>}
#define COMPLEXES(OP) \
  ENTRY(OP, complex, complexf, railshmem_complexf), ENTRY(OP, complex, complexd, railshmem_complexd)
// clang-format on

constexpr Entry kEntries[] = {
    INTEGERS(sum), REALS(sum),    COMPLEXES(sum), INTEGERS(prod), REALS(prod),  COMPLEXES(prod), INTEGERS(min),
    REALS(min),    INTEGERS(max), REALS(max),     INTEGERS(and),  INTEGERS(or), INTEGERS(xor),
};

const Entry& entry_of(const char* function, const char* op, const Array& array) {
  // Bytes of 0 and 1; their sum would be neither.
  const bool as_bytes = array.kind() == Kind::boolean && std::string_view(op) != "sum";
  const Kind kind = as_bytes ? Kind::unsigned_integer : array.kind();
  bool known = false;
  for (const Entry& entry : kEntries) {
    if (entry.op != op) continue;
    known = true;
    if (entry.kind == kind && entry.itemsize == array.itemsize()) return entry;
  }
  if (!known) value_error(text(function, ": op is '", op, "'; accepted: sum, prod, min, max, and, or, xor"));
  type_error(text(function, ": ", array.argument(), " has elements of ", array.type_name(), ", which the operation ",
                  op, " does not take"));
}

}  // namespace

Reduction all_reduction(const char* function, const char* op, const Array& array) {
  return entry_of(function, op, array).all;
}

Reduction scattered_reduction(const char* function, const char* op, const Array& array) {
  return entry_of(function, op, array).scattered;
}

}  // namespace railshmem::python
