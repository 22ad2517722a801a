// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/heap.h"

#include <cstdint>
#include <cstring>
#include <map>

#include "python/src/errors.h"
#include "python/src/state.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

struct Block {
  size_t nbytes;
  std::string name;
};
using Blocks = std::map<uintptr_t, Block>;

Blocks g_live_blocks;
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

}  // namespace

nanobind::object allocate(size_t nbytes, bool zero, const std::string& name) {
  require_running("railshmem.numpy.empty");
  const size_t size = nbytes ? nbytes : 1;  // an array without elements has an address, too
  void* address = nullptr;
  {
    const nanobind::gil_scoped_release waits;
    address = shmemx_malloc_host(size);
    if (address && zero) {
      std::memset(address, 0, size);
      shmem_barrier_all();  // a peer may write as soon as it has returned
    }
  }
  if (!address) {
    PyErr_SetString(PyExc_MemoryError,
                    text("railshmem.numpy.empty: the symmetric heap has no ", size, " bytes left for ", name,
                         "; free arrays, or start with a larger SHMEM_SYMMETRIC_SIZE")
                        .c_str());
    throw nanobind::python_error();
  }
  const auto begin = reinterpret_cast<uintptr_t>(address);
  forget_freed(begin, size);
  g_live_blocks.emplace(begin, Block{size, name});
  return bytes_at(address, nbytes);
}

void free_array(nanobind::handle object) {
  constexpr auto kFunction = "railshmem.numpy.free";
  require_running(kFunction);
  uintptr_t address = 0;
  {
    const Array array(kFunction, "a", object, Access::read);
    address = address_of(array);
    const auto block = g_live_blocks.find(address);
    if (block == g_live_blocks.end()) {
      require_symmetric(kFunction, array);
      value_error(text(kFunction, ": a begins inside of ", find(g_live_blocks, address)->second.name,
                       "; pass the array that empty() or zeros() returned"));
    }
    g_freed_blocks.insert(*block);
    g_live_blocks.erase(block);
  }
  const nanobind::gil_scoped_release waits;
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
  value_error(text(function, ": ", array.argument(),
                   " is not symmetric; make it with railshmem.numpy.empty() or zeros() on every PE"));
}

nanobind::object peer_bytes(nanobind::handle object, int pe) {
  constexpr auto kFunction = "railshmem.numpy.peer";
  require_running(kFunction);
  require_pe(kFunction, pe);
  const Array array(kFunction, "a", object, Access::write);
  require_symmetric(kFunction, array);
  void* there = shmem_ptr(array.data(), pe);
  if (!there)
    state_error(text(kFunction, ": the memory of PE ", pe, " is not mapped into PE ", shmem_my_pe(),
                     ", as that of PEs of another node never is; use put() and get()"));
  return bytes_at(there, array.nbytes());
}

std::vector<std::string> forget_blocks() {
  std::vector<std::string> names;
  for (const auto& [address, block] : g_live_blocks) names.push_back(block.name);
  g_live_blocks.clear();
  g_freed_blocks.clear();
  return names;
}

}  // namespace railshmem::python
