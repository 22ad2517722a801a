// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/lt_products.h"

#include "src/base/error.h"

namespace railshmem::overlap {

LtProducts::~LtProducts() {
  products_.clear();
  if (handle_ != nullptr) lt::library().destroy(handle_);
}

const LtProducts::Chosen& LtProducts::chosen(const ProductKey& key, shmemx_stream_t stream) {
  const auto found = products_.find(key);
  if (found != products_.end()) return found->second;
  if (handle_ == nullptr) lt::must(lt::library().create(&handle_), "cublasLtCreate");
  LtProduct product(key);
  const lt::Algorithm algorithm =
      choice_ == Choice::search ? search(product, stream) : product.candidates(handle_, room_nbytes(), 1).front();
  return products_.emplace(key, Chosen{std::move(product), algorithm}).first->second;
}

lt::Algorithm LtProducts::search(const LtProduct& product, shmemx_stream_t stream) {
  constexpr size_t kMost = 8;  // the heuristic's order is good: what it has behind these is seldom the fastest
  const std::string name =
      text("%s, cuBLASLt %zu: %s", gpu_name().c_str(), lt::library().version(), text_of(product.key()).c_str());
  const std::optional<lt::Algorithm> kept = store_.find(name);
  if (kept && product.fits(handle_, *kept, room_nbytes())) return *kept;
  const std::vector<lt::Algorithm> candidates = product.candidates(handle_, room_nbytes(), kMost);
  if (candidates.size() == 1 || is_captured(stream)) return candidates.front();
  const std::optional<size_t> fastest = search_.fastest(handle_, product, candidates, room_nbytes());
  return fastest ? store_.keep(name, candidates[*fastest], kept) : candidates.front();
}

void LtProducts::prepare(const Gemm& gemm, size_t nrows, const void* a, const void* c, const void* addend,
                         shmemx_stream_t stream) {
  chosen(key_of(gemm, nrows, a, c, addend), stream);
}

void LtProducts::give(const Gemm& gemm, size_t nrows, const void* a, void* c, const void* addend,
                      shmemx_stream_t stream, size_t which) {
  const shmemx_gemm_t& asked = gemm.asked;
  const Chosen& known = chosen(key_of(gemm, nrows, a, c, addend), stream);
  const Operands operands{a,
                          asked.b,
                          addend != nullptr ? addend : c,
                          c,
                          asked.bias,
                          asked.a_scale,
                          asked.b_scale,
                          static_cast<float>(asked.alpha),
                          addend != nullptr ? 1 : static_cast<float>(asked.beta)};
  const lt::Status status = known.product.give(handle_, known.algorithm, operands, rooms_[which], stream);
  if (status != 0) lt::must(status, ("cublasLtMatmul refused the " + text_of(known.product.key())).c_str());
}

}  // namespace railshmem::overlap
