// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/exchange.h"

#include <nanobind/ndarray.h>

namespace railshmem::python {

namespace nb = nanobind;

/// Laid out as DLPack lays it out in versions 1.x, from 1.3 on.
struct Exchange {
  struct Version {
    uint32_t major, minor;
  } version;
  const Exchange* older;  ///< of another major version
  void* for_owners[3];    ///< make tensors that outlive a call
  int (*tensor)(void* object, nb::dlpack::dltensor* out);
  int (*stream)(int32_t device_type, int32_t device, void** out);
};

namespace {

constexpr uint32_t kMajor = 1;

/// DLPack's numbers of element types.
enum class Code : uint8_t {
  integer = 0,
  unsigned_integer = 1,
  real = 2,
  bfloat = 4,
  complex = 5,
  boolean = 6,
  float8_e4m3fn = 10,
  float8_e4m3fnuz = 11,
  float8_e5m2 = 12,
  float8_e5m2fnuz = 13,
  float8_e8m0fnu = 14
};

std::optional<Kind> kind_of(nb::dlpack::dtype type) noexcept {
  if (type.lanes != 1 || type.bits % 8 != 0) return std::nullopt;
  switch (static_cast<Code>(type.code)) {
    case Code::integer:
      return Kind::signed_integer;
    case Code::unsigned_integer:
      return Kind::unsigned_integer;
    case Code::real:
      return Kind::real;
    case Code::bfloat:
      return Kind::bfloat16;
    case Code::complex:
      return type.bits == 32 ? Kind::unknown : Kind::complex;  // of two halves
    case Code::boolean:
      return Kind::boolean;
    case Code::float8_e4m3fn:
      return Kind::float8_e4m3;
    case Code::float8_e5m2:
      return Kind::float8_e5m2;
    case Code::float8_e4m3fnuz:
    case Code::float8_e5m2fnuz:
    case Code::float8_e8m0fnu:
      return Kind::unknown;
  }
  return std::nullopt;
}

bool is_contiguous(const nb::dlpack::dltensor& tensor, size_t nelems) noexcept {
  int64_t behind = 1;
  for (int32_t i = tensor.ndim - 1; nelems > 0 && i >= 0; --i) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != behind) return false;
    behind *= tensor.shape[i];
  }
  return true;
}

}  // namespace

const Exchange* exchange_of(nb::handle capsule) noexcept {
  if (capsule.is_none()) return nullptr;
  const auto* table = static_cast<const Exchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (!table) PyErr_Clear();
  while (table && table->version.major != kMajor) table = table->older;
  return table && table->tensor && table->stream ? table : nullptr;
}

std::optional<SeenTensor> see_tensor(const Exchange& exchange, nb::handle object) noexcept {
  nb::dlpack::dltensor tensor;
  if (exchange.tensor(object.ptr(), &tensor) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  const bool on_host = tensor.device.device_type == nb::device::cpu::value;
  const std::optional<Kind> kind = kind_of(tensor.dtype);
  if (!kind || (!on_host && tensor.device.device_type != nb::device::cuda::value)) return std::nullopt;
  size_t nelems = 1;
  for (int32_t i = 0; i < tensor.ndim; ++i) nelems *= static_cast<size_t>(tensor.shape[i]);
  auto* const data = tensor.data ? static_cast<std::byte*>(tensor.data) + tensor.byte_offset : nullptr;
  return SeenTensor{{data, nelems, tensor.dtype.bits / size_t{8}, *kind, on_host ? kOnHost : tensor.device.device_id},
                    is_contiguous(tensor, nelems)};
}

std::optional<shmemx_stream_t> current_stream(const Exchange& exchange, int device) noexcept {
  void* stream = nullptr;
  if (exchange.stream(nb::device::cuda::value, device, &stream) == 0) return static_cast<shmemx_stream_t>(stream);
  PyErr_Clear();
  return std::nullopt;
}

}  // namespace railshmem::python
