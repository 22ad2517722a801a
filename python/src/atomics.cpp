// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/atomics.h"

#include "python/src/array.h"
#include "python/src/state.h"
#include "python/src/waiting.h"
#include "python/src/words.h"
#include "shmem.h"

namespace railshmem::python {
namespace {

enum class Atomic { fetch, set, add, fetch_add, swap, compare_swap };

/// One set of overloads for each element type.
#define RAILSHMEM_PYTHON_ATOMICS(NAME, TYPE)                                   \
  TYPE run(Atomic atomic, TYPE* word, TYPE condition, TYPE value, int pe) {    \
    switch (atomic) {                                                          \
      case Atomic::fetch:                                                      \
        return shmem_##NAME##_atomic_fetch(word, pe);                          \
      case Atomic::set:                                                        \
        shmem_##NAME##_atomic_set(word, value, pe);                            \
        break;                                                                 \
      case Atomic::add:                                                        \
        shmem_##NAME##_atomic_add(word, value, pe);                            \
        break;                                                                 \
      case Atomic::fetch_add:                                                  \
        return shmem_##NAME##_atomic_fetch_add(word, value, pe);               \
      case Atomic::swap:                                                       \
        return shmem_##NAME##_atomic_swap(word, value, pe);                    \
      case Atomic::compare_swap:                                               \
        return shmem_##NAME##_atomic_compare_swap(word, condition, value, pe); \
    }                                                                          \
    return 0;                                                                  \
  }
RAILSHMEM_PYTHON_ATOMICS(int32, int32_t)
RAILSHMEM_PYTHON_ATOMICS(int64, int64_t)
RAILSHMEM_PYTHON_ATOMICS(uint32, uint32_t)
RAILSHMEM_PYTHON_ATOMICS(uint64, uint64_t)
#undef RAILSHMEM_PYTHON_ATOMICS

/// condition and value may be None where the operation has none.
nanobind::object call(Atomic atomic, const char* function, nanobind::handle object, nanobind::handle condition,
                      nanobind::handle value, int pe) {
  require_running(function);
  require_pe(function, pe);
  const Array word(function, "a", object, atomic == Atomic::fetch ? Access::read : Access::write);
  require_word(function, word);
  const uint64_t expected = condition.is_none() ? 0 : bits_for(function, "condition", word, condition);
  const uint64_t operand = value.is_none() ? 0 : bits_for(function, "value", word, value);
  uint64_t result = 0;
  {
    const Waiting waits(function);
    result = with_type_of(word, [&]<class T>(T*) {
      return static_cast<uint64_t>(
          run(atomic, static_cast<T*>(word.data()), static_cast<T>(expected), static_cast<T>(operand), pe));
    });
  }
  return atomic == Atomic::set || atomic == Atomic::add ? nanobind::none() : number_of(word, result);
}

template <Atomic atomic>
void bind_with_value(nanobind::module_& module, const char* name, const char* function) {
  namespace nb = nanobind;
  module.def(
      name,
      [function](nb::handle a, nb::handle value, int pe) {
        if (value.is_none()) throw nb::type_error("value must be an integer");
        return call(atomic, function, a, nb::none(), value, pe);
      },
      nb::arg("a").none(), nb::arg("value").none(), nb::arg("pe"));
}

}  // namespace

void bind_atomics(nanobind::module_& module) {
  namespace nb = nanobind;
  module.def(
      "atomic_fetch",
      [](nb::handle a, int pe) {
        return call(Atomic::fetch, "railshmem.numpy.atomic_fetch", a, nb::none(), nb::none(), pe);
      },
      nb::arg("a").none(), nb::arg("pe"));
  bind_with_value<Atomic::set>(module, "atomic_set", "railshmem.numpy.atomic_set");
  bind_with_value<Atomic::add>(module, "atomic_add", "railshmem.numpy.atomic_add");
  bind_with_value<Atomic::fetch_add>(module, "atomic_fetch_add", "railshmem.numpy.atomic_fetch_add");
  bind_with_value<Atomic::swap>(module, "atomic_swap", "railshmem.numpy.atomic_swap");
  module.def(
      "atomic_compare_swap",
      [](nb::handle a, nb::handle condition, nb::handle value, int pe) {
        if (condition.is_none() || value.is_none()) throw nb::type_error("condition and value must be integers");
        return call(Atomic::compare_swap, "railshmem.numpy.atomic_compare_swap", a, condition, value, pe);
      },
      nb::arg("a").none(), nb::arg("condition").none(), nb::arg("value").none(), nb::arg("pe"));
}

}  // namespace railshmem::python
