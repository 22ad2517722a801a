// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/transfers.h"

#include <optional>

#include "python/src/array.h"
#include "python/src/device.h"
#include "python/src/errors.h"
#include "python/src/heap.h"
#include "python/src/state.h"
#include "python/src/team.h"
#include "python/src/tensor.h"
#include "python/src/waiting.h"
#include "python/src/words.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

/// What put and get ask of their two arrays; `remote` is the one whose copy on PE pe is meant.
void require_transfer(const char* function, const Array& dest, const Array& source, const Array& remote, int pe) {
  require_pe(function, pe);
  require_one_type(function, dest, source);
  require_one_device(function, dest, source);
  if (dest.elements() != source.elements())
    value_error(text(function, ": dest has ", dest.elements(), " elements, and source has ", source.elements(),
                     "; pass parts of one size"));
  require_symmetric(function, remote);
}

void put(const char* function, nanobind::handle to, nanobind::handle from, int pe, nanobind::handle stream) {
  require_running(function);
  const Array dest(function, "dest", to, Access::write), source(function, "source", from, Access::read);
  require_transfer(function, dest, source, dest, pe);
  const auto on = stream_for(function, dest, stream);
  const Waiting waits(function);
  if (on) return shmemx_putmem_on_stream(dest.data(), source.data(), source.nbytes(), pe, *on);
  shmem_putmem(dest.data(), source.data(), source.nbytes(), pe);
}

void get(const char* function, nanobind::handle to, nanobind::handle from, int pe, nanobind::handle stream) {
  require_running(function);
  const Array dest(function, "dest", to, Access::write), source(function, "source", from, Access::read);
  require_transfer(function, dest, source, source, pe);
  const auto on = stream_for(function, dest, stream);
  const Waiting waits(function);
  if (on) return shmemx_getmem_on_stream(dest.data(), source.data(), source.nbytes(), pe, *on);
  shmem_getmem(dest.data(), source.data(), source.nbytes(), pe);
}

void put_signal(const char* function, nanobind::handle to, nanobind::handle from, nanobind::handle word,
                nanobind::handle value, int pe, const char* op, nanobind::handle stream) {
  require_running(function);
  const Array dest(function, "dest", to, Access::write), source(function, "source", from, Access::read);
  const Array signal(function, "signal", word, Access::write);
  require_transfer(function, dest, source, dest, pe);
  require_signal(function, signal);
  require_one_device(function, dest, signal);
  require_disjoint(function, dest, signal);
  const uint64_t bits = signal_bits_for(function, "value", value);
  const int operation = signal_op_of(function, op);
  auto* const address = static_cast<uint64_t*>(signal.data());
  const auto on = stream_for(function, dest, stream);
  const Waiting waits(function);
  if (on)
    return shmemx_putmem_signal_on_stream(dest.data(), source.data(), source.nbytes(), address, bits, operation, pe,
                                          *on);
  shmem_putmem_signal(dest.data(), source.data(), source.nbytes(), address, bits, operation, pe);
}

void signal_op(const char* function, nanobind::handle word, nanobind::handle value, int pe, const char* op,
               nanobind::handle stream) {
  require_running(function);
  require_pe(function, pe);
  const Array signal(function, "signal", word, Access::write);
  require_signal(function, signal);
  const uint64_t bits = signal_bits_for(function, "value", value);
  const int operation = signal_op_of(function, op);
  auto* const address = static_cast<uint64_t*>(signal.data());
  const auto on = stream_for(function, signal, stream);
  const Waiting waits(function);
  if (on) return shmemx_signal_op_on_stream(address, bits, operation, pe, *on);
  if (operation == SHMEM_SIGNAL_SET)
    shmem_signal_set(address, bits, pe);
  else
    shmem_signal_add(address, bits, pe);
}

/// Of elements that begin `offset` elements behind source on PE pe; they may end where this PE's source has ended, but
/// not behind the block in which it is.
void get_at(const char* function, nanobind::handle to, nanobind::handle from, size_t offset, int pe) {
  require_running(function);
  require_pe(function, pe);
  const Array dest(function, "output", to, Access::write), source(function, "input", from, Access::read);
  const auto [begin, end] = block_of(function, source);
  const uintptr_t address = reinterpret_cast<uintptr_t>(source.data()) + offset * source.itemsize();
  if (address < begin || address + dest.nbytes() > end)
    value_error(text(function, ": PE ", pe, " sends ", dest.elements(), " elements from element ", offset,
                     " of its input on, which is behind the block that input is in here; pass corresponding tensors"));
  const Waiting waits(function);
  shmem_getmem(dest.data(), reinterpret_cast<const void*>(address), dest.nbytes(), pe);
}

/// The stream of this number; for None torch's current one of the heap's GPU. Nothing where it is not known which GPU
/// that is.
std::optional<shmemx_stream_t> stream_of_heap(const char* function, nanobind::handle stream) {
  const int gpu = require_device_heap(function);
  if (stream.is_none() && gpu < 0) return std::nullopt;
  return stream_of(gpu, stream);
}

/// False, and nothing has happened, where `stream` is None and the heap's GPU is not known.
bool quiet_on_stream(const char* function, nanobind::handle stream) {
  const auto on = stream_of_heap(function, stream);
  if (!on) return false;
  const Waiting waits(function);
  shmemx_quiet_on_stream(*on);
  return true;
}

/// False as from quiet_on_stream().
bool barrier_on_stream(const char* function, const Team* team, nanobind::handle stream) {
  const auto on = stream_of_heap(function, stream);
  if (!on) return false;
  const shmem_team_t handle = team ? team->use(function) : SHMEM_TEAM_WORLD;
  const Waiting waits(function);
  shmemx_barrier_on_stream(handle, *on);
  return true;
}

}  // namespace

void bind_transfers(nanobind::module_& module) {
  namespace nb = nanobind;
  module.def("put", put, nb::arg("function"), nb::arg("dest").none(), nb::arg("source").none(), nb::arg("pe"),
             nb::arg("stream").none() = nb::none());
  module.def("get", get, nb::arg("function"), nb::arg("dest").none(), nb::arg("source").none(), nb::arg("pe"),
             nb::arg("stream").none() = nb::none());
  module.def("get_at", get_at, nb::arg("function"), nb::arg("dest"), nb::arg("source"), nb::arg("offset"),
             nb::arg("pe"));
  module.def("quiet_on_stream", quiet_on_stream, nb::arg("function"), nb::arg("stream").none());
  module.def("barrier_on_stream", barrier_on_stream, nb::arg("function"), nb::arg("team").none(),
             nb::arg("stream").none());
  module.def("put_signal", put_signal, nb::arg("function"), nb::arg("dest").none(), nb::arg("source").none(),
             nb::arg("signal").none(), nb::arg("value").none(), nb::arg("pe"), nb::arg("op"),
             nb::arg("stream").none() = nb::none());
  module.def("signal_op", signal_op, nb::arg("function"), nb::arg("signal").none(), nb::arg("value").none(),
             nb::arg("pe"), nb::arg("op"), nb::arg("stream").none() = nb::none());
}

}  // namespace railshmem::python
