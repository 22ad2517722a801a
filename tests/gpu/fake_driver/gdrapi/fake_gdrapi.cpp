// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake_driver/gdrapi/fake_gdrapi.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace railshmem::cuda {
namespace {

constexpr size_t kPage = 64 << 10;

struct Pinned {
  unsigned long address;
  size_t nbytes;
  std::byte* mapped = nullptr;
};
struct State {
  std::mutex mutex;
  FakeGdr how = FakeGdr::works;
  int sessions = 0;
  unsigned long last = 0;
  std::map<unsigned long, Pinned> pinned;
  std::vector<std::unique_ptr<std::byte[]>> others;
};
State& state() {
  static State* const one = new State;
  return *one;
}

FakeGdr how_by_environment() {
  const char* const value = std::getenv("RAILSHMEM_FAKE_GDR");
  const std::string_view name = value != nullptr ? value : "";
  if (name == "no_module") return FakeGdr::no_module;
  if (name == "no_room") return FakeGdr::no_room;
  if (name == "no_window") return FakeGdr::no_window;
  if (name == "other_memory") return FakeGdr::other_memory;
  return state().how;
}

}  // namespace

extern "C" {

void* gdr_open() {
  const std::lock_guard<std::mutex> held(state().mutex);
  if (how_by_environment() == FakeGdr::no_module) return nullptr;
  ++state().sessions;
  return &state();
}

int gdr_close(void* session) {
  const std::lock_guard<std::mutex> held(state().mutex);
  if (session != &state() || state().sessions == 0) return EINVAL;
  --state().sessions;
  return 0;
}

int gdr_pin_buffer(void* session, unsigned long address, size_t nbytes, uint64_t, uint32_t, GdrHandle* handle) {
  if (session != &state() || address % kPage != 0 || nbytes % kPage != 0) return EINVAL;
  if (railshmem_fake_cpu_view(address, nbytes) == nullptr) return EINVAL;
  const std::lock_guard<std::mutex> held(state().mutex);
  if (how_by_environment() == FakeGdr::no_room) return ENOMEM;
  handle->value = ++state().last;
  state().pinned[handle->value] = {address, nbytes};
  return 0;
}

int gdr_unpin_buffer(void*, GdrHandle handle) {
  const std::lock_guard<std::mutex> held(state().mutex);
  const auto found = state().pinned.find(handle.value);
  if (found == state().pinned.end() || found->second.mapped != nullptr) return EINVAL;
  state().pinned.erase(found);
  return 0;
}

int gdr_map(void*, GdrHandle handle, void** mapped, size_t nbytes) {
  const std::lock_guard<std::mutex> held(state().mutex);
  const auto found = state().pinned.find(handle.value);
  if (found == state().pinned.end() || found->second.mapped != nullptr || nbytes > found->second.nbytes) return EINVAL;
  if (how_by_environment() == FakeGdr::no_window) return EAGAIN;
  if (how_by_environment() == FakeGdr::other_memory) {
    state().others.push_back(std::make_unique<std::byte[]>(nbytes));
    found->second.mapped = state().others.back().get();
  } else {
    found->second.mapped = static_cast<std::byte*>(railshmem_fake_cpu_view(found->second.address, nbytes));
  }
  *mapped = found->second.mapped;
  return found->second.mapped != nullptr ? 0 : EINVAL;
}

int gdr_unmap(void*, GdrHandle handle, void* mapped, size_t) {
  const std::lock_guard<std::mutex> held(state().mutex);
  const auto found = state().pinned.find(handle.value);
  if (found == state().pinned.end() || found->second.mapped != mapped) return EINVAL;
  found->second.mapped = nullptr;
  return 0;
}

int gdr_copy_to_mapping(GdrHandle handle, void* to, const void* from, size_t nbytes) {
  {
    const std::lock_guard<std::mutex> held(state().mutex);
    const auto found = state().pinned.find(handle.value);
    if (found == state().pinned.end() || found->second.mapped == nullptr) std::abort();
    const auto at = static_cast<size_t>(static_cast<std::byte*>(to) - found->second.mapped);
    if (at >= found->second.nbytes || nbytes > found->second.nbytes - at) std::abort();
  }
  std::memcpy(to, from, nbytes);
  return 0;
}

}  // extern "C"

GdrApi fake_gdr_api() {
  return {gdr_open, gdr_close, gdr_pin_buffer, gdr_unpin_buffer, gdr_map, gdr_unmap, gdr_copy_to_mapping};
}
void set_fake_gdr(FakeGdr how) noexcept {
  const std::lock_guard<std::mutex> held(state().mutex);
  state().how = how;
}
int fake_gdr_leaks() noexcept {
  const std::lock_guard<std::mutex> held(state().mutex);
  int n = state().sessions;
  for (const auto& [number, pinned] : state().pinned) n += 1 + (pinned.mapped != nullptr);
  return n;
}

}  // namespace railshmem::cuda
