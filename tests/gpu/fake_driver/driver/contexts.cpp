// SPDX-License-Identifier: BSD-3-Clause
// Devices and contexts of the fake driver.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/gpu/fake_driver/driver/calls.h"
#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {
namespace {

/// A GPU of today, where options do not say otherwise.
int attribute_of(const FakeState& s, Attribute attribute, Device device) {
  const auto other = s.options.attributes.find(attribute);
  if (other != s.options.attributes.end()) return other->second;
  switch (attribute) {
    case Attribute::multiprocessors:
      return 132;
    case Attribute::pci_bus:
      return 0x18 + s.physical[static_cast<size_t>(device)];
    case Attribute::pci_device:
    case Attribute::pci_domain:
    case Attribute::host_native_atomics:
    case Attribute::compute_capability_minor:
    case Attribute::handle_type_fabric:
      return 0;
    case Attribute::compute_capability_major:
      return 9;
    case Attribute::copy_engines:
      return 3;
    case Attribute::writes_ordering:
      return kOrderedForOwner;
    case Attribute::host_numa_node:
      return -1;
    default:
      return 1;
  }
}

}  // namespace

Context fake_context() noexcept {
  const FakeThread& thread = fake_thread();
  return thread.contexts.empty() ? nullptr : thread.contexts.back();
}
bool fake_is_device(const FakeState& s, Device device) noexcept {
  return device >= 0 && device < s.options.devices;
}
bool fake_reaches(const FakeState& s, Device from, int home) noexcept {
  const int here = s.physical[static_cast<size_t>(from)];
  const auto& apart = s.options.apart;
  return std::none_of(apart.begin(), apart.end(), [&](const std::pair<int, int>& pair) {
    return pair == std::pair(here, home) || pair == std::pair(home, here);
  });
}

extern "C" {

Result cuInit(unsigned) {
  FAKE_CALL(nothing);
  s.initialised = true;
  return s.options.devices > 0 ? kSuccess : kNoDevice;
}
Result cuDriverGetVersion(int* version) {
  FAKE_CALL(nothing);
  *version = s.options.version;
  return kSuccess;
}
Result cuGetErrorString(Result result, const char** text) {
  static constexpr std::pair<Result, const char*> kWords[] = {
      {kSuccess, "no error"},
      {kInvalidValue, "invalid argument"},
      {kOutOfMemory, "out of memory"},
      {kNotInitialized, "initialization error"},
      {kNoDevice, "no CUDA-capable device is detected"},
      {kInvalidDevice, "invalid device ordinal"},
      {kInvalidContext, "invalid device context"},
      {kMapFailed, "mapping of buffer object failed"},
      {kAlreadyMapped, "resource already mapped"},
      {kPeerAccessUnsupported, "peer access is not supported between these two devices"},
      {kInvalidHandle, "invalid resource handle"},
      {kNotFound, "named symbol not found"},
      {kNotReady, "device not ready"},
      {kIllegalAddress, "an illegal memory access was encountered"},
      {kNotPermitted, "operation not permitted"},
      {kNotSupported, "operation not supported"},
      {kCaptureUnsupported, "operation not permitted when stream is capturing"}};
  FAKE_CALL(nothing);
  for (const auto& [number, words] : kWords) {
    if (number != result) continue;
    *text = words;
    return kSuccess;
  }
  return kInvalidValue;
}

Result cuDeviceGetCount(int* count) {
  FAKE_CALL(start);
  *count = s.options.devices;
  return kSuccess;
}
Result cuDeviceGet(Device* device, int ordinal) {
  FAKE_CALL(start);
  *device = ordinal;
  return fake_is_device(s, ordinal) ? kSuccess : kInvalidDevice;
}
Result cuDeviceGetName(char* name, int size, Device device) {
  FAKE_CALL(start);
  if (!fake_is_device(s, device)) return kInvalidDevice;
  std::snprintf(name, static_cast<size_t>(size), "Fake GPU");
  return kSuccess;
}
Result cuDeviceGetAttribute(int* value, Attribute attribute, Device device) {
  FAKE_CALL(start);
  if (!fake_is_device(s, device)) return kInvalidDevice;
  *value = attribute_of(s, attribute, device);
  return kSuccess;
}
Result cuDeviceTotalMem_v2(size_t* nbytes, Device device) {
  FAKE_CALL(start);
  if (!fake_is_device(s, device)) return kInvalidDevice;
  *nbytes = s.options.memory_nbytes;
  return kSuccess;
}
Result cuDeviceGetUuid_v2(Uuid* uuid, Device device) {
  FAKE_CALL(start);
  if (!fake_is_device(s, device)) return kInvalidDevice;
  *uuid = {};
  std::snprintf(uuid->bytes.data(), uuid->bytes.size(), "fake gpu %d", s.physical[static_cast<size_t>(device)]);
  return kSuccess;
}
Result cuDeviceCanAccessPeer(int* can, Device device, Device peer) {
  FAKE_CALL(start);
  if (!fake_is_device(s, device) || !fake_is_device(s, peer)) return kInvalidDevice;
  *can = device != peer && fake_reaches(s, device, s.physical[static_cast<size_t>(peer)]);
  return kSuccess;
}
Result cuDeviceGetP2PAttribute(int* value, PeerAttribute, Device from, Device to) {
  FAKE_CALL(start);
  if (!fake_is_device(s, from) || !fake_is_device(s, to) || from == to) return kInvalidDevice;
  *value = fake_reaches(s, from, s.physical[static_cast<size_t>(to)]);
  return kSuccess;
}

Result cuCtxGetCurrent(Context* context) {
  FAKE_CALL(start);
  *context = fake_context();
  return kSuccess;
}
Result cuCtxSetCurrent(Context context) {
  FAKE_CALL(start);
  std::vector<Context>& contexts = fake_thread().contexts;
  if (!contexts.empty()) contexts.pop_back();
  if (context != nullptr) contexts.push_back(context);
  return kSuccess;
}
Result cuCtxPushCurrent_v2(Context context) {
  FAKE_CALL(start);
  if (context == nullptr) return kInvalidContext;
  fake_thread().contexts.push_back(context);
  return kSuccess;
}
Result cuCtxPopCurrent_v2(Context* context) {
  FAKE_CALL(context);
  if (context != nullptr) *context = fake_context();
  fake_thread().contexts.pop_back();
  return kSuccess;
}
Result cuCtxGetDevice(Device* device) {
  FAKE_CALL(context);
  *device = fake_context()->device;
  return kSuccess;
}
Result cuCtxSynchronize() {
  FAKE_CALL(undisturbed);
  const Context mine = fake_context();
  for (const FakeStream& stream : s.streams)
    if (stream->context == mine && stream->capture != nullptr) return kCaptureUnsupported;
  fake_wait_until(call, [&] {
    return std::all_of(s.streams.begin(), s.streams.end(),
                       [&](const FakeStream& stream) { return stream->context != mine || stream->work.empty(); });
  });
  return kSuccess;
}
Result cuDevicePrimaryCtxRetain(Context* context, Device device) {
  FAKE_CALL(start);
  if (!fake_is_device(s, device)) return kInvalidDevice;
  ++s.retained[static_cast<size_t>(device)];
  *context = &s.primaries[static_cast<size_t>(device)];
  return kSuccess;
}
Result cuDevicePrimaryCtxRelease_v2(Device device) {
  FAKE_CALL(start);
  if (!fake_is_device(s, device)) return kInvalidDevice;
  if (s.retained[static_cast<size_t>(device)] == 0) return kInvalidContext;
  --s.retained[static_cast<size_t>(device)];
  return kSuccess;
}
Result cuDevicePrimaryCtxGetState(Device device, unsigned* flags, int* active) {
  FAKE_CALL(start);
  if (!fake_is_device(s, device)) return kInvalidDevice;
  *flags = 0;
  *active = s.retained[static_cast<size_t>(device)] > 0;
  return kSuccess;
}
Result cuCtxCreate_v2(Context* context, unsigned flags, Device device) {
  FAKE_CALL(start);
  if (!fake_is_device(s, device)) return kInvalidDevice;
  if (flags != 0) return kInvalidValue;
  s.contexts.push_back(std::make_unique<ContextObject>(ContextObject{device, false}));
  s.created.insert(*context = s.contexts.back().get());
  fake_thread().contexts.push_back(*context);
  return kSuccess;
}
Result cuCtxDestroy_v2(Context context) {
  FAKE_CALL(start);
  return s.created.erase(context) == 1 ? kSuccess : kInvalidContext;
}
Result cuThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  FAKE_CALL(start);
  std::swap(*mode, fake_thread().mode);
  return kSuccess;
}
Result cuFlushGPUDirectRDMAWrites(int target, int scope) {
  FAKE_CALL(context);
  return target == kTargetCurrentContext && scope >= kScopeOwner ? kSuccess : kInvalidValue;
}

}  // extern "C"
}  // namespace railshmem::cuda
