// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/heap.h"

#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstring>
#include <map>

#include "python/src/errors.h"
#include "python/src/state.h"
#include "python/src/waiting.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

struct Block {
  size_t nbytes;
  std::string name;
  size_t number;      ///< how many blocks were made before
  bool kept = false;  ///< see keep_block()
};
using Blocks = std::map<uintptr_t, Block>;

Blocks g_live_blocks;
size_t g_blocks_made = 0;
Blocks g_freed_blocks;  ///< those whose memory no later block has; only for messages

/// The block that has this address; end() where none has.
Blocks::const_iterator find(const Blocks& blocks, uintptr_t address) {
  auto block = blocks.upper_bound(address);
  if (block == blocks.begin()) return blocks.end();
  --block;
  return address - block->first < block->second.nbytes ? block : blocks.end();
}

void forget_freed(uintptr_t begin, size_t nbytes) {
  auto block = g_freed_blocks.upper_bound(begin);
  if (block != g_freed_blocks.begin() && std::prev(block)->first + std::prev(block)->second.nbytes > begin) --block;
  while (block != g_freed_blocks.end() && block->first < begin + nbytes) block = g_freed_blocks.erase(block);
}

uintptr_t address_of(const Array& array) {
  return reinterpret_cast<uintptr_t>(array.data());
}

nanobind::object bytes_at(void* address, size_t nbytes) {
  return nanobind::steal(
      PyMemoryView_FromMemory(static_cast<char*>(address), static_cast<Py_ssize_t>(nbytes), PyBUF_WRITE));
}

void remember(void* address, size_t nbytes, const std::string& name) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  forget_freed(begin, nbytes);
  g_live_blocks.emplace(begin, Block{nbytes, name, g_blocks_made++});
}

[[noreturn]] void full(const char* function, size_t nbytes, const std::string& name, const char* variable) {
  PyErr_SetString(PyExc_MemoryError, text(function, ": the symmetric heap has no ", nbytes, " bytes left for ", name,
                                          "; free arrays, or start with a larger ", variable)
                                         .c_str());
  throw nanobind::python_error();
}

}  // namespace

uintptr_t allocate_on_host(const char* function, size_t nbytes, bool zero, const std::string& name) {
  require_running(function);
  const size_t size = nbytes ? nbytes : 1;  // an array without elements has an address, too
  void* address = nullptr;
  {
    const Waiting waits(function);
    address = shmemx_malloc_host(size);
    if (address && zero) {
      std::memset(address, 0, size);
      shmem_barrier_all();  // a peer may write as soon as it has returned
    }
  }
  if (!address) full(function, size, name, "SHMEM_SYMMETRIC_SIZE");
  remember(address, size, name);
  return reinterpret_cast<uintptr_t>(address);
}

nanobind::object allocate(const char* function, size_t nbytes, bool zero, const std::string& name) {
  void* const address = reinterpret_cast<void*>(allocate_on_host(function, nbytes, zero, name));
  return bytes_at(address, nbytes ? nbytes : 1);
}

uintptr_t allocate_on_device(const char* function, size_t nbytes, const std::string& name, size_t align) {
  require_running(function);
  const size_t size = nbytes ? nbytes : 1;
  void* address = nullptr;
  {
    const Waiting waits(function);
    address = shmem_align(align, size);
  }
  if (!address) full(function, size, name, "SHMEM_DEVICE_HEAP_MAX");
  remember(address, size, name);
  return reinterpret_cast<uintptr_t>(address);
}

void keep_block(uintptr_t begin) {
  g_live_blocks.at(begin).kept = true;
}

bool is_symmetric(const Array& array) {
  const auto block = find(g_live_blocks, address_of(array));
  return block != g_live_blocks.end() && address_of(array) + array.nbytes() <= block->first + block->second.nbytes;
}

void free_array(const char* function, nanobind::handle object) {
  require_running(function);
  uintptr_t address = 0;
  {
    const Array array(function, "a", object, Access::read);
    address = address_of(array);
    const auto block = g_live_blocks.find(address);
    if (block == g_live_blocks.end()) {
      require_symmetric(function, array);
      value_error(text(function, ": a begins inside of ", find(g_live_blocks, address)->second.name,
                       "; pass what empty() or zeros() returned"));
    }
    if (block->second.kept)
      value_error(text(function, ": a is in ", block->second.name, ", whose memory torch takes back by itself"));
    g_freed_blocks.insert(*block);
    g_live_blocks.erase(block);
  }
  const Waiting waits(function);
  shmem_free(reinterpret_cast<void*>(address));
}

void require_symmetric(const char* function, const Array& array) {
  const uintptr_t address = address_of(array);
  if (const auto block = find(g_live_blocks, address); block != g_live_blocks.end()) {
    if (address + array.nbytes() <= block->first + block->second.nbytes) return;
    value_error(text(function, ": ", array.argument(), " ends behind ", block->second.name));
  }
  if (const auto block = find(g_freed_blocks, address); block != g_freed_blocks.end())
    value_error(text(function, ": ", array.argument(), " is in ", block->second.name, ", which was freed"));
  value_error(text(function, ": ", array.argument(), " is not symmetric; make it with ", package_of(function),
                   ".empty() or zeros() on every PE", array.on_host() ? "" : ", or in a mem_pool()"));
}

std::pair<uintptr_t, size_t> peer_address(const char* function, nanobind::handle object, int pe) {
  require_running(function);
  require_pe(function, pe);
  const Array array(function, "a", object, Access::write);
  require_symmetric(function, array);
  void* there = shmem_ptr(array.data(), pe);
  if (!there)
    state_error(text(function, ": the memory of PE ", pe, " is not mapped into PE ", shmem_my_pe(),
                     ", as that of PEs of another node never is; use put() and get()"));
  return {reinterpret_cast<uintptr_t>(there), array.nbytes()};
}

nanobind::object peer_bytes(const char* function, nanobind::handle object, int pe) {
  require_on_host(function, Array(function, "a", object, Access::write));
  const auto [address, nbytes] = peer_address(function, object, pe);
  return bytes_at(reinterpret_cast<void*>(address), nbytes ? nbytes : 1);
}

std::pair<uintptr_t, uintptr_t> block_of(const char* function, const Array& array) {
  require_symmetric(function, array);
  const auto block = find(g_live_blocks, address_of(array));
  return {block->first, block->first + block->second.nbytes};
}

nanobind::object bytes_on(uintptr_t address, size_t nbytes, int device) {
  namespace nb = nanobind;
  const nb::ndarray<uint8_t, nb::ndim<1>> bytes(
      reinterpret_cast<void*>(address), {nbytes}, nb::handle(), {}, nb::dtype<uint8_t>(),
      device == kOnHost ? nb::device::cpu::value : nb::device::cuda::value, device == kOnHost ? 0 : device);
  return nb::cast(bytes, nb::rv_policy::reference);
}

std::pair<size_t, size_t> place_of(const char* function, nanobind::handle object) {
  require_running(function);
  const Array array(function, "a", object, Access::read);
  require_symmetric(function, array);
  const auto block = find(g_live_blocks, address_of(array));
  return {address_of(array) - block->first, block->second.number};
}

std::vector<std::string> forget_blocks() {
  std::vector<std::string> names;
  for (const auto& [address, block] : g_live_blocks)
    if (!block.kept) names.push_back(block.name);
  g_live_blocks.clear();
  g_freed_blocks.clear();
  return names;
}

}  // namespace railshmem::python
