// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/lt_products.h"

#include "src/base/error.h"

namespace railshmem::overlap {

LtProducts::~LtProducts() {
  products_.clear();
  if (handle_ != nullptr) lt::library().destroy(handle_);
}

const LtProducts::Chosen& LtProducts::chosen(const ProductKey& key) {
  const auto found = products_.find(key);
  if (found != products_.end()) return found->second;
  if (handle_ == nullptr) lt::must(lt::library().create(&handle_), "cublasLtCreate");
  LtProduct product(key);
  const lt::Algorithm algorithm = product.candidates(handle_, room_.nbytes, 1).front();
  return products_.emplace(key, Chosen{std::move(product), algorithm}).first->second;
}

void LtProducts::prepare(const Gemm& gemm, size_t nrows, const void* a, const void* c) {
  chosen(key_of(gemm, nrows, a, c));
}

void LtProducts::give(const Gemm& gemm, size_t nrows, const void* a, void* c, shmemx_stream_t stream) {
  const shmemx_gemm_t& asked = gemm.asked;
  const Chosen& known = chosen(key_of(gemm, nrows, a, c));
  const Operands operands{a,
                          asked.b,
                          c,
                          asked.bias,
                          asked.a_scale,
                          asked.b_scale,
                          static_cast<float>(asked.alpha),
                          static_cast<float>(asked.beta)};
  const lt::Status status = known.product.give(handle_, known.algorithm, operands, room_, stream);
  if (status != 0) lt::must(status, ("cublasLtMatmul refused the " + text_of(known.product.key())).c_str());
}

}  // namespace railshmem::overlap
