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
  bool locked = false;  ///< a call waits, and calls that need the context wait for it
};

/// One piece of a stream's work.
struct FakeWork {
  std::function<bool()> run;  ///< false: not yet
  uint64_t not_before;        ///< now_ns()
};

struct FakeCapture;

struct StreamObject {
  Context context = nullptr;
  bool blocking = false;                      ///< the legacy default stream waits for it
  std::shared_ptr<FakeCapture> capture = {};  ///< null: what it is given runs
  std::deque<FakeWork> work;
  uint64_t given = 0;
  uint64_t over = 0;
};
using FakeStream = std::shared_ptr<StreamObject>;

struct EventObject {
  Context context = nullptr;
  FakeStream stream;  ///< null: never recorded
  uint64_t until = 0;
  std::shared_ptr<FakeCapture> capture = {};  ///< null: it was not recorded into a graph
  bool reached() const noexcept { return stream == nullptr || stream->over >= until; }
};

/// What a handle stands for.
struct FakePhysical {
  uint64_t id = 0;  ///< of this memory in this process, whatever its handles
  UniqueFd fd;
  size_t nbytes = 0;
  int home = 0;  ///< GPU of the machine
  AllocationProperties properties = {};
  bool imported = false;
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
/// The memory of an allocation of some process.
struct FakeOrigin {
  pid_t pid;
  int fd;
  uint64_t buffer_id;
  Address address;  ///< in that process
  size_t nbytes;
  int home;        ///< GPU of the machine
  uint64_t inode;  ///< tells that file from another one under its number
};
FakeOrigin fake_origin(const UniqueFd& fd, uint64_t buffer_id, Address address, size_t nbytes, int home);
/// Of cudaMalloc or of a pool: this process's own, or opened.
struct FakeAllocation {
  size_t nbytes;
  Device device;  ///< -1: of another process, on a GPU that this process does not see
  uint64_t buffer_id;
  std::byte* bytes = nullptr;  ///< where they are, when the CPU cannot use the allocation's addresses; else null
  UniqueFd fd = {};            ///< none: not to be shared
  Pool pool = nullptr;         ///< null: of cudaMalloc
  FakeOrigin origin = {};      ///< of memory that was opened
  int opened = 0;              ///< how many times; 0: own memory
};
struct PoolObject {
  int home;  ///< GPU of the machine
  Device device;
  int handle_types;
  pid_t owner;
  std::set<Device> access;
  UniqueFd fd;  ///< what stands for it elsewhere
};

/// One thing that a graph does; makes what a stream is given at each launch.
using FakeNode = std::function<std::function<bool()>()>;
struct UserObjectObject {
  void* object;
  void (*destroy)(void*);
  unsigned references;
};
/// What graphs hold; whoever has the last pointer to it gives the references back.
struct FakeReferences {
  std::map<UserObject, unsigned> of;
  FakeReferences() = default;
  FakeReferences(const FakeReferences& other);
  ~FakeReferences();
};
struct GraphObject {
  std::vector<FakeNode> nodes;
  std::shared_ptr<FakeReferences> references = std::make_shared<FakeReferences>();
};
struct FakeCapture {
  uint64_t id;
  Stream origin;
  Graph graph;
  CaptureMode mode;
  bool over = false;
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
  size_t kernels_running = 0;
  bool capturing = false;
  bool capture_broken = false;
  uint64_t last_buffer_id = 0;

  std::vector<std::unique_ptr<ContextObject>> contexts;
  std::set<Context> created;  ///< by cuCtxCreate, and not destroyed
  std::vector<ContextObject> primaries;
  std::vector<int> retained;

  std::vector<size_t> used;  ///< of each device's memory; before what counts in it
  std::map<MemoryHandle, std::shared_ptr<FakePhysical>> handles;
  MemoryHandle last_handle = 0;
  std::map<Address, size_t> reservations;
  std::map<Address, Address> engines_views;  ///< guarded: where copy engines and kernels find a reservation's memory
  std::map<Address, FakeMapping> mappings;
  std::map<Address, FakeAllocation> allocations;
  std::map<size_t, std::vector<Address>> freed;  ///< addresses of cudaMalloc by size: the next one gets the latest
  std::set<Pool> pools;
  std::map<Address, FakePinned> pinned;

  std::vector<FakeStream> streams;  ///< destroyed ones too, as long as they have work
  std::set<Stream> stream_handles;
  std::map<Context, FakeStream> default_streams;
  std::set<EventObject*> events;
  std::mt19937_64 random;
  bool held = false;
  bool pageable_taken = false;  ///< a copy to pageable memory is under way
  size_t waiting_for_room = 0;  ///< callers, in queues of streams
  bool stopping = false;
  std::thread worker;

  std::set<Graph> graphs;
  std::set<Graph> ready_graphs;  ///< of cuGraphInstantiate
  std::set<UserObject> user_objects;
  std::vector<std::thread> destructors;
  uint64_t last_capture = 0;

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
  bool destroys = false;  ///< it runs a user object's destructor, which may not call the driver
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
/// Whether it is mapped from a handle that was imported.
bool fake_is_imported(FakeState& s, Address address);

/// Where copy engines and kernels find what is at an address; not beyond the end of its reservation.
std::byte* fake_bytes(const FakeState& s, Address address);

/// Puts an allocation at an address of its own, open to the CPU where the options say so. 0: no room.
Address fake_place(FakeState& s, FakeAllocation allocation);
/// Takes one away that fake_place() placed.
void fake_displace(FakeState& s, Address address);
/// New memory of a GPU; none: no room.
UniqueFd fake_memory(const FakeState& s, Device device, size_t nbytes);
/// The memory of another process's allocation; none: it is gone.
UniqueFd fake_open(const FakeOrigin& origin);
/// Its number here; -1: this process does not see it.
Device fake_device_of(const FakeState& s, int home) noexcept;

/// The stream that a handle means (null: the legacy default one); empty when it is not of this context.
FakeStream fake_stream(FakeState& s, Stream handle);
/// Appends work, to the stream or to the graph that captures it; runs what can run where nothing is late. `run` keeps
/// nothing between calls.
void fake_give(FakeState& s, const FakeStream& stream, std::function<bool()> run);
/// Appends work that keeps something while it runs, so that each launch of a graph makes its own.
void fake_give_node(FakeState& s, const FakeStream& stream, const FakeNode& node);
void fake_wait_until(FakeCall& call, const std::function<bool()>& reached);
/// Waits until no other call holds a context's lock.
void fake_enter(FakeCall& call, Context context);
/// For a copy: also the context of plain memory, whichever context the copy is made in.
void fake_enter_owner(FakeCall& call, Address address);
/// Waits with the lock of a context, as calls that block do.
void fake_wait_locked(FakeCall& call, Context context, const std::function<bool()>& reached);

}  // namespace railshmem::cuda
