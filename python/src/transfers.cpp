// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/transfers.h"

#include "python/src/array.h"
#include "python/src/errors.h"
#include "python/src/heap.h"
#include "python/src/state.h"
#include "python/src/words.h"
#include "shmem.h"

namespace railshmem::python {
namespace {

/// What put and get ask of their two arrays; `remote` is the one whose copy on PE pe is meant.
void require_transfer(const char* function, const Array& dest, const Array& source, const Array& remote, int pe) {
  require_pe(function, pe);
  require_one_type(function, dest, source);
  if (dest.elements() != source.elements())
    value_error(text(function, ": dest has ", dest.elements(), " elements, and source has ", source.elements(),
                     "; pass parts of one size"));
  require_symmetric(function, remote);
}

void put(nanobind::handle to, nanobind::handle from, int pe) {
  constexpr auto kFunction = "railshmem.numpy.put";
  require_running(kFunction);
  const Array dest(kFunction, "dest", to, Access::write), source(kFunction, "source", from, Access::read);
  require_transfer(kFunction, dest, source, dest, pe);
  const nanobind::gil_scoped_release waits;
  shmem_putmem(dest.data(), source.data(), source.nbytes(), pe);
}

void get(nanobind::handle to, nanobind::handle from, int pe) {
  constexpr auto kFunction = "railshmem.numpy.get";
  require_running(kFunction);
  const Array dest(kFunction, "dest", to, Access::write), source(kFunction, "source", from, Access::read);
  require_transfer(kFunction, dest, source, source, pe);
  const nanobind::gil_scoped_release waits;
  shmem_getmem(dest.data(), source.data(), source.nbytes(), pe);
}

void put_signal(nanobind::handle to, nanobind::handle from, nanobind::handle word, nanobind::handle value, int pe,
                const char* op) {
  constexpr auto kFunction = "railshmem.numpy.put_signal";
  require_running(kFunction);
  const Array dest(kFunction, "dest", to, Access::write), source(kFunction, "source", from, Access::read);
  const Array signal(kFunction, "signal", word, Access::write);
  require_transfer(kFunction, dest, source, dest, pe);
  require_signal(kFunction, signal);
  require_disjoint(kFunction, dest, signal);
  const uint64_t bits = bits_for(kFunction, "value", signal, value);
  const int operation = signal_op_of(kFunction, op);
  const nanobind::gil_scoped_release waits;
  shmem_putmem_signal(dest.data(), source.data(), source.nbytes(), static_cast<uint64_t*>(signal.data()), bits,
                      operation, pe);
}

void signal_op(nanobind::handle word, nanobind::handle value, int pe, const char* op) {
  constexpr auto kFunction = "railshmem.numpy.signal_op";
  require_running(kFunction);
  require_pe(kFunction, pe);
  const Array signal(kFunction, "signal", word, Access::write);
  require_signal(kFunction, signal);
  const uint64_t bits = bits_for(kFunction, "value", signal, value);
  const int operation = signal_op_of(kFunction, op);
  auto* address = static_cast<uint64_t*>(signal.data());
  const nanobind::gil_scoped_release waits;
  if (operation == SHMEM_SIGNAL_SET)
    shmem_signal_set(address, bits, pe);
  else
    shmem_signal_add(address, bits, pe);
}

}  // namespace

void bind_transfers(nanobind::module_& module) {
  namespace nb = nanobind;
  module.def("put", put, nb::arg("dest").none(), nb::arg("source").none(), nb::arg("pe"));
  module.def("get", get, nb::arg("dest").none(), nb::arg("source").none(), nb::arg("pe"));
  module.def("put_signal", put_signal, nb::arg("dest").none(), nb::arg("source").none(), nb::arg("signal").none(),
             nb::arg("value").none(), nb::arg("pe"), nb::arg("op"));
  module.def("signal_op", signal_op, nb::arg("signal").none(), nb::arg("value").none(), nb::arg("pe"), nb::arg("op"));
}

}  // namespace railshmem::python
