// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/lt_product.h"

#include <utility>

#include "src/base/error.h"

namespace railshmem::overlap {
namespace {

lt::DataType type_of(int type) noexcept {
  switch (type) {
    case SHMEMX_DATATYPE_HALF:
      return lt::DataType::half;
    case SHMEMX_DATATYPE_BFLOAT16:
      return lt::DataType::bfloat16;
    case SHMEMX_DATATYPE_FLOAT8_E4M3:
      return lt::DataType::float8_e4m3;
    case SHMEMX_DATATYPE_FLOAT8_E5M2:
      return lt::DataType::float8_e5m2;
    default:
      return lt::DataType::float32;
  }
}

lt::Epilogue epilogue_of(const ProductKey& key) noexcept {
  switch (key.activation) {
    case SHMEMX_ACTIVATION_RELU:
      return key.bias ? lt::Epilogue::relu_bias : lt::Epilogue::relu;
    case SHMEMX_ACTIVATION_GELU:
      return key.bias ? lt::Epilogue::gelu_bias : lt::Epilogue::gelu;
    default:
      return key.bias ? lt::Epilogue::bias : lt::Epilogue::none;
  }
}

struct ClosePreference {
  void operator()(lt::Preference preference) const { lt::library().preference_destroy(preference); }
};

}  // namespace

/// A matrix of rows x columns, or its transpose, as cuBLASLt sees it.
LtProduct::Layout LtProduct::stored(int type, size_t rows, size_t columns, size_t leading, int transposed) {
  if (transposed == 0) std::swap(rows, columns);
  lt::Layout made = nullptr;
  lt::must(lt::library().layout_create(&made, type_of(type), rows, columns, static_cast<int64_t>(leading)),
           "cublasLtMatrixLayoutCreate");
  return Layout(made);
}

LtProduct::LtProduct(const ProductKey& key)
    : key_(key),
      a_(stored(key.type, key.rows, key.k, key.lda, key.transposed_a)),
      b_(stored(key.b_type, key.k, key.n, key.ldb, key.transposed_b)),
      c_(stored(key.result_type, key.rows, key.n, key.ldc, 0)) {
  describe();
}

template <class T>
void LtProduct::set(lt::OperationField field, const T& value) const {
  lt::must(lt::library().operation_set(operation_.get(), field, &value, sizeof value),
           "cublasLtMatmulDescSetAttribute");
}

void LtProduct::describe() {
  lt::Operation made = nullptr;
  const lt::Compute compute = key_.compute == SHMEMX_COMPUTE_TF32 ? lt::Compute::tf32 : lt::Compute::float32;
  lt::must(lt::library().operation_create(&made, compute, lt::DataType::float32), "cublasLtMatmulDescCreate");
  operation_.reset(made);
  set(lt::OperationField::transposed_a, int32_t{key_.transposed_b});
  set(lt::OperationField::transposed_b, int32_t{key_.transposed_a});
  set(lt::OperationField::epilogue, epilogue_of(key_));
  // Which algorithms there are depends on whether there are scales. Nobody reads them before give().
  alignas(16) static const float any_scale = 1;
  set_scales(key_.a_scaled ? &any_scale : nullptr, key_.b_scaled ? &any_scale : nullptr);
}

void LtProduct::set_scales(const float* a_scale, const float* b_scale) const {
  if (!is_float8(key_.type)) return;
  set(lt::OperationField::scale_a, b_scale);
  set(lt::OperationField::scale_b, a_scale);
}

std::vector<lt::Algorithm> LtProduct::candidates(lt::Handle handle, size_t room_nbytes, size_t most) const {
  const lt::Calls& calls = lt::library();
  lt::Preference made = nullptr;
  lt::must(calls.preference_create(&made), "cublasLtMatmulPreferenceCreate");
  const std::unique_ptr<lt::LtPreference, ClosePreference> preference(made);
  const auto prefer = [&](lt::PreferenceField field, auto value) {
    lt::must(calls.preference_set(made, field, &value, sizeof value), "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(lt::PreferenceField::workspace, static_cast<uint64_t>(room_nbytes));
  prefer(lt::PreferenceField::alignment_a, uint32_t{key_.align_b});
  prefer(lt::PreferenceField::alignment_b, uint32_t{key_.align_a});
  prefer(lt::PreferenceField::alignment_c, uint32_t{key_.align_c});
  prefer(lt::PreferenceField::alignment_d, uint32_t{key_.align_c});
  std::vector<lt::Found> found(most);
  int count = 0;
  const lt::Status status = calls.find(handle, operation_.get(), b_.get(), a_.get(), c_.get(), c_.get(), made,
                                       static_cast<int>(most), found.data(), &count);
  std::vector<lt::Algorithm> algorithms;
  for (size_t i = 0; status == 0 && i < static_cast<size_t>(count); ++i)
    if (found[i].state == 0) algorithms.push_back(found[i].algorithm);
  if (algorithms.empty())
    throw Error(
        text("cuBLASLt has no %s, and %zu bytes of workspace: %s; rows that begin at multiples of 16 bytes fit "
             "best, and 8-bit floats need a GPU of compute capability 8.9 or more",
             text_of(key_).c_str(), room_nbytes, calls.status_name(status != 0 ? status : found[0].state)));
  return algorithms;
}

bool LtProduct::fits(lt::Handle handle, const lt::Algorithm& algorithm, size_t room_nbytes) const {
  lt::Found found{};
  return lt::library().check(handle, operation_.get(), b_.get(), a_.get(), c_.get(), c_.get(), &algorithm, &found) ==
             0 &&
         found.state == 0 && found.workspace <= room_nbytes;
}

lt::Status LtProduct::give(lt::Handle handle, const lt::Algorithm& algorithm, const Operands& operands,
                           const Room& room, shmemx_stream_t stream) const {
  if (key_.bias) set(lt::OperationField::bias, operands.bias);
  set_scales(operands.a_scale, operands.b_scale);
  return lt::library().multiply(handle, operation_.get(), &operands.alpha, operands.b, b_.get(), operands.a, a_.get(),
                                &operands.beta, operands.added, c_.get(), operands.c, c_.get(), &algorithm, room.at,
                                room.nbytes, stream);
}

}  // namespace railshmem::overlap
