// SPDX-License-Identifier: BSD-3-Clause
// What the fake driver knows of addresses.
#include <algorithm>
#include <cstring>

#include "tests/gpu/fake_driver/driver/calls.h"
#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {
namespace {

constexpr int kKnowsMemoryBlocks = 12010;  // driver version

/// Zero is what the real driver says where an attribute means nothing.
struct Answers {
  unsigned type = 0;
  int device = -2;  // as the real one says of plain host memory
  uint64_t buffer_id = 0;
  uint64_t block_id = 0;
  Address start = 0;
  size_t nbytes = 0;
  unsigned ipc_capable = 0;
  unsigned handle_types = 0;
  Pool pool = nullptr;
};

Answers answers_for(FakeState& s, Address address) {
  Answers found;
  if (const auto mapping = fake_find(s.mappings, address); mapping != s.mappings.end()) {
    found.type = kMemoryDevice;
    found.device = fake_device_of(s, mapping->second.memory->home);
    found.buffer_id = mapping->second.buffer_id;
    found.block_id = mapping->second.memory->id;
    // Of virtual memory this is the whole reservation, however it is mapped.
    const auto reservation = std::prev(s.reservations.upper_bound(address));
    std::tie(found.start, found.nbytes) = *reservation;
    found.handle_types = static_cast<unsigned>(mapping->second.memory->properties.handle_types);
  } else if (const auto given = fake_find(s.allocations, address); given != s.allocations.end()) {
    found.type = kMemoryDevice;
    found.device = given->second.device;
    found.buffer_id = found.block_id = given->second.buffer_id;
    found.start = given->first;
    found.nbytes = given->second.nbytes;
    found.pool = given->second.pool;
    found.ipc_capable = given->second.fd && given->second.pool == nullptr ? 1 : 0;
  } else if (const auto pinned = fake_find(s.pinned, address); pinned != s.pinned.end()) {
    found.type = kMemoryHost;
    found.device = 0;
    found.buffer_id = found.block_id = pinned->second.buffer_id;
    found.start = pinned->first;
    found.nbytes = pinned->second.nbytes;
  }
  return found;
}

template <class T>
void answer(void* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

Device fake_device_of(const FakeState& s, int home) noexcept {
  const auto found = std::find(s.physical.begin(), s.physical.end(), home);
  return found == s.physical.end() ? -1 : static_cast<Device>(found - s.physical.begin());
}

extern "C" {

Result cuPointerGetAttributes(unsigned count, PointerAttribute* attributes, void** values, Address address) {
  FAKE_CALL(context);
  const Answers found = answers_for(s, address);
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case PointerAttribute::memory_type:
        answer(values[i], found.type);
        break;
      case PointerAttribute::device:
        answer(values[i], found.device);
        break;
      case PointerAttribute::buffer_id:
        answer(values[i], found.buffer_id);
        break;
      case PointerAttribute::memory_block_id:
        if (s.options.version < kKnowsMemoryBlocks) return kInvalidValue;
        answer(values[i], found.block_id);
        break;
      case PointerAttribute::range_start:
        answer(values[i], found.start);
        break;
      case PointerAttribute::range_nbytes:
        answer(values[i], found.nbytes);
        break;
      case PointerAttribute::ipc_capable:
        answer(values[i], found.ipc_capable);
        break;
      case PointerAttribute::handle_types:
        answer(values[i], found.handle_types);
        break;
      case PointerAttribute::pool:
        answer(values[i], found.pool);
        break;
      case PointerAttribute::is_managed:
        answer(values[i], static_cast<unsigned char>(0));
        break;
      case PointerAttribute::context:
      case PointerAttribute::device_pointer:
      case PointerAttribute::sync_memops:
        return kInvalidValue;
    }
  }
  return kSuccess;
}
Result cuPointerGetAttribute(void* value, PointerAttribute attribute, Address address) {
  {
    FAKE_CALL(context);
    if (fake_is_pageable(s, address)) return kInvalidValue;
  }
  return cuPointerGetAttributes(1, &attribute, &value, address);
}
Result cuPointerSetAttribute(const void* value, PointerAttribute attribute, Address address) {
  FAKE_CALL(context);
  if (attribute != PointerAttribute::sync_memops || value == nullptr || !fake_is_device_memory(s, address))
    return kInvalidValue;
  return kSuccess;
}

}  // extern "C"
}  // namespace railshmem::cuda
