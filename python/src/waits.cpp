// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/waits.h"

#include "python/src/array.h"
#include "python/src/state.h"
#include "python/src/words.h"
#include "shmem.h"

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

void wait_until(nanobind::handle object, const char* cmp, nanobind::handle value) {
  constexpr auto kFunction = "railshmem.numpy.wait_until";
  require_running(kFunction);
  const Array word(kFunction, "a", object, Access::write);
  require_word(kFunction, word);
  const int comparison = comparison_of(kFunction, cmp);
  const uint64_t bits = bits_for(kFunction, "value", word, value);
  const nanobind::gil_scoped_release waits;
  with_type_of(word, [&]<class T>(T*) { wait_for(static_cast<T*>(word.data()), comparison, bits); });
}

uint64_t wait_signal(nanobind::handle object, const char* cmp, nanobind::handle value) {
  constexpr auto kFunction = "railshmem.numpy.wait_signal";
  require_running(kFunction);
  const Array signal(kFunction, "signal", object, Access::write);
  require_signal(kFunction, signal);
  const int comparison = comparison_of(kFunction, cmp);
  const uint64_t bits = bits_for(kFunction, "value", signal, value);
  const nanobind::gil_scoped_release waits;
  return shmem_signal_wait_until(static_cast<uint64_t*>(signal.data()), comparison, bits);
}

}  // namespace

void bind_waits(nanobind::module_& module) {
  namespace nb = nanobind;
  module.def("wait_until", wait_until, nb::arg("a").none(), nb::arg("cmp"), nb::arg("value").none());
  module.def("wait_signal", wait_signal, nb::arg("signal").none(), nb::arg("cmp"), nb::arg("value").none());
}

}  // namespace railshmem::python
