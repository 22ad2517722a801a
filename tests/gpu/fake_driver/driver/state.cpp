// SPDX-License-Identifier: BSD-3-Clause
#include "tests/gpu/fake_driver/driver/state.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "src/base/error.h"
#include "tests/gpu/fake_driver/driver/calls.h"

namespace railshmem::cuda {
namespace {

FakeState* g_state = nullptr;
std::atomic<uint64_t> g_generations{0};

void add(std::string& list, size_t n, const char* what) {
  if (n == 0) return;
  list += text("%s%zu %s%s", list.empty() ? "" : ", ", n, what, n == 1 ? "" : "s");
}

/// For the library that programs find as libcuda.so.1: RAILSHMEM_FAKE_GPUS (their number), RAILSHMEM_FAKE_MEMORY
/// (bytes of each), RAILSHMEM_FAKE_LATE_US, RAILSHMEM_FAKE_GUARDED (set: the CPU cannot use device memory),
/// RAILSHMEM_FAKE_OPEN (set: it can use memory of cudaMalloc too), RAILSHMEM_FAKE_UNORDERED (set: what NICs write must
/// be flushed), RAILSHMEM_FAKE_CAPTURED (set: streams say that they are being captured),
/// RAILSHMEM_FAKE_WORDLESS (set: streams do not execute batches of operations on words), RAILSHMEM_FAKE_BLOCKS (memory
/// of cudaMalloc of other processes that can be open at once), RAILSHMEM_FAKE_OBJECTS (user objects at once),
/// RAILSHMEM_FAKE_NOTES_MS (so late runs the destructor of a user object), RAILSHMEM_FAKE_KERNELS (kernels of this
/// process that run at once), RAILSHMEM_FAKE_QUEUE (pieces of work of a stream, above which who gives operations on
/// words waits).
FakeOptions options_from_environment() {
  FakeOptions options;
  if (const char* gpus = std::getenv("RAILSHMEM_FAKE_GPUS")) options.devices = std::atoi(gpus);
  if (const char* nbytes = std::getenv("RAILSHMEM_FAKE_MEMORY"))
    options.memory_nbytes = std::strtoull(nbytes, nullptr, 0);
  if (const char* late = std::getenv("RAILSHMEM_FAKE_LATE_US"))
    options.late_us = static_cast<unsigned>(std::atoi(late));
  if (const char* blocks = std::getenv("RAILSHMEM_FAKE_BLOCKS"))
    options.open_blocks = std::strtoull(blocks, nullptr, 0);
  if (const char* objects = std::getenv("RAILSHMEM_FAKE_OBJECTS"))
    options.user_objects = std::strtoull(objects, nullptr, 0);
  if (const char* kernels = std::getenv("RAILSHMEM_FAKE_KERNELS"))
    options.kernels_at_once = std::strtoull(kernels, nullptr, 0);
  if (const char* queue = std::getenv("RAILSHMEM_FAKE_QUEUE")) options.queue = std::strtoull(queue, nullptr, 0);
  if (const char* notes = std::getenv("RAILSHMEM_FAKE_NOTES_MS"))
    options.notes_ms = static_cast<unsigned>(std::atoi(notes));
  options.guarded = std::getenv("RAILSHMEM_FAKE_GUARDED") != nullptr;
  options.open = std::getenv("RAILSHMEM_FAKE_OPEN") != nullptr;
  if (std::getenv("RAILSHMEM_FAKE_WORDLESS") != nullptr) {
    options.stream_words = false;
    options.attributes[Attribute::words_of_64_bits] = 0;
  }
  options.captured = std::getenv("RAILSHMEM_FAKE_CAPTURED") != nullptr;
  if (std::getenv("RAILSHMEM_FAKE_UNORDERED") != nullptr) options.attributes[Attribute::writes_ordering] = 0;
  return options;
}

}  // namespace

FakeState* fake_state() noexcept {
  return g_state;
}
void set_fake_state(FakeState* state) noexcept {
  if (state != nullptr && g_state != nullptr) {
    std::fprintf(stderr, "fake driver: there is one already in this process\n");
    std::abort();
  }
  g_state = state;
}

FakeState::FakeState(const FakeOptions& given)
    : options(given),
      generation(++g_generations),
      physical(given.physical),
      retained(static_cast<size_t>(given.devices)),
      used(static_cast<size_t>(given.devices)),
      random(given.seed) {
  if (physical.empty()) {
    physical.resize(static_cast<size_t>(given.devices));
    std::iota(physical.begin(), physical.end(), 0);
  }
  for (Device device = 0; device < given.devices; ++device) primaries.push_back({device, true});
}

FakeState::~FakeState() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  if (worker.joinable()) worker.join();
  for (std::thread& destructor : destructors) destructor.join();
  for (Graph graph : graphs) delete graph;
  for (Graph graph : ready_graphs) delete graph;
  for (UserObject object : user_objects) delete object;
  for (Pool pool : pools) delete pool;
  for (EventObject* event : events) delete event;
  for (ModuleObject* module : modules) delete module;
  for (LibraryObject* library : libraries) delete library;
  // What a test left behind on purpose.
  for (const auto& [address, range] : pinned)
    if (!range.registered) std::free(pointer_to(address));
  for (const auto& [address, nbytes] : reservations) munmap(pointer_to(address), nbytes);
  for (const auto& [address, engines] : engines_views) munmap(pointer_to(engines), reservations[address]);
  for (const auto& [address, allocation] : allocations) {
    munmap(pointer_to(address), allocation.nbytes);
    if (allocation.bytes != nullptr) munmap(allocation.bytes, allocation.nbytes);
  }
}

FakeThread& fake_thread() noexcept {
  thread_local FakeThread thread;
  if (thread.generation != g_state->generation) thread = {g_state->generation, {}, CaptureMode::global, false};
  return thread;
}

FakeCall::FakeCall(const char* symbol, FakeNeeds needs) {
  if (g_state == nullptr) {
    static FakeState* const from_environment = new FakeState(options_from_environment());
    g_state = from_environment;
  }
  FakeState& s = *g_state;
  lock_ = std::unique_lock(s.mutex);
  const int number = ++s.calls[symbol];
  const auto failure = s.failures.find(symbol);
  if (fake_thread().destroys) {
    refused_ = kNotPermitted;
  } else if (needs != FakeNeeds::nothing && !s.initialised) {
    refused_ = kNotInitialized;
  } else if (failure != s.failures.end() &&
             (number == failure->second.at || (failure->second.lasting && number > failure->second.at))) {
    refused_ = failure->second.result;
  } else if (needs >= FakeNeeds::context && fake_context() == nullptr) {
    refused_ = kInvalidContext;
  } else if (needs == FakeNeeds::undisturbed && s.capturing && fake_thread().mode != CaptureMode::relaxed) {
    s.capture_broken = true;
    refused_ = kCaptureUnsupported;
  }
}

FakeDriver::FakeDriver(const FakeOptions& options) : state_(std::make_unique<FakeState>(options)) {
  set_fake_state(state_.get());
  state_->initialised = true;
#define CALL(member, group, symbol, since, ...) table_.member = &symbol;
#include "src/cuda/driver_calls.inc"
#undef CALL
}

FakeDriver::~FakeDriver() {
  // Destructors of user objects know the driver by its thread.
  for (std::vector<std::thread> running(1); !running.empty();) {
    {
      const std::lock_guard lock(state_->mutex);
      running = std::exchange(state_->destructors, {});
    }
    for (std::thread& destructor : running) destructor.join();
  }
  set_fake_state(nullptr);
}

void FakeDriver::fail(const char* symbol, int nth, Result result, bool lasting) {
  const std::lock_guard lock(state_->mutex);
  state_->failures[symbol] = {state_->calls[symbol] + nth, lasting, result};
}

int FakeDriver::calls(const char* symbol) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->calls.find(symbol);
  return found == state_->calls.end() ? 0 : found->second;
}

std::string FakeDriver::leaks() const {
  const std::lock_guard lock(state_->mutex);
  std::string list;
  add(list, state_->handles.size(), "memory handle");
  add(list, state_->mappings.size(), "mapping");
  add(list, state_->reservations.size(), "reservation");
  add(list, state_->pinned.size(), "pinned range");
  add(list,
      static_cast<size_t>(std::count_if(state_->allocations.begin(), state_->allocations.end(),
                                        [](const auto& one) { return one.second.opened > 0; })),
      "opened allocation");
  add(list,
      static_cast<size_t>(std::count_if(state_->pools.begin(), state_->pools.end(),
                                        [](const Pool pool) { return pool->owner != getpid(); })),
      "imported pool");
  add(list, state_->user_objects.size(), "user object");
  add(list, state_->stream_handles.size(), "stream");
  add(list, state_->events.size(), "event");
  add(list, state_->modules.size(), "module");
  add(list, state_->libraries.size(), "librarie");
  add(list, static_cast<size_t>(std::accumulate(state_->retained.begin(), state_->retained.end(), 0)),
      "retained context");
  add(list, state_->created.size(), "created context");
  add(list, fake_thread().contexts.size(), "context of this thread");
  return list;
}

Context FakeDriver::make_context(Device device) {
  const std::lock_guard lock(state_->mutex);
  state_->contexts.push_back(std::make_unique<ContextObject>(ContextObject{device, false}));
  return state_->contexts.back().get();
}

std::byte* FakeDriver::allocate(size_t nbytes, Device device) {
  void* const memory = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check_errno(memory != MAP_FAILED, "mmap");
  const std::lock_guard lock(state_->mutex);
  state_->allocations[address_of(memory)] = FakeAllocation{nbytes, device, ++state_->last_buffer_id};
  return static_cast<std::byte*>(memory);
}

void FakeDriver::release(std::byte* memory) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->allocations.find(address_of(memory));
  if (found == state_->allocations.end()) throw Error("not a device allocation");
  munmap(memory, found->second.nbytes);
  state_->allocations.erase(found);
}

void FakeDriver::add_module(const void* image, FakeModule module) {
  const std::lock_guard lock(state_->mutex);
  state_->images[image] = std::move(module);
}

void FakeDriver::hold(bool still) {
  const std::lock_guard lock(state_->mutex);
  state_->held = still;
  state_->changed.notify_all();
}

void FakeDriver::capture(bool under_way) {
  const std::lock_guard lock(state_->mutex);
  state_->capturing = under_way;
}

bool FakeDriver::capture_broken() const {
  const std::lock_guard lock(state_->mutex);
  return state_->capture_broken;
}

}  // namespace railshmem::cuda
