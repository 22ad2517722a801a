// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/leases.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "python/src/array.h"

namespace railshmem::python {
namespace {

namespace nb = nanobind;

/// What a capsule named "dltensor" holds.
struct ManagedTensor {
  nb::dlpack::dltensor tensor;
  void* owner;
  void (*end)(ManagedTensor*);
};
constexpr const char* kFresh = "dltensor";  // whoever takes the tensor gives the capsule another name

void drop(PyObject* capsule) noexcept {
  if (!PyCapsule_IsValid(capsule, kFresh)) return;
  auto* const managed = static_cast<ManagedTensor*>(PyCapsule_GetPointer(capsule, kFresh));
  managed->end(managed);
}

}  // namespace

struct Leases::Lease {
  ManagedTensor managed;
  std::shared_ptr<Kept> kept;
  std::vector<int64_t> extents;  ///< the shape, then the strides

  static void end(ManagedTensor* managed) {
    auto* const lease = static_cast<Lease*>(managed->owner);
    lease->kept->arena.give_back(reinterpret_cast<uintptr_t>(managed->tensor.data));
    lease->kept->count.fetch_sub(1, std::memory_order_relaxed);
    delete lease;
  }
};

nb::object Leases::take(const std::vector<int64_t>& shape, uint8_t code, uint8_t bits) {
  auto lease = std::make_unique<Lease>();
  const size_t ndim = shape.size();
  lease->extents = shape;
  lease->extents.resize(2 * ndim);
  int64_t stride = 1;
  for (size_t i = ndim; i-- > 0; stride *= shape[i]) lease->extents[ndim + i] = stride;
  void* const memory = kept_->arena.take(static_cast<size_t>(stride) * bits / 8);
  if (!memory) return nb::none();
  lease->kept = kept_;
  nb::dlpack::dltensor& tensor = lease->managed.tensor;
  tensor = {};
  tensor.data = memory;
  tensor.device = {device_ == kOnHost ? nb::device::cpu::value : nb::device::cuda::value,
                   device_ == kOnHost ? 0 : device_};
  tensor.ndim = static_cast<int32_t>(ndim);
  tensor.dtype = {code, bits, 1};
  tensor.shape = lease->extents.data();
  tensor.strides = lease->extents.data() + ndim;
  lease->managed.owner = lease.get();
  lease->managed.end = Lease::end;
  kept_->count.fetch_add(1, std::memory_order_relaxed);
  ManagedTensor* const managed = &lease.release()->managed;
  PyObject* const capsule = PyCapsule_New(managed, kFresh, drop);
  if (!capsule) {
    managed->end(managed);
    nb::raise_python_error();
  }
  return nb::steal(capsule);
}

void bind_leases(nb::module_& module) {
  nb::class_<Leases>(module, "Leases")
      .def(nb::init<uintptr_t, size_t, int>(), nb::arg("begin"), nb::arg("nbytes"), nb::arg("device"))
      .def("take", &Leases::take, nb::arg("shape"), nb::arg("code"), nb::arg("bits"))
      .def_prop_ro("count", &Leases::count);
}

}  // namespace railshmem::python
