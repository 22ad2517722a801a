// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/waits.h"

#include <nanobind/stl/optional.h>

#include "python/src/array.h"
#include "python/src/state.h"
#include "python/src/tensor.h"
#include "python/src/waiting.h"
#include "python/src/words.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

void wait_for(int32_t* word, int cmp, uint64_t bits) {
  shmem_int32_wait_until(word, cmp, static_cast<int32_t>(bits));
}
void wait_for(int64_t* word, int cmp, uint64_t bits) {
  shmem_int64_wait_until(word, cmp, static_cast<int64_t>(bits));
}
void wait_for(uint32_t* word, int cmp, uint64_t bits) {
  shmem_uint32_wait_until(word, cmp, static_cast<uint32_t>(bits));
}
void wait_for(uint64_t* word, int cmp, uint64_t bits) {
  shmem_uint64_wait_until(word, cmp, bits);
}

void wait_until(const char* function, nanobind::handle object, const char* cmp, nanobind::handle value) {
  require_running(function);
  const Array word(function, "a", object, Access::write);
  require_word(function, word);
  require_on_host(function, word);
  const int comparison = comparison_of(function, cmp);
  const uint64_t bits = bits_for(function, "value", word, value);
  const Waiting waits(function);
  with_type_of(word, [&]<class T>(T*) { wait_for(static_cast<T*>(word.data()), comparison, bits); });
}

/// The value then; nothing where a stream waits.
std::optional<uint64_t> wait_signal(const char* function, nanobind::handle object, const char* cmp,
                                    nanobind::handle value, nanobind::handle stream) {
  require_running(function);
  const Array signal(function, "signal", object, Access::write);
  require_signal(function, signal);
  const int comparison = comparison_of(function, cmp);
  const uint64_t bits = signal_bits_for(function, "value", value);
  auto* const address = static_cast<uint64_t*>(signal.data());
  const auto on = stream_for(function, signal, stream);
  const Waiting waits(function);
  if (!on) return shmem_signal_wait_until(address, comparison, bits);
  shmemx_signal_wait_until_on_stream(address, comparison, bits, *on);
  return std::nullopt;
}

}  // namespace

void bind_waits(nanobind::module_& module) {
  namespace nb = nanobind;
  module.def("wait_until", wait_until, nb::arg("function"), nb::arg("a").none(), nb::arg("cmp"),
             nb::arg("value").none());
  module.def("wait_signal", wait_signal, nb::arg("function"), nb::arg("signal").none(), nb::arg("cmp"),
             nb::arg("value").none(), nb::arg("stream").none() = nb::none());
}

}  // namespace railshmem::python
