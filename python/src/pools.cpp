// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/pools.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "python/src/arena.h"
#include "python/src/array.h"
#include "python/src/errors.h"
#include "python/src/heap.h"
#include "python/src/state.h"
#include "python/src/waiting.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

/// Torch calls a function without telling for which pool, so each pool has one of its own.
constexpr size_t kPools = 16;

/// Never given up: torch may return memory at any time, even at the end of the process.
std::array<std::atomic<Arena*>, kPools> g_arenas{};
size_t g_pools_made = 0;  ///< the GIL protects it; numbers are not used again, since torch's pools may live on

void* take(size_t pool, size_t nbytes) noexcept {
  // acquire: pairs with make_pool, which made the arena.
  Arena* const arena = g_arenas[pool].load(std::memory_order_acquire);
  return arena ? arena->take(nbytes) : nullptr;
}

void give_back(void* memory) noexcept {
  for (const auto& arena : g_arenas) {
    Arena* const candidate = arena.load(std::memory_order_acquire);  // as in take()
    if (candidate && candidate->give_back(reinterpret_cast<uintptr_t>(memory))) return;
  }
}

/// Collective; for memory of the GPU behind take_gpu(). The number of the pool, and where it begins.
std::pair<size_t, uintptr_t> make_pool(const char* function, size_t nbytes, const std::string& name, bool on_host) {
  require_running(function);
  if (g_pools_made == kPools)
    state_error(
        text(function, ": this process has made ", kPools, " pools, which is all that it can; use one of them"));
  const uintptr_t begin = on_host ? allocate_on_host(function, nbytes, false, name)
                                  : allocate_on_device(function, nbytes, name, Arena::kAlign);
  keep_block(begin);
  const size_t pool = g_pools_made++;
  // release: pairs with take() and give_back().
  g_arenas[pool].store(new Arena(begin, nbytes), std::memory_order_release);
  return {pool, begin};
}

void register_memory(const char* function, nanobind::handle object) {
  require_running(function);
  const Array array(function, "t", object, Access::read);
  if (array.on_host()) type_error(text(function, ": t is in the memory of the CPU; only CUDA tensors are registered"));
  if (is_symmetric(array) || array.nbytes() == 0) return;  // as good as registered
  if (shmemx_coll_register(array.data(), array.nbytes()) != 0)
    state_error(text(function, ": the library refused the tensor's memory; its message on standard error says why"));
}

void unregister_memory(const char* function, nanobind::handle object) {
  require_running(function);
  const Array array(function, "t", object, Access::read);
  if (array.on_host() || is_symmetric(array) || array.nbytes() == 0) return;
  int status = 0;
  {
    const Waiting waits(function);
    status = shmemx_coll_deregister(array.data());
  }
  if (status != 0) state_error(text(function, ": the library did not undo it; its message on standard error says why"));
}

}  // namespace

void close_pools() noexcept {
  for (const auto& arena : g_arenas)
    if (Arena* const open = arena.load(std::memory_order_acquire)) open->close();  // as in take()
}

void bind_pools(nanobind::module_& module) {
  namespace nb = nanobind;
  module.def("make_pool", make_pool, nb::arg("function"), nb::arg("nbytes"), nb::arg("name"),
             nb::arg("on_host") = false);
  module.def("register_memory", register_memory, nb::arg("function"), nb::arg("t").none());
  module.def("unregister_memory", unregister_memory, nb::arg("function"), nb::arg("t").none());
}

}  // namespace railshmem::python

// What CUDAPluggableAllocator asks for: memory of a pool for a stream of a GPU, and back.
#define RAILSHMEM_POOL(N)                                                                                       \
  extern "C" __attribute__((visibility("default"))) void* railshmem_pool_take_##N(ssize_t nbytes, int, void*) { \
    return railshmem::python::take(N, static_cast<size_t>(nbytes));                                             \
  }
RAILSHMEM_POOL(0)
RAILSHMEM_POOL(1)
RAILSHMEM_POOL(2)
RAILSHMEM_POOL(3)
RAILSHMEM_POOL(4)
RAILSHMEM_POOL(5)
RAILSHMEM_POOL(6)
RAILSHMEM_POOL(7)
RAILSHMEM_POOL(8)
RAILSHMEM_POOL(9)
RAILSHMEM_POOL(10)
RAILSHMEM_POOL(11)
RAILSHMEM_POOL(12)
RAILSHMEM_POOL(13)
RAILSHMEM_POOL(14)
RAILSHMEM_POOL(15)
#undef RAILSHMEM_POOL

extern "C" __attribute__((visibility("default"))) void railshmem_pool_give_back(void* memory, ssize_t, int, void*) {
  railshmem::python::give_back(memory);
}
