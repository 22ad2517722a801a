// SPDX-License-Identifier: BSD-3-Clause
// The backend RAILSHMEM of torch.distributed._symmetric_memory. __init__.py compiles this file on the user's machine,
// against the torch that is installed there, because torch's classes for it differ from version to version.
#include <torch/extension.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "_cuda.h"
#include "_pads.h"
#include "_words.h"

namespace {

namespace symm = c10d::symmetric_memory;
using railshmem_symm_mem::joined;
using railshmem_symm_mem::pad_nbytes;
using railshmem_symm_mem::Signals;

/// Memory of the symmetric heap that is handed out locally, and where PEs find each other's. Addresses of functions of
/// the module _core and of the library, so that this file links neither.
struct Pool {
  void* (*take)(ssize_t nbytes, int device, void* stream);
  void (*give_back)(void* memory, ssize_t nbytes, int device, void* stream);
  void* (*peer)(const void* symmetric, int pe);  ///< shmem_ptr()
  void (*query_initialized)(int*);               ///< shmem_query_initialized()
  uintptr_t begin;
  int pe;
  double limit_s;    ///< of waits for which torch gives no limit; 0: none
  Signals* signals;  ///< memory of the GPU; null: of the host. Never given up

  double limit(size_t timeout_ms) const { return timeout_ms > 0 ? static_cast<double>(timeout_ms) / 1000 : limit_s; }
  c10::Device device() const { return signals ? signals->device() : c10::Device(c10::DeviceType::CPU); }
  void require_running(const char* function) const {
    int running = 0;
    query_initialized(&running);
    TORCH_CHECK(running != 0,
                joined("railshmem.symm_mem: ", function,
                       ": railshmem.finalize() has given the memory back; call it last, and drop such tensors before"));
  }
};

/// What the members of a group tell each other at a rendezvous.
struct Card {
  uint64_t offset;  ///< of the allocation in the pool
  uint64_t nbytes;
  uint64_t inside;  ///< of the tensor's storage in the allocation; operators of torch take it as equal everywhere
  int64_t pe;
};

constexpr size_t kAlign = 64;  // of a signal pad
size_t aligned(size_t nbytes) {
  return (nbytes + kAlign - 1) / kAlign * kAlign;
}

/// Lets other threads of Python run meanwhile.
class Released {
 public:
  Released() {
    if (PyGILState_Check()) saved_ = PyEval_SaveThread();
  }
  /// Throws what Python's handlers of signals raise: KeyboardInterrupt.
  void receive_signals() {
    if (saved_ == nullptr) return;
    PyEval_RestoreThread(std::exchange(saved_, nullptr));
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    saved_ = PyEval_SaveThread();
  }
  ~Released() {
    if (saved_ != nullptr) PyEval_RestoreThread(saved_);
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* saved_ = nullptr;
};

/// Waits until the word has this value. False: it has not after limit_s seconds (0: no limit).
bool await_value(std::atomic_ref<uint32_t> word, uint32_t value, double limit_s) {
  Released released;
  const auto began = std::chrono::steady_clock::now();
  double heard = 0;
  // relaxed: the caller changes the word with the order that it needs.
  while (word.load(std::memory_order_relaxed) != value) {
    const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (limit_s > 0 && waited > limit_s) return false;
    if (waited > heard + 0.1) {
      released.receive_signals();
      heard = waited;
    }
    if (waited < 0.001) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  return true;
}

/// An allocation as the members of a group see it. Behind its bytes is the signal pad: a word for each channel and
/// member, 1 where that member has signalled.
class Memory : public railshmem_symm_mem::SymmetricMemory {
 public:
  Memory(const Pool& pool, std::vector<void*> buffers, size_t nbytes, size_t offset, int rank)
      : pool_(pool), buffers_(std::move(buffers)), nbytes_(nbytes), offset_(offset), rank_(rank) {
    for (void* const buffer : buffers_) pads_.push_back(static_cast<char*>(buffer) + aligned(nbytes));
  }

  std::vector<void*> get_buffer_ptrs() override { return buffers_; }
  std::vector<void*> get_signal_pad_ptrs() override { return pads_; }
  size_t get_buffer_size() override { return nbytes_; }
  size_t get_offset() override { return offset_; }
  bool has_multicast_support() override { return false; }
  void* get_multicast_ptr() override { return nullptr; }
  int get_rank() override { return rank_; }
  int get_world_size() override { return static_cast<int>(buffers_.size()); }
  c10::Device get_device() override { return pool_.device(); }
  bool world_within_direct_access() override { return true; }

 protected:
  void check(const char* function, int channel, int peer) {
    pool_.require_running(function);
    const size_t channels = pad_nbytes() / sizeof(uint32_t) / buffers_.size();
    TORCH_CHECK_VALUE(channel >= 0 && static_cast<size_t>(channel) < channels,
                      joined("railshmem.symm_mem: ", function, ": channel ", channel,
                             " does not exist; there are channels 0 to ", channels - 1));
    TORCH_CHECK_VALUE(peer >= 0 && peer < get_world_size(),
                      joined("railshmem.symm_mem: ", function, ": rank ", peer,
                             " does not exist; the group has ranks 0 to ", get_world_size() - 1));
  }

  const Pool pool_;
  std::vector<void*> buffers_, pads_;  ///< by rank, as addresses here
  const size_t nbytes_, offset_;
  const int rank_;
};

/// Signals are words that threads of the CPUs change.
class HostMemory : public Memory {
 public:
  using Memory::Memory;
  void** get_buffer_ptrs_dev() override { return buffers_.data(); }
  void** get_signal_pad_ptrs_dev() override { return pads_.data(); }

  void barrier(int channel, size_t timeout_ms) override {
    check("barrier", channel, 0);
    for (int peer = 0; peer < get_world_size(); ++peer)
      if (peer != rank_) signal("barrier", peer, channel, timeout_ms);
    for (int peer = 0; peer < get_world_size(); ++peer)
      if (peer != rank_) await("barrier", peer, channel, timeout_ms);
  }
  void put_signal(int dst_rank, int channel, size_t timeout_ms) override {
    check("put_signal", channel, dst_rank);
    signal("put_signal", dst_rank, channel, timeout_ms);
  }
  void wait_signal(int src_rank, int channel, size_t timeout_ms) override {
    check("wait_signal", channel, src_rank);
    await("wait_signal", src_rank, channel, timeout_ms);
  }

 private:
  std::atomic_ref<uint32_t> word(int at, int channel, int from) {
    return std::atomic_ref<uint32_t>(static_cast<uint32_t*>(pads_[at])[channel * get_world_size() + from]);
  }
  /// Sets this rank's word at the peer from 0 to 1.
  void signal(const char* function, int peer, int channel, size_t timeout_ms) {
    // release: pairs with the peer's await(), which then sees what was stored here before.
    change(word(peer, channel, rank_), 0, 1, std::memory_order_release, timeout_ms, [&](double limit) {
      TORCH_CHECK(false, joined("railshmem.symm_mem: ", function, ": rank ", peer,
                                " has not taken the signal before on channel ", channel, " within ", limit, " s"));
    });
  }
  /// Sets the peer's word here from 1 to 0.
  void await(const char* function, int peer, int channel, size_t timeout_ms) {
    change(word(rank_, channel, peer), 1, 0, std::memory_order_acquire, timeout_ms, [&](double limit) {
      TORCH_CHECK(false, joined("railshmem.symm_mem: ", function, ": rank ", peer, " has not signalled on channel ",
                                channel, " within ", limit, " s; does it make this call, too?"));
    });
  }
  template <class Late>
  void change(std::atomic_ref<uint32_t> word, uint32_t from, uint32_t to, std::memory_order order, size_t timeout_ms,
              Late&& late) {
    const double limit = pool_.limit(timeout_ms);
    for (uint32_t found = from; !word.compare_exchange_strong(found, to, order, std::memory_order_relaxed);
         found = from)
      if (!await_value(word, from, limit)) late(limit);
  }
};

/// Signals are words that kernels change, on the current stream; a graph may capture them.
class GpuMemory : public Memory {
 public:
  template <class... Arguments>
  explicit GpuMemory(Arguments&&... arguments) : Memory(std::forward<Arguments>(arguments)...) {
    const auto members = static_cast<int64_t>(buffers_.size());
    at::Tensor addresses = at::empty({2, members}, at::kLong);
    for (int64_t rank = 0; rank < members; ++rank) {
      addresses.data_ptr<int64_t>()[rank] = static_cast<int64_t>(reinterpret_cast<uintptr_t>(buffers_[rank]));
      addresses.data_ptr<int64_t>()[members + rank] = static_cast<int64_t>(reinterpret_cast<uintptr_t>(pads_[rank]));
    }
    addresses_ = addresses.to(get_device());
    pool_.signals->synchronize();  // kernels on all streams may read them
  }
  void** get_buffer_ptrs_dev() override { return static_cast<void**>(addresses_.data_ptr()); }
  void** get_signal_pad_ptrs_dev() override { return get_buffer_ptrs_dev() + buffers_.size(); }

  void barrier(int channel, size_t timeout_ms) override {
    check("barrier", channel, 0);
    launch(channel, 0, get_world_size(), rank_, Signals::both, timeout_ms);
  }
  void put_signal(int dst_rank, int channel, size_t timeout_ms) override {
    check("put_signal", channel, dst_rank);
    launch(channel, dst_rank, dst_rank + 1, -1, Signals::put, timeout_ms);
  }
  void wait_signal(int src_rank, int channel, size_t timeout_ms) override {
    check("wait_signal", channel, src_rank);
    launch(channel, src_rank, src_rank + 1, -1, Signals::wait, timeout_ms);
  }

 private:
  void launch(int channel, int first, int last, int skip, Signals::Steps steps, size_t timeout_ms) {
    pool_.signals->launch(get_signal_pad_ptrs_dev(), rank_, get_world_size(), channel, first, last, skip, steps,
                          pool_.limit(timeout_ms));
  }
  at::Tensor addresses_;  ///< on the GPU: of buffers, then of pads
};

class Allocator : public symm::SymmetricMemoryAllocator {
 public:
  Allocator(const Pool& pool, py::function meeting) : pool_(pool), meeting_(std::move(meeting)) {}

  void* alloc(size_t nbytes, int device, const std::optional<std::string>& group) override {
    pool_.require_running("empty");
    const int ours = pool_.device().index();
    TORCH_CHECK_VALUE(pool_.signals == nullptr || device < 0 || device == ours,
                      joined("railshmem.symm_mem: empty: device is cuda:", device,
                             ", and the symmetric heap of this PE is on cuda:", ours, "; pass that device"));
    const size_t all = aligned(nbytes) + pad_nbytes();
    void* const memory = pool_.take(static_cast<ssize_t>(all), -1, nullptr);
    TORCH_CHECK_WITH(OutOfMemoryError, memory != nullptr,
                     joined("railshmem.symm_mem: there is no room for ", nbytes,
                            " bytes and a signal pad; pass more bytes to railshmem.symm_mem.enable()"));
    clear(static_cast<char*>(memory) + aligned(nbytes), pad_nbytes());
    const std::lock_guard lock(mutex_);
    blocks_[reinterpret_cast<uintptr_t>(memory)] = {nbytes, group, {}};
    return memory;
  }
  void free(void* memory) override {
    {
      const std::lock_guard lock(mutex_);
      blocks_.erase(reinterpret_cast<uintptr_t>(memory));
    }
    pool_.give_back(memory, 0, -1, nullptr);  // Nothing waits here: Python's garbage collector may drop a tensor.
  }
  size_t get_alloc_size(void* memory) override {
    const std::lock_guard lock(mutex_);
    return find(memory)->second.nbytes;
  }

  /// Collective over the group. Members may have the memory at any places of their pools.
  c10::intrusive_ptr<symm::SymmetricMemory> rendezvous(void* memory, const std::optional<std::string>& named) override {
    pool_.require_running("rendezvous");
    std::string group;
    Card mine{};
    uintptr_t begin = 0;
    int me = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto block = find(memory);
      begin = block->first;
      mine = {begin - pool_.begin, block->second.nbytes, offset(memory, begin), pool_.pe};
      TORCH_CHECK_VALUE(named || block->second.group, "railshmem.symm_mem: rendezvous: no group is named; pass one");
      group = named ? *named : *block->second.group;
      const auto known = block->second.groups.find(group);
      if (known != block->second.groups.end() && known->second->get_offset() == offset(memory, begin))
        return known->second;
    }
    const std::vector<Card> cards = exchange(mine, group, me);
    // Each member compares all cards, so that all of them raise, with Python's lock as the call had it.
    const std::string wrong = difference(cards, me);
    TORCH_CHECK_VALUE(wrong.empty(), joined("railshmem.symm_mem: rendezvous: ", wrong));
    auto shared = map(cards, me);
    const std::lock_guard lock(mutex_);
    find(memory)->second.groups[group] = shared;
    return shared;
  }
  bool has_multicast_support(int) override { return false; }
  c10::DeviceType supported_device_type() override { return pool_.device().type(); }
  std::string name() override { return "RAILSHMEM"; }

 private:
  struct Block {
    size_t nbytes;
    std::optional<std::string> group;
    std::map<std::string, c10::intrusive_ptr<Memory>> groups;
  };
  using Blocks = std::map<uintptr_t, Block>;

  static size_t offset(const void* memory, uintptr_t begin) { return reinterpret_cast<uintptr_t>(memory) - begin; }
  Blocks::iterator find(void* memory) {
    const auto address = reinterpret_cast<uintptr_t>(memory);
    auto block = blocks_.upper_bound(address);
    const bool there = block != blocks_.begin() && address - std::prev(block)->first <= std::prev(block)->second.nbytes;
    TORCH_CHECK_VALUE(there, "railshmem.symm_mem: the tensor is not of torch.distributed._symmetric_memory.empty()");
    return std::prev(block);
  }

  /// The cards of all members by rank; me becomes this process's rank.
  std::vector<Card> exchange(const Card& mine, const std::string& name, int& me) {
    int members = 0;
    c10::intrusive_ptr<c10d::Store> store;
    {
      const py::gil_scoped_acquire gil;
      std::tie(me, members, store) = meeting_(name).cast<std::tuple<int, int, c10::intrusive_ptr<c10d::Store>>>();
    }
    std::vector<Card> cards(members);
    const Released released;
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&mine);
    store->set(std::to_string(me), std::vector<uint8_t>(bytes, bytes + sizeof mine));
    for (int rank = 0; rank < members; ++rank) {
      const std::vector<uint8_t> told = store->get(std::to_string(rank));
      TORCH_CHECK(told.size() == sizeof mine,
                  joined("railshmem.symm_mem: rendezvous: rank ", rank, " told ", told.size(), " bytes"));
      std::memcpy(&cards[rank], told.data(), sizeof mine);
    }
    return cards;
  }
  /// What the members must have equal and do not; empty: nothing.
  static std::string difference(const std::vector<Card>& cards, int me) {
    const std::string sizes = unequal(cards, me, &Card::nbytes, " bytes", "all members must pass tensors of one size");
    if (!sizes.empty()) return sizes;
    return unequal(cards, me, &Card::inside, " bytes before the tensor in its allocation",
                   "operators would read another place there; make and drop tensors of equal sizes in one order");
  }
  /// Names all ranks that have another value than this one.
  static std::string unequal(const std::vector<Card>& cards, int me, uint64_t Card::*value, const char* of,
                             const char* remedy) {
    std::string others;
    for (size_t rank = 0; rank < cards.size(); ++rank)
      if (cards[rank].*value != cards[me].*value)
        others += joined("rank ", rank, " has ", cards[rank].*value, of, ", ");
    return others.empty() ? others : joined(others, "and rank ", me, " has ", cards[me].*value, "; ", remedy);
  }
  c10::intrusive_ptr<Memory> map(const std::vector<Card>& cards, int me) {
    std::vector<void*> buffers;
    for (size_t rank = 0; rank < cards.size(); ++rank) {
      void* const there = pool_.peer(reinterpret_cast<void*>(pool_.begin), static_cast<int>(cards[rank].pe));
      TORCH_CHECK(there != nullptr,
                  joined("railshmem.symm_mem: rendezvous: the memory of rank ", rank, " (PE ", cards[rank].pe,
                         ") is not mapped here, as that of another node; use a group of one node, or "
                         "railshmem.torch.put and get"));
      buffers.push_back(static_cast<char*>(there) + cards[rank].offset);
    }
    const Card& mine = cards[me];
    if (!pool_.signals) return c10::make_intrusive<HostMemory>(pool_, std::move(buffers), mine.nbytes, mine.inside, me);
    const Released released;
    return c10::make_intrusive<GpuMemory>(pool_, std::move(buffers), mine.nbytes, mine.inside, me);
  }
  /// A GPU may still work on what was there before, so its work is done first.
  void clear(char* pad, size_t nbytes) {
    if (!pool_.signals) {
      std::memset(pad, 0, nbytes);
      return;
    }
    const Released released;
    pool_.signals->throw_report();
    pool_.signals->synchronize();
    const auto on_gpu = at::TensorOptions().dtype(at::kByte).device(pool_.device());
    at::for_blob(pad, {static_cast<int64_t>(nbytes)})
        .options(on_gpu)
        .target_device(pool_.device())
        .make_tensor()
        .zero_();
    pool_.signals->synchronize();
  }

  const Pool pool_;
  const py::function meeting_;
  std::mutex mutex_;  ///< guards blocks_
  Blocks blocks_;     ///< by address
};

/// device: of the GPU; -1 for memory of the host.
void enable(uintptr_t take, uintptr_t give_back, uintptr_t peer, uintptr_t query_initialized, uintptr_t begin, int pe,
            double limit_s, int device, py::function meeting) {
  const Pool pool{reinterpret_cast<decltype(Pool::take)>(take),
                  reinterpret_cast<decltype(Pool::give_back)>(give_back),
                  reinterpret_cast<decltype(Pool::peer)>(peer),
                  reinterpret_cast<decltype(Pool::query_initialized)>(query_initialized),
                  begin,
                  pe,
                  limit_s,
                  device < 0 ? nullptr : new Signals(device)};
  if (pool.signals)
    py::module_::import("atexit").attr("register")(
        py::cpp_function([signals = pool.signals] { signals->print_report(); }));
  auto allocator = c10::make_intrusive<Allocator>(pool, std::move(meeting));
  symm::register_availability("RAILSHMEM", std::move(allocator));
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("enable", enable);
}
