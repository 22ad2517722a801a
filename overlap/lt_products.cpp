// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/lt_products.h"

#include <algorithm>
#include <bit>

#include "src/base/error.h"

namespace railshmem::overlap {
namespace {

constexpr unsigned kMostAlignment = 256;  // bytes; what cuBLASLt takes for granted otherwise

unsigned alignment_of(const void* address) noexcept {
  const auto bits = reinterpret_cast<uintptr_t>(address) | kMostAlignment;
  return 1u << std::countr_zero(bits);
}

lt::DataType type_of(int type) noexcept {
  return type == SHMEMX_DATATYPE_HALF       ? lt::DataType::half
         : type == SHMEMX_DATATYPE_BFLOAT16 ? lt::DataType::bfloat16
                                            : lt::DataType::float32;
}

lt::Epilogue epilogue_of(const shmemx_gemm_t& asked) noexcept {
  const bool bias = asked.bias != nullptr;
  switch (asked.activation) {
    case SHMEMX_ACTIVATION_RELU:
      return bias ? lt::Epilogue::relu_bias : lt::Epilogue::relu;
    case SHMEMX_ACTIVATION_GELU:
      return bias ? lt::Epilogue::gelu_bias : lt::Epilogue::gelu;
    default:
      return bias ? lt::Epilogue::bias : lt::Epilogue::none;
  }
}

/// For messages: all that cuBLASLt looks at.
std::string named(const Gemm& gemm, size_t nrows, const void* a, const void* c, const void* workspace, size_t nbytes) {
  const shmemx_gemm_t& asked = gemm.asked;
  return text(
      "product of %zu x %zu by %zu x %zu with leading dimensions %zu, %zu, %zu, types %d and %d, compute %d, "
      "transposed "
      "%d and %d, activation %d, alpha %g, beta %g; a %p, b %p, c %p and bias %p are multiples of %u, %u, %u and %u "
      "bytes; workspace %p is one of %u and has %zu",
      nrows, asked.k, asked.k, asked.n, gemm.lda, gemm.ldb, gemm.ldc, asked.type, asked.result_type, asked.compute,
      asked.transposed_a, asked.transposed_b, asked.activation, asked.alpha, asked.beta, a, asked.b, c, asked.bias,
      alignment_of(a), alignment_of(asked.b), alignment_of(c), alignment_of(asked.bias), workspace,
      alignment_of(workspace), nbytes);
}

/// Owners of cuBLASLt's descriptions.
struct CloseOperation {
  void operator()(lt::Operation operation) const { lt::library().operation_destroy(operation); }
};
struct CloseLayout {
  void operator()(lt::Layout layout) const { lt::library().layout_destroy(layout); }
};
struct ClosePreference {
  void operator()(lt::Preference preference) const { lt::library().preference_destroy(preference); }
};
using Layout = std::unique_ptr<lt::LtLayout, CloseLayout>;

Layout layout(lt::DataType type, size_t rows, size_t columns, size_t leading) {
  lt::Layout made = nullptr;
  lt::must(lt::library().layout_create(&made, type, rows, columns, static_cast<int64_t>(leading)),
           "cublasLtMatrixLayoutCreate");
  return Layout(made);
}

}  // namespace

/// cuBLASLt goes column by column, so it multiplies the transposes: c' = b' a'.
struct LtProducts::Product {
  Product(lt::Handle handle, const Gemm& gemm, size_t nrows, const void* workspace, size_t nbytes,
          const void* address_a, const void* address_c)
      : a(stored(type_of(gemm.asked.type), nrows, gemm.asked.k, gemm.lda, gemm.asked.transposed_a)),
        b(stored(type_of(gemm.asked.type), gemm.asked.k, gemm.asked.n, gemm.ldb, gemm.asked.transposed_b)),
        c(stored(type_of(gemm.asked.result_type), nrows, gemm.asked.n, gemm.ldc, 0)) {
    describe(gemm.asked);
    choose(handle, gemm, nrows, workspace, nbytes, address_a, address_c);
  }

  /// A matrix of rows x columns, or its transpose, as cuBLASLt sees it.
  static Layout stored(lt::DataType type, size_t rows, size_t columns, size_t leading, int transposed) {
    return transposed != 0 ? layout(type, rows, columns, leading) : layout(type, columns, rows, leading);
  }

  template <class T>
  void set(lt::OperationField field, const T& value) const {
    lt::must(lt::library().operation_set(operation.get(), field, &value, sizeof value),
             "cublasLtMatmulDescSetAttribute");
  }

  void describe(const shmemx_gemm_t& asked) {
    lt::Operation made = nullptr;
    const lt::Compute compute = asked.compute == SHMEMX_COMPUTE_TF32 ? lt::Compute::tf32 : lt::Compute::float32;
    lt::must(lt::library().operation_create(&made, compute, lt::DataType::float32), "cublasLtMatmulDescCreate");
    operation.reset(made);
    set(lt::OperationField::transposed_a, int32_t{asked.transposed_b});
    set(lt::OperationField::transposed_b, int32_t{asked.transposed_a});
    set(lt::OperationField::epilogue, epilogue_of(asked));
    if (asked.bias != nullptr) set(lt::OperationField::bias, asked.bias);
  }

  void choose(lt::Handle handle, const Gemm& gemm, size_t nrows, const void* workspace, size_t nbytes,
              const void* address_a, const void* address_c) {
    const lt::Calls& calls = lt::library();
    lt::Preference made = nullptr;
    lt::must(calls.preference_create(&made), "cublasLtMatmulPreferenceCreate");
    const std::unique_ptr<lt::LtPreference, ClosePreference> preference(made);
    const auto prefer = [&](lt::PreferenceField field, auto value) {
      lt::must(calls.preference_set(made, field, &value, sizeof value), "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(lt::PreferenceField::workspace, static_cast<uint64_t>(nbytes));
    prefer(lt::PreferenceField::alignment_a, uint32_t{alignment_of(gemm.asked.b)});
    prefer(lt::PreferenceField::alignment_b, uint32_t{alignment_of(address_a)});
    prefer(lt::PreferenceField::alignment_c, uint32_t{alignment_of(address_c)});
    prefer(lt::PreferenceField::alignment_d, uint32_t{alignment_of(address_c)});
    lt::Found found{};
    int count = 0;
    const lt::Status status =
        calls.find(handle, operation.get(), b.get(), a.get(), c.get(), c.get(), made, 1, &found, &count);
    if (status != 0 || count == 0 || found.state != 0)
      throw Error(text("cuBLASLt has no %s: %s; rows that begin at multiples of 16 bytes fit best",
                       named(gemm, nrows, address_a, address_c, workspace, nbytes).c_str(),
                       calls.status_name(status != 0 ? status : found.state)));
    algorithm = found.algorithm;
  }

  std::unique_ptr<lt::LtOperation, CloseOperation> operation;
  Layout a, b, c;
  lt::Algorithm algorithm{};
};

LtProducts::LtProducts(void* workspace, size_t nbytes) : workspace_(workspace), nbytes_(nbytes) {}
LtProducts::~LtProducts() {
  products_.clear();
  if (handle_ != nullptr) lt::library().destroy(handle_);
}

LtProducts::Product& LtProducts::product_of(const Gemm& gemm, size_t nrows, const void* a, const void* c) {
  const shmemx_gemm_t& asked = gemm.asked;
  const uint64_t alignments = uint64_t{alignment_of(a)} | uint64_t{alignment_of(asked.b)} << 16 |
                              uint64_t{alignment_of(c)} << 32 | uint64_t{alignment_of(asked.bias)} << 48;
  const Key key{nrows,
                asked.n,
                asked.k,
                gemm.lda,
                gemm.ldb,
                gemm.ldc,
                asked.type,
                asked.result_type,
                asked.compute,
                asked.transposed_a,
                asked.transposed_b,
                asked.activation,
                asked.bias != nullptr,
                asked.beta != 0,
                alignments};
  std::unique_ptr<Product>& product = products_[key];
  if (product == nullptr) {
    if (handle_ == nullptr) lt::must(lt::library().create(&handle_), "cublasLtCreate");
    product = std::make_unique<Product>(handle_, gemm, nrows, workspace_, nbytes_, a, c);
  }
  return *product;
}

void LtProducts::prepare(const Gemm& gemm, size_t nrows, const void* a, const void* c) {
  product_of(gemm, nrows, a, c);
}

void LtProducts::give(const Gemm& gemm, size_t nrows, const void* a, void* c, shmemx_stream_t stream) {
  const Product& product = product_of(gemm, nrows, a, c);
  if (gemm.asked.bias != nullptr) product.set(lt::OperationField::bias, gemm.asked.bias);
  const auto alpha = static_cast<float>(gemm.asked.alpha), beta = static_cast<float>(gemm.asked.beta);
  const lt::Status status = lt::library().multiply(handle_, product.operation.get(), &alpha, gemm.asked.b,
                                                   product.b.get(), a, product.a.get(), &beta, c, product.c.get(), c,
                                                   product.c.get(), &product.algorithm, workspace_, nbytes_, stream);
  if (status != 0)
    lt::must(status, ("cublasLtMatmul refused the " + named(gemm, nrows, a, c, workspace_, nbytes_)).c_str());
}

}  // namespace railshmem::overlap
