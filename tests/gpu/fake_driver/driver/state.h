// SPDX-License-Identifier: BSD-3-Clause
// What the fake driver knows. One mutex guards all of it.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "src/base/unique.h"
#include "tests/gpu/fake_driver/fake_driver.h"

namespace railshmem::cuda {

struct ContextObject {
  Device device;
  bool primary;
};

/// One piece of a stream's work.
struct FakeWork {
  std::function<bool()> run;  ///< false: not yet
  uint64_t not_before;        ///< now_ns()
};

/// What streams were given during a capture, in this order. Each function makes the work for one replay.
struct GraphObject {
  std::vector<std::function<std::function<bool()>()>> work;
};
using FakeGraph = std::shared_ptr<GraphObject>;

struct StreamObject {
  Context context = nullptr;
  bool blocking = false;        ///< the legacy default stream waits for it
  FakeGraph capture = nullptr;  ///< takes down what the stream is given; null: the stream runs it
  std::deque<FakeWork> work;
  uint64_t given = 0;
  uint64_t over = 0;
};
using FakeStream = std::shared_ptr<StreamObject>;

struct EventObject {
  Context context = nullptr;
  FakeStream stream;  ///< null: never recorded
  uint64_t until = 0;
  FakeGraph capture = nullptr;  ///< the event was recorded in a stream that was being captured
  bool reached() const noexcept { return stream == nullptr || stream->over >= until; }
};

/// A graph that can be launched. Its launches run one after the other.
struct GraphExecObject {
  FakeGraph graph;
  EventObject last = {};  ///< reached when the last launch is over
};

/// What a handle stands for.
struct FakePhysical {
  UniqueFd fd;
  size_t nbytes = 0;
  int home = 0;  ///< GPU of the machine
  AllocationProperties properties = {};
  size_t* used = nullptr;  ///< of the device that it was made on, here
  ~FakePhysical() {
    if (used != nullptr) *used -= nbytes;
  }
};

struct FakeMapping {
  size_t nbytes;
  std::shared_ptr<FakePhysical> memory;
  std::set<Device> access;
  uint64_t buffer_id;
};
/// Of cudaMalloc.
struct FakeAllocation {
  size_t nbytes;
  Device device;
  uint64_t buffer_id;
  std::byte* bytes = nullptr;  ///< where they are, when the CPU cannot use the allocation's addresses; else null
};
struct FakePinned {
  size_t nbytes;
  bool registered;
  uint64_t buffer_id;
};

struct FunctionObject {
  const FakeKernel* kernel;
};
/// Of the library: in whatever image it loads.
const FakeModule& library_kernels();
/// Where threads that stand for kernels are linked.
[[gnu::weak]] void add_stream_kernels(FakeModule& module);

struct ModuleObject {
  const FakeModule* module;
  std::map<std::string, std::unique_ptr<FunctionObject>> functions;
};
struct LibraryObject : ModuleObject {};
struct KernelObject : FunctionObject {};

struct FakeFailure {
  int at;  ///< number of the call
  bool lasting;
  Result result;
};

struct FakeState {
  explicit FakeState(const FakeOptions& given);
  ~FakeState();

  const FakeOptions options;
  const uint64_t generation;  ///< tells this fake from those before it
  std::vector<int> physical;

  mutable std::mutex mutex;
  std::condition_variable changed;
  bool initialised = false;
  std::map<std::string, int> calls;
  std::map<std::string, FakeFailure> failures;
  bool capturing = false;
  bool capture_broken = false;
  uint64_t last_buffer_id = 0;

  std::vector<std::unique_ptr<ContextObject>> contexts;
  std::vector<ContextObject> primaries;
  std::vector<int> retained;

  std::vector<size_t> used;  ///< of each device's memory; before what counts in it
  std::map<MemoryHandle, std::shared_ptr<FakePhysical>> handles;
  MemoryHandle last_handle = 0;
  std::map<Address, size_t> reservations;
  std::map<Address, Address> engines_views;  ///< guarded: where copy engines and kernels find a reservation's memory
  std::map<Address, FakeMapping> mappings;
  std::map<Address, FakeAllocation> allocations;
  std::map<Address, FakePinned> pinned;

  std::vector<FakeStream> streams;  ///< destroyed ones too, as long as they have work
  std::set<Stream> stream_handles;
  std::map<Context, FakeStream> default_streams;
  std::set<EventObject*> events;
  std::map<GraphObject*, FakeGraph> graphs;
  std::map<GraphExecObject*, std::unique_ptr<GraphExecObject>> executables;
  std::mt19937_64 random;
  bool held = false;
  bool stopping = false;
  std::thread worker;

  std::map<const void*, FakeModule> images;
  std::set<Module> modules;
  std::set<Library> libraries;
  std::vector<std::unique_ptr<KernelObject>> kernels;
};

/// The one of this process.
FakeState* fake_state() noexcept;
void set_fake_state(FakeState* state) noexcept;

/// What the thread holds, of the fake that is there now.
struct FakeThread {
  uint64_t generation = 0;
  std::vector<Context> contexts;
  CaptureMode mode = CaptureMode::global;
  bool captures = false;  ///< in its own mode: it may not block
};
FakeThread& fake_thread() noexcept;

/// undisturbed: a context, and no graph is being captured elsewhere.
enum class FakeNeeds : uint8_t { nothing, start, context, undisturbed };

/// Counts a call, and holds the lock while it lasts.
class FakeCall {
 public:
  FakeCall(const char* symbol, FakeNeeds needs);
  Result refused() const noexcept { return refused_; }
  std::unique_lock<std::mutex>& lock() noexcept { return lock_; }
  FakeState& state() noexcept { return *fake_state(); }

 private:
  std::unique_lock<std::mutex> lock_;
  Result refused_ = kSuccess;
};

#define FAKE_CALL(needs)                                 \
  FakeCall call(__func__, FakeNeeds::needs);             \
  if (call.refused() != kSuccess) return call.refused(); \
  [[maybe_unused]] FakeState& s = call.state()

// All of these with the lock held.

/// Of the calling thread; null: none.
Context fake_context() noexcept;
bool fake_is_device(const FakeState& s, Device device) noexcept;
/// Whether a device reaches a GPU of the machine.
bool fake_reaches(const FakeState& s, Device from, int home) noexcept;

/// The entry of a map from starts to things with nbytes that holds the address; end() when none does.
template <class Map>
auto fake_find(Map& map, Address address) {
  auto after = map.upper_bound(address);
  if (after == map.begin()) return map.end();
  const auto found = std::prev(after);
  return address - found->first < found->second.nbytes ? found : map.end();
}

/// Whether a device's copies may touch these bytes: mapped where they are in a reserved range, with access.
bool fake_usable(const FakeState& s, Address address, size_t nbytes, Device device);
bool fake_is_pageable(FakeState& s, Address address);
bool fake_is_device_memory(FakeState& s, Address address);

/// Where copy engines and kernels find what is at an address; not beyond the end of its reservation.
std::byte* fake_bytes(const FakeState& s, Address address);

/// The stream that a handle means (null: the legacy default one); empty when it is none of this context.
FakeStream fake_stream(FakeState& s, Stream handle);
/// Appends work, or has the stream's capture take it down; runs what can run where nothing is late.
void fake_give(FakeState& s, const FakeStream& stream, std::function<bool()> run);
/// Of work that has a state: `make` is called for each replay.
void fake_give_made(FakeState& s, const FakeStream& stream, const std::function<std::function<bool()>()>& make);
void fake_wait_until(FakeCall& call, const std::function<bool()>& reached);

}  // namespace railshmem::cuda
