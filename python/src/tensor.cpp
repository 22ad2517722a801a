// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/tensor.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <string>
#include <unordered_map>
#include <utility>

#include "python/src/errors.h"
#include "python/src/exchange.h"

namespace railshmem::python {
namespace {

namespace nb = nanobind;

struct ElementType {
  Kind kind;
  size_t itemsize;
};

/// What railshmem.torch has told of torch. Never destroyed: Python may end first.
struct Torch {
  nb::object tensor_type;
  nb::object parameter_type;                            ///< torch.nn.Parameter
  nb::object raw_stream;                                ///< number of a GPU -> number of its current stream
  std::unordered_map<PyObject*, ElementType> elements;  ///< by torch's dtype objects, of which there is one each
  nb::object kept;                                      ///< keeps the dtype objects
  const Exchange* exchange;                             ///< null where this torch has none
  nb::str is_cpu, is_cuda, device, index, dtype, is_contiguous, numel, data_ptr, is_conj;
};
Torch* g_torch = nullptr;

Kind kind_named(const std::string& name) {
  constexpr std::pair<const char*, Kind> kKinds[] = {{"int", Kind::signed_integer},
                                                     {"uint", Kind::unsigned_integer},
                                                     {"bool", Kind::boolean},
                                                     {"float", Kind::real},
                                                     {"bfloat16", Kind::bfloat16},
                                                     {"float8_e4m3", Kind::float8_e4m3},
                                                     {"float8_e5m2", Kind::float8_e5m2},
                                                     {"complex", Kind::complex},
                                                     {"other", Kind::unknown}};
  for (const auto& [known, kind] : kKinds)
    if (name == known) return kind;
  value_error(text("know_torch: '", name, "' is no kind of elements"));
}

void know_torch(nb::object tensor_type, nb::dict elements, nb::object raw_stream, nb::object exchange,
                nb::object parameter_type) {
  auto* known = new Torch{tensor_type,       parameter_type,        raw_stream,        {},
                          elements,          exchange_of(exchange), nb::str("is_cpu"), nb::str("is_cuda"),
                          nb::str("device"), nb::str("index"),      nb::str("dtype"),  nb::str("is_contiguous"),
                          nb::str("numel"),  nb::str("data_ptr"),   nb::str("is_conj")};
  for (const auto& [dtype, what] : elements) {
    const auto [kind, itemsize] = nb::cast<std::pair<std::string, size_t>>(what);
    known->elements[dtype.ptr()] = {kind_named(kind), itemsize};
  }
  delete g_torch;
  g_torch = known;
}

bool is_true(nb::handle object) noexcept {
  return object.is(nb::handle(Py_True));
}

int device_of(const char* function, const char* argument, nb::handle tensor) {
  if (is_true(nb::object(tensor.attr(g_torch->is_cpu)))) return kOnHost;
  const nb::object device = tensor.attr(g_torch->device);
  if (!is_true(nb::object(tensor.attr(g_torch->is_cuda))))
    type_error(text(function, ": ", argument, " is on the device ", nb::str(device).c_str(),
                    "; pass a tensor of a CPU or of a CUDA device"));
  return nb::cast<int>(device.attr(g_torch->index));
}

/// A class derived from torch.Tensor may define attributes of its own, so its tensors are read by attributes.
bool is_plain(nb::handle tensor) noexcept {
  const nb::handle type = tensor.type();
  return type.is(g_torch->tensor_type) || type.is(g_torch->parameter_type);
}

/// What see_tensor() finds, by attributes, which every torch has.
SeenTensor see_attributes(const char* function, const char* argument, nb::handle object) {
  const nb::object dtype = object.attr(g_torch->dtype);
  const auto element = g_torch->elements.find(dtype.ptr());
  if (element == g_torch->elements.end())
    type_error(text(function, ": ", argument, " has elements of ", nb::str(dtype).c_str(),
                    ", which this package does not move; pass tensor.view(torch.uint8)"));
  TensorMemory memory{nullptr, 0, element->second.itemsize, element->second.kind, 0};
  memory.device = device_of(function, argument, object);
  const bool contiguous = is_true(object.attr(g_torch->is_contiguous)());
  memory.nelems = nb::cast<size_t>(object.attr(g_torch->numel)());
  if (contiguous) memory.data = reinterpret_cast<void*>(nb::cast<uintptr_t>(object.attr(g_torch->data_ptr)()));
  return {memory, contiguous};
}

SeenTensor see(const char* function, const char* argument, nb::handle object) {
  if (g_torch->exchange && is_plain(object))
    if (const auto seen = see_tensor(*g_torch->exchange, object)) return *seen;
  return see_attributes(function, argument, object);
}

}  // namespace

bool is_tensor(nb::handle object) noexcept {
  if (!g_torch) return false;
  auto* const type = reinterpret_cast<PyTypeObject*>(g_torch->tensor_type.ptr());
  return Py_TYPE(object.ptr()) == type || PyType_IsSubtype(Py_TYPE(object.ptr()), type);
}

bool is_on_gpu(nb::handle object) {
  if (!object.is_valid() || !is_tensor(object)) return false;
  if (g_torch->exchange && is_plain(object))
    if (const auto seen = see_tensor(*g_torch->exchange, object)) return seen->memory.device != kOnHost;
  return is_true(nb::object(object.attr(g_torch->is_cuda)));
}

std::optional<TensorMemory> read_tensor(const char* function, const char* argument, nb::handle object) {
  if (!is_tensor(object)) return std::nullopt;
  auto [memory, contiguous] = see(function, argument, object);
  if (!contiguous)
    value_error(
        text(function, ": ", argument, " is not contiguous; pass a contiguous part, or a copy by contiguous()"));
  if (memory.kind == Kind::complex && is_true(object.attr(g_torch->is_conj)()))
    value_error(text(function, ": ", argument, " is a conjugate view; pass a copy by resolve_conj()"));
  if (!memory.data && !memory.nelems)  // torch hides the address of a tensor without elements
    memory.data = reinterpret_cast<void*>(nb::cast<uintptr_t>(object.attr("untyped_storage")().attr("data_ptr")()) +
                                          nb::cast<size_t>(object.attr("storage_offset")()) * memory.itemsize);
  if (!memory.data && memory.nelems)
    type_error(text(function, ": ", argument, " has no memory of its own, as a fake or a distributed tensor; pass the ",
                    "tensor that has it (DTensor: to_local())"));
  return memory;
}

std::optional<shmemx_stream_t> stream_for(const char* function, const Array& array, nb::handle stream) {
  if (array.on_host()) {
    if (!stream.is_none())
      type_error(text(function, ": ", array.argument(),
                      " is in the memory of the CPU, where no stream orders anything; leave out stream"));
    return std::nullopt;
  }
  return stream_of(array.device(), stream);
}

shmemx_stream_t stream_of(int device, nb::handle stream) {
  if (stream.is_none() && g_torch->exchange)
    if (const auto current = current_stream(*g_torch->exchange, device)) return *current;
  const nb::object number = stream.is_none() ? g_torch->raw_stream(device) : nb::borrow(stream);
  return reinterpret_cast<shmemx_stream_t>(nb::cast<uintptr_t>(number));
}

void bind_tensors(nb::module_& module) {
  module.def("know_torch", know_torch, nb::arg("tensor_type"), nb::arg("element_types"), nb::arg("raw_stream"),
             nb::arg("exchange").none() = nb::none(), nb::arg("parameter_type").none() = nb::none());
}

}  // namespace railshmem::python
