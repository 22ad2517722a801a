// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/gemm.h"

#include "src/base/error.h"

namespace railshmem::overlap {
namespace {

struct TypeFacts {
  size_t nbytes;
  Element element;
};

TypeFacts facts_of(const char* field, int type) {
  switch (type) {
    case SHMEMX_DATATYPE_HALF:
      return {2, Element::half};
    case SHMEMX_DATATYPE_BFLOAT16:
      return {2, Element::bfloat16};
    case SHMEMX_DATATYPE_FLOAT:
      return {4, Element::float32};
    default:
      throw Error(text("%s is %d; it must be SHMEMX_DATATYPE_HALF, SHMEMX_DATATYPE_BFLOAT16 or SHMEMX_DATATYPE_FLOAT",
                       field, type));
  }
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
  if (asked.result_type != asked.type && asked.result_type != SHMEMX_DATATYPE_FLOAT)
    throw Error(
        text("result_type is %d; it must be type, %d, or SHMEMX_DATATYPE_FLOAT", asked.result_type, asked.type));
  if (asked.pieces < SHMEMX_PIECES_WHOLE || asked.pieces > SHMEMX_PIECES_MOST)
    throw Error(text("pieces is %d; it must be 1 to %d, 0 (by shape) or SHMEMX_PIECES_WHOLE", asked.pieces,
                     SHMEMX_PIECES_MOST));
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

Gemm checked(Way way, const shmemx_gemm_t* asked, int n) {
  check_sizes(*asked, n);
  Gemm gemm{way, *asked, asked->m / static_cast<size_t>(n), 0, 0, 0, 0, 0, Element::float32};
  gemm.element = facts_of("type", asked->type).nbytes;
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
  return gemm;
}

}  // namespace railshmem::overlap
