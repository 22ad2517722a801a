// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/gemm.h"

#include <cstring>
#include <utility>

#include "src/base/error.h"

namespace railshmem::overlap {
namespace {

struct TypeFacts {
  size_t nbytes;
  Element element;
};

TypeFacts facts_of(const char* field, int type, const char* also = "") {
  switch (type) {
    case SHMEMX_DATATYPE_HALF:
      return {2, Element::half};
    case SHMEMX_DATATYPE_BFLOAT16:
      return {2, Element::bfloat16};
    case SHMEMX_DATATYPE_FLOAT:
      return {4, Element::float32};
    default:
      throw Error(text("%s is %d; it must be SHMEMX_DATATYPE_HALF, SHMEMX_DATATYPE_BFLOAT16 or SHMEMX_DATATYPE_FLOAT%s",
                       field, type, also));
  }
}

size_t operand_nbytes(int type) {
  if (is_float8(type)) return 1;
  return facts_of("type", type, ", or for 8-bit floats SHMEMX_DATATYPE_FLOAT8_E4M3 or _E5M2").nbytes;
}

size_t leading(const char* field, size_t asked, size_t least) {
  if (asked != 0 && asked < least)
    throw Error(text("%s is %zu, but a row has %zu elements; pass 0 for rows that lie one behind the other", field,
                     asked, least));
  return asked == 0 ? least : asked;
}

void must_be(const char* field, size_t value, size_t right, const char* why) {
  if (value != right) throw Error(text("%s is %zu; it must be %zu (or 0): %s", field, value, right, why));
}

void check_flag(const char* field, int value) {
  if (value != 0 && value != 1) throw Error(text("%s is %d; it must be 0 or 1", field, value));
}

void check_buffer(const char* field, const void* address, size_t element) {
  if (address == nullptr) throw Error(text("%s is NULL; pass memory of this PE's GPU", field));
  if (reinterpret_cast<uintptr_t>(address) % element != 0)
    throw Error(text("%s %p is no multiple of its elements' %zu bytes", field, address, element));
}

void check_sizes(const shmemx_gemm_t& asked, int n) {
  if (asked.m == 0 || asked.n == 0 || asked.k == 0)
    throw Error(text("m, n and k are %zu, %zu and %zu; each must be at least 1", asked.m, asked.n, asked.k));
  constexpr size_t kMost = size_t{1} << 31;  // cuBLASLt counts so far, and no product of two of them overflows
  if (asked.m >= kMost || asked.n >= kMost || asked.k >= kMost)
    throw Error(text("m, n and k are %zu, %zu and %zu; each must be below 2^31", asked.m, asked.n, asked.k));
  if (asked.m % static_cast<size_t>(n) != 0)
    throw Error(text("m is %zu, which the team's %d members do not divide; pad it to %zu rows", asked.m, n,
                     (asked.m + static_cast<size_t>(n) - 1) / static_cast<size_t>(n) * static_cast<size_t>(n)));
}

void check_product(const shmemx_gemm_t& asked) {
  if (asked.compute != SHMEMX_COMPUTE_FLOAT && asked.compute != SHMEMX_COMPUTE_TF32)
    throw Error(text("compute is %d; it must be SHMEMX_COMPUTE_FLOAT or SHMEMX_COMPUTE_TF32", asked.compute));
  if (asked.compute == SHMEMX_COMPUTE_TF32 && asked.type != SHMEMX_DATATYPE_FLOAT)
    throw Error(text("compute is SHMEMX_COMPUTE_TF32, but type is %d; TF32 is for SHMEMX_DATATYPE_FLOAT", asked.type));
  if (asked.activation < SHMEMX_ACTIVATION_NONE || asked.activation > SHMEMX_ACTIVATION_GELU)
    throw Error(text("activation is %d; pass a SHMEMX_ACTIVATION_ constant", asked.activation));
  if (asked.result_type != asked.type && asked.result_type != SHMEMX_DATATYPE_FLOAT && !is_float8(asked.type))
    throw Error(
        text("result_type is %d; it must be type, %d, or SHMEMX_DATATYPE_FLOAT", asked.result_type, asked.type));
  if (asked.pieces < SHMEMX_PIECES_WHOLE || asked.pieces > SHMEMX_PIECES_MOST)
    throw Error(text("pieces is %d; it must be 1 to %d, 0 (by shape) or SHMEMX_PIECES_WHOLE", asked.pieces,
                     SHMEMX_PIECES_MOST));
  if (asked.protocol != 0 && asked.protocol != SHMEMX_PROTOCOL_GET && asked.protocol != SHMEMX_PROTOCOL_PUT)
    throw Error(
        text("protocol is %d; it must be 0 (by shape), SHMEMX_PROTOCOL_GET or SHMEMX_PROTOCOL_PUT", asked.protocol));
}

/// What cuBLASLt demands of operands of 8 bits. A message of its own would name no field.
void check_float8(const Gemm& gemm) {
  const shmemx_gemm_t& asked = gemm.asked;
  if (asked.transposed_a != 0 || asked.transposed_b != 1)
    throw Error(text("transposed_a and transposed_b are %d and %d; 8-bit operands need 0 and 1: store b as n x k",
                     asked.transposed_a, asked.transposed_b));
  if (asked.type == SHMEMX_DATATYPE_FLOAT8_E5M2 && gemm.b_type == SHMEMX_DATATYPE_FLOAT8_E5M2)
    throw Error("a and b are SHMEMX_DATATYPE_FLOAT8_E5M2 both; cuBLASLt needs one of SHMEMX_DATATYPE_FLOAT8_E4M3");
  constexpr size_t kStep = 16;
  const auto must_divide = [](const char* field, size_t value) {
    if (value % kStep != 0)
      throw Error(text("%s is %zu; 8-bit operands need a multiple of %zu: pad the matrices", field, value, kStep));
  };
  must_divide("n", asked.n);
  must_divide("k", asked.k);
  must_divide("lda", gemm.lda);
  must_divide("ldb", gemm.ldb);
  must_divide("ldc", gemm.ldc);
  for (const auto& [field, address] : {std::pair{"a", asked.a}, {"b", asked.b}, {"c", asked.c}})
    if (reinterpret_cast<uintptr_t>(address) % kStep != 0)
      throw Error(text("%s %p is no multiple of %zu bytes, which 8-bit operands need", field, address, kStep));
  if (asked.bias != nullptr && asked.result_type == SHMEMX_DATATYPE_FLOAT)
    throw Error(
        "bias goes with 8-bit operands only where result_type is SHMEMX_DATATYPE_HALF or SHMEMX_DATATYPE_BFLOAT16");
  constexpr size_t kScaleAlignment = 16;  // cuBLASLt refuses the product otherwise
  for (const float* const scale : {asked.a_scale, asked.b_scale})
    if (reinterpret_cast<uintptr_t>(scale) % kScaleAlignment != 0)
      throw Error(text("a_scale or b_scale is %p, which is no multiple of %zu bytes; give each scale memory of its own",
                       static_cast<const void*>(scale), kScaleAlignment));
}

/// The fields that only operands of 8 bits have.
void check_operands(const Gemm& gemm) {
  const shmemx_gemm_t& asked = gemm.asked;
  if (is_float8(asked.type) != is_float8(gemm.b_type) || (!is_float8(asked.type) && gemm.b_type != asked.type))
    throw Error(text("b_type is %d and type %d; only 8-bit floats may differ: pass 0", asked.b_type, asked.type));
  if (asked.product != nullptr) return;
  if (is_float8(asked.type)) return check_float8(gemm);
  if (asked.a_scale != nullptr || asked.b_scale != nullptr)
    throw Error(text("a_scale or b_scale is set, but type is %d; scales are for 8-bit floats: pass NULL, and alpha",
                     asked.type));
}

/// What each of the two ways lacks.
void check_way(const Gemm& gemm) {
  const shmemx_gemm_t& asked = gemm.asked;
  if (gemm.way == Way::gather) {
    if (asked.transposed_a != 0)
      throw Error("transposed_a is 1; rows are gathered as they lie, so a must be stored row by row: pass 0");
    must_be("lda", gemm.lda, asked.k, "the rows that are gathered lie one behind the other");
    return;
  }
  must_be("ldc", gemm.ldc, asked.n, "the rows that are added up lie one behind the other");
  if (asked.product != nullptr) return;
  if (asked.beta != 0) throw Error(text("beta is %g; product + reduce-scatter takes 0: add c afterwards", asked.beta));
  if (asked.bias != nullptr || asked.activation != SHMEMX_ACTIVATION_NONE)
    throw Error(
        "bias and activation belong to the sum of all members, which no product has: apply them to c afterwards");
}

}  // namespace

shmemx_gemm_t complete(const shmemx_gemm_t* asked) {
  constexpr size_t kOfFirstVersion = offsetof(shmemx_gemm_t, protocol);
  if (asked == nullptr) throw Error("gemm is NULL; begin with SHMEMX_GEMM_INITIALIZER");
  if (asked->size != sizeof *asked && asked->size != kOfFirstVersion)
    throw Error(
        text("gemm's size is %zu, or its size is not set; begin with SHMEMX_GEMM_INITIALIZER, whose size is %zu",
             asked->size, sizeof *asked));
  shmemx_gemm_t whole = SHMEMX_GEMM_INITIALIZER;
  std::memcpy(&whole, asked, asked->size);
  return whole;
}

Gemm checked(Way way, const shmemx_gemm_t* asked, int n) {
  check_sizes(*asked, n);
  Gemm gemm{way, *asked, asked->m / static_cast<size_t>(n), 0, 0, 0, 0, 0, Element::float32, asked->type};
  gemm.element = operand_nbytes(asked->type);
  if (asked->b_type != 0) gemm.b_type = asked->b_type;
  const TypeFacts result = facts_of("result_type", asked->result_type);
  gemm.result_element = result.nbytes;
  gemm.summed = result.element;
  check_flag("transposed_a", asked->transposed_a);
  check_flag("transposed_b", asked->transposed_b);
  check_product(*asked);
  gemm.lda = leading("lda", asked->lda, asked->transposed_a != 0 ? asked->m : asked->k);
  gemm.ldb = leading("ldb", asked->ldb, asked->transposed_b != 0 ? asked->k : asked->n);
  gemm.ldc = leading("ldc", asked->ldc, asked->n);
  check_way(gemm);
  check_buffer("a", asked->a, gemm.element);
  check_buffer("c", asked->c, gemm.result_element);
  if (way == Way::gather) check_buffer("gathered", asked->gathered, gemm.element);
  if (asked->product == nullptr) check_buffer("b", asked->b, gemm.element);
  check_operands(gemm);
  return gemm;
}

}  // namespace railshmem::overlap
