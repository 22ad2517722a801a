// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/peer_buffers.h"

#include <time.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/cuda/context_guard.h"
#include "src/gpu/share_messages.h"

namespace railshmem {
namespace {

// Where a peer must close a freed block first. Asking costs some 100 us.
constexpr uint64_t kAskAgainNs = 10'000'000;
constexpr uint64_t kCapturePatienceNs = 200'000'000;  // a capture is made once and replayed often

/// What a PE tells the others at the start.
struct NodeDescriptor {
  uint64_t heaps = 0;  ///< where it has reserved addresses for the heaps of its node
  MailAddress mail;
};

}  // namespace

/// One holder of an allocation, or none.
class PeerBuffers::Hold {
 public:
  Hold() = default;
  Hold(PeerBuffers& owner, Shared allocation) noexcept : owner_(&owner), allocation_(std::move(allocation)) {}
  Hold(Hold&& other) noexcept : owner_(other.owner_), allocation_(std::move(other.allocation_)) {}
  ~Hold() {
    if (allocation_) owner_->let_go(*allocation_, ShareClient::Withdrawal::waits);
  }
  explicit operator bool() const noexcept { return allocation_ != nullptr; }
  const Shared& share() const noexcept { return allocation_; }
  /// Somebody else is the holder from here on.
  void give_away() noexcept { allocation_ = nullptr; }
  SharedAllocation& operator*() const noexcept { return *allocation_; }

 private:
  PeerBuffers* owner_ = nullptr;
  Shared allocation_;
};

PeerBuffers::PeerBuffers(DeviceMemory& memory, Bootstrap& bootstrap, const NodeLayout& layout, PeerBuffersConfig config)
    : memory_(memory),
      layout_(layout),
      local_(memory.gpu()),
      imports_(memory.gpu()),
      allocations_(memory.gpu(), layout.members.size()),
      graphs_([this] {
        if (mailbox_) mailbox_->wake();
      }),
      has_graphs_(cuda::has(memory.gpu().driver(), cuda::Calls::graphs)) {
  if (memory.reaches_node() && layout.members.size() > 1) open_mailbox();
  make_client(bootstrap, config);
}

PeerBuffers::~PeerBuffers() {
  graphs_.silence();
  mailbox_.reset();
}

/// Where there can be no mailbox, peers that ask are told so by the address.
void PeerBuffers::open_mailbox() {
  try {
    MailWork work;
    work.begin = [this] { cuda::adopt_thread(gpu()); };
    work.answer = [this](std::span<const std::byte> message) { return answer(message); };
    work.woken = [this] { take_notes(ShareClient::Withdrawal::only_notifies); };
    mailbox_ = std::make_unique<Mailbox>(std::move(work), "railshmem-peers");
  } catch (const std::exception& error) {
    log_warn("peers of this node cannot share buffers with this PE: %s", error.what());
  }
}

void PeerBuffers::make_client(Bootstrap& bootstrap, const PeerBuffersConfig& config) {
  NodeDescriptor mine{reinterpret_cast<uintptr_t>(memory_.arena().base()), {}};
  if (mailbox_) mine.mail = mailbox_->address();
  const std::vector<NodeDescriptor> descriptors = exchange(bootstrap, mine);
  std::vector<Addressee> by_slot;
  for (size_t slot = 0; slot < layout_.members.size(); ++slot) {
    const int pe = layout_.members[slot];
    const NodeDescriptor& descriptor = descriptors[static_cast<size_t>(pe)];
    const bool maps = slot == my_slot() || memory_.reaches_node();
    heap_at_slot_.push_back(maps ? descriptor.heaps + my_slot() * memory_.arena().stride() : 0);
    by_slot.push_back({descriptor.mail, text("PE %d", pe), config.patience_ns, config.death});
  }
  client_ = std::make_unique<ShareClient>(bootstrap.pe(), std::move(by_slot), memory_.offers());
}

/// In the mailbox's thread.
Mail PeerBuffers::answer(std::span<const std::byte> message) {
  ShareMessage what{};
  std::span<const std::byte> rest = message;
  if (!take(rest, what)) throw Error("a message without a kind");
  rest = message;
  Mail reply;
  ImportRequest request;
  if (what == ShareMessage::import && take(rest, request)) {
    std::vector<cuda::ShareDescriptor> descriptors(std::min<size_t>(request.ndescriptors, kDescriptorsPerMessage));
    for (cuda::ShareDescriptor& descriptor : descriptors)
      if (!take(rest, descriptor)) throw Error("a message that ends early");
    append(reply, imports_.import(request, descriptors));
    return reply;
  }
  WithdrawRequest gone;
  if (what != ShareMessage::withdraw || !take(rest, gone)) throw Error("a message of no known kind");
  append(reply, WithdrawAnswer{imports_.withdraw(gone.pe, gone.number) ? 1u : 0u});
  return reply;
}

size_t PeerBuffers::slot_of(int pe) const {
  const auto found = std::lower_bound(layout_.members.begin(), layout_.members.end(), pe);
  if (found == layout_.members.end() || *found != pe)
    throw Error(text("PE %d is on another node, which cannot map memory of this one", pe));
  return static_cast<size_t>(found - layout_.members.begin());
}

bool PeerBuffers::find_in_heap(std::span<const int> pes, const void* address, size_t nbytes, PeerView& view) const {
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(address) - memory_.base());
  if (offset >= memory_.nbytes() || nbytes > memory_.nbytes() - offset) return false;
  for (size_t i = 0; i < pes.size(); ++i) {
    const uint64_t base = heap_at_slot_[slot_of(pes[i])];
    if (base == 0) return true;
    view.at_peer[i] = base + offset;
  }
  view.where = PeerView::Where::heap;
  return true;
}

PeerView PeerBuffers::find(std::span<const int> pes, const void* address, size_t nbytes) {
  PeerView view;
  if (pes.size() > PeerView::kMost || find_in_heap(pes, address, nbytes, view)) return view;
  if (const Hold allocation = registered(address, nbytes)) fill(*allocation, pes, address, view);
  return view;
}

PeerView PeerBuffers::find_captured(std::span<const int> pes, const void* address, size_t nbytes, cuda::Stream stream) {
  PeerView view;
  if (pes.size() > PeerView::kMost || find_in_heap(pes, address, nbytes, view)) return view;
  const CapturedGraph graph = captured_graph(gpu(), stream);
  take_notes(ShareClient::Withdrawal::only_notifies);
  close_withdrawn();
  const Hold by_program = registered(address, nbytes);
  const Hold by_itself = by_program ? Hold() : shared_for_graph(address, nbytes);
  const Hold& allocation = by_program ? by_program : by_itself;
  if (!allocation || !is_held_by_graph(*allocation, graph)) return view;
  // A peer that cannot map the buffer yet would make the graph go through scratch memory forever.
  for (const uint64_t end = now_ns() + kCapturePatienceNs;;) {
    if (fill(*allocation, pes, address, view) != SharedAllocation::kAsked || now_ns() >= end) return view;
    const timespec ms{0, 1'000'000};
    nanosleep(&ms, nullptr);
    close_withdrawn();  // or two PEs that capture would each wait for the other's
  }
}

PeerView PeerBuffers::find(std::span<const int> pes, const void* address, size_t nbytes, cuda::Stream stream) {
  PeerView view;
  if (pes.size() > PeerView::kMost || find_in_heap(pes, address, nbytes, view)) return view;
  return is_captured(stream) ? find_captured(pes, address, nbytes, stream) : find(pes, address, nbytes);
}

bool PeerBuffers::is_captured(cuda::Stream stream) const {
  return has_graphs_ && find_captured_graph(gpu(), stream).has_value();
}

PeerBuffers::Hold PeerBuffers::registered(const void* address, size_t nbytes) {
  const std::lock_guard locked(mutex_);
  const RegisteredRanges::Range* const range = ranges_.find(address, nbytes);
  if (range == nullptr) return {};
  if (!range->allocation->memory.intact(cuda::address_of(address), nbytes))
    throw Error(
        text("%zu bytes at %p lie in a buffer that was freed while registered (%zu bytes at %p); call "
             "shmemx_coll_deregister(%p) before its memory is freed",
             nbytes, address, range->nbytes, static_cast<const void*>(range->begin),
             static_cast<const void*>(range->begin)));
  allocations_.hold_too(*range->allocation);
  return {*this, range->allocation};
}

/// None where the memory cannot be shared: collectives on it use scratch memory.
PeerBuffers::Hold PeerBuffers::shared_for_graph(const void* address, size_t nbytes) {
  try {
    require_no_heap(address);
    return {*this, allocations_.hold(address, nbytes)};
  } catch (const Error& error) {
    log_debug("a graph's buffer is not registered by itself: %s", error.what());
    return {};
  }
}

/// Whether the graph holds the allocation from here on. It does not where the driver has no room for that.
bool PeerBuffers::is_held_by_graph(SharedAllocation& allocation, const CapturedGraph& graph) {
  if (!allocations_.note_capture(allocation, graph.id)) return true;
  try {
    graphs_.hold(gpu(), graph.graph, allocation.number);
    return true;
  } catch (const std::exception& error) {
    allocations_.forget_capture(allocation);
    log_warn("a graph cannot hold the %zu bytes of %s at %#llx: %s; its collectives on them go through scratch memory",
             allocation.memory.nbytes(), name_of(allocation.memory.by()),
             static_cast<unsigned long long>(allocation.memory.start()), error.what());
    return false;
  }
}

/// Returns what the first peer said that does not map the allocation: kRefused or kAsked; kUnknown where all map it.
uint64_t PeerBuffers::fill(SharedAllocation& allocation, std::span<const int> pes, const void* address,
                           PeerView& view) {
  const uint64_t offset = cuda::address_of(address) - allocation.memory.start();
  for (size_t i = 0; i < pes.size(); ++i) {
    const uint64_t base = address_in_peer(allocation, slot_of(pes[i]));
    if (base <= SharedAllocation::kRefused) return base;
    view.at_peer[i] = base + offset;
  }
  view.where = PeerView::Where::registered;
  return SharedAllocation::kUnknown;
}

/// kRefused where the peer cannot map the allocation, kAsked where it cannot yet.
uint64_t PeerBuffers::address_in_peer(SharedAllocation& allocation, size_t slot) {
  if (slot == my_slot()) return allocation.memory.start();
  if (!memory_.reaches_node()) return SharedAllocation::kRefused;
  std::atomic<uint64_t>& at = allocation.at[slot];
  // acquire: pairs with the store below; the peer's mapping was complete before its answer.
  if (const uint64_t known = at.load(std::memory_order_acquire); known > SharedAllocation::kAsked) return known;
  const std::lock_guard asking(allocation.exchange);
  // relaxed: written under the lock
  if (const uint64_t known = at.load(std::memory_order_relaxed); known > SharedAllocation::kAsked) return known;
  if (now_ns() < allocation.ask_again_ns) return SharedAllocation::kAsked;
  at.store(SharedAllocation::kAsked, std::memory_order_relaxed);  // relaxed: it only tells let_go() whom to tell
  ShareClient::Answer answer = client_->import(allocation, slot);
  if (answer.later) {
    log_debug("%s cannot map a buffer yet: %s", client_->name(slot).c_str(), answer.why.c_str());
    allocation.ask_again_ns = now_ns() + kAskAgainNs;
    return SharedAllocation::kAsked;
  }
  if (answer.address == 0) {
    answer.address = SharedAllocation::kRefused;
    log_warn("%s cannot map the %zu bytes of %s at %#llx: %s; collectives on them go through scratch memory",
             client_->name(slot).c_str(), allocation.memory.nbytes(), name_of(allocation.memory.by()),
             static_cast<unsigned long long>(allocation.memory.start()), answer.why.c_str());
  }
  at.store(answer.address, std::memory_order_release);
  return answer.address;
}

std::string PeerBuffers::explain(const void* address, size_t nbytes) {
  if (memory_.contains(address)) return "symmetric heap";
  const std::lock_guard locked(mutex_);
  const RegisteredRanges::Range* const range = ranges_.find(address, nbytes);
  if (range == nullptr) return "not registered";
  return text("registered (%s)", name_of(range->allocation->memory.by()));
}

void PeerBuffers::add(void* address, size_t nbytes) {
  take_notes(ShareClient::Withdrawal::only_notifies);
  require_no_heap(address);
  const std::lock_guard locked(mutex_);
  ranges_.require_free(address, nbytes);
  Hold allocation{*this, allocations_.hold(address, nbytes)};
  ranges_.add(address, nbytes, allocation.share());
  allocation.give_away();
}

void PeerBuffers::remove(void* address) {
  take_notes(ShareClient::Withdrawal::only_notifies);
  bool in_use = imports_.has_withdrawn();
  {
    const std::lock_guard locked(mutex_);
    in_use |= ranges_.at(address).allocation->mapped_by_peers();
  }
  if (in_use) {
    wait_for_gpu();
    imports_.close_withdrawn();
  }
  std::unique_lock locked(mutex_);
  const Hold last{*this, ranges_.remove(address).allocation};
  locked.unlock();  // peers are told
}

void* PeerBuffers::allocate(size_t nbytes) {
  std::byte* const address = local_.allocate(nbytes);
  try {
    add(address, LocalMemory::rounded(gpu(), nbytes));
  } catch (...) {
    local_.release(address);
    throw;
  }
  return address;
}

void PeerBuffers::release(void* address) {
  local_.require(address);
  wait_for_gpu();
  imports_.close_withdrawn();
  std::unique_lock locked(mutex_);
  const RegisteredRanges::Range* const range = ranges_.find(address, 1);
  const bool is_registered = range != nullptr && range->begin == address;
  const Hold last = is_registered ? Hold{*this, ranges_.remove(address).allocation} : Hold();
  locked.unlock();
  local_.release(address);
}

/// Of this PE's own, or of a peer's.
void PeerBuffers::require_no_heap(const void* address) const {
  const std::span<const std::byte> heaps = memory_.addresses();
  if (static_cast<size_t>(static_cast<const std::byte*>(address) - heaps.data()) < heaps.size())
    throw Error(text("%p is symmetric memory, which needs no registration", address));
}

/// Blocks that peers have freed. The driver waits for this PE's kernels where it closes one.
void PeerBuffers::close_withdrawn() {
  if (!imports_.has_withdrawn()) return;
  const cuda::ContextGuard guard(gpu());
  imports_.close_withdrawn();
}

void PeerBuffers::wait_for_gpu() {
  const cuda::ContextGuard guard(gpu());
  gpu().check(gpu().driver().synchronize_context(), "cuCtxSynchronize");
}

void PeerBuffers::let_go(SharedAllocation& allocation, ShareClient::Withdrawal how) noexcept {
  std::vector<size_t> slots;
  for (size_t slot = 0; slot < allocation.at.size(); ++slot)
    // relaxed: whoever asked a peer was a holder, and has let go under the lock of allocations_.
    if (allocation.at[slot].load(std::memory_order_relaxed) != SharedAllocation::kUnknown) slots.push_back(slot);
  const uint64_t number = allocation.number;
  if (!allocations_.let_go(allocation)) return;
  for (const size_t slot : slots) client_->withdraw(number, slot, how);
}

/// Graphs that have gone let go what they held.
void PeerBuffers::take_notes(ShareClient::Withdrawal how) noexcept {
  for (const uint64_t number : graphs_.take_released())
    if (const Shared allocation = allocations_.of_number(number)) let_go(*allocation, how);
}

}  // namespace railshmem
