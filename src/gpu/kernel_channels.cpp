// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/kernel_channels.h"

#include "src/base/align.h"
#include "src/base/log.h"

namespace railshmem {

/// Offsets in both memories.
struct KernelChannels::Layout {
  static constexpr size_t kLine = 64;

  Layout(size_t n, uint32_t log2_slots) noexcept
      : slots(n), cells(size_t{2} << log2_slots), slot_bytes(sizeof(Slot) << log2_slots) {}

  // Twice as many cells as slots: a thread seldom waits for one.
  uint32_t log2_cells(uint32_t log2_slots) const noexcept { return log2_slots + 1; }

  // of pinned memory
  size_t ring(size_t i) const noexcept { return i * slot_bytes; }
  size_t consumer(size_t i) const noexcept { return ring(slots) + i * sizeof(ConsumerLine); }
  size_t reply(size_t i) const noexcept { return consumer(slots) + i * cells * sizeof(ReplyCells::Cell); }
  size_t fault() const noexcept { return align_up(reply(slots), kLine); }
  size_t error() const noexcept { return fault() + sizeof(FaultRecord); }
  size_t pinned_nbytes() const noexcept { return error() + kErrorLines * kErrorLineWords * sizeof(uint64_t); }

  // of the GPU's memory
  size_t producer(size_t i) const noexcept { return i * sizeof(ProducerLine); }
  size_t taken(size_t i) const noexcept { return producer(slots) + i * cells * sizeof(uint32_t); }
  size_t fault_taken() const noexcept { return align_up(taken(slots), kLine); }
  size_t payload_line(size_t i) const noexcept { return fault_taken() + kLine + i * sizeof(PayloadLine); }
  size_t views() const noexcept { return payload_line(slots); }
  size_t device_nbytes() const noexcept { return align_up(views() + slots * sizeof(ChannelView), kLine); }

  size_t slots;  ///< channels
  size_t cells;
  size_t slot_bytes;
};

size_t KernelChannels::device_nbytes(size_t n, uint32_t log2_slots) noexcept {
  return Layout(n, log2_slots).device_nbytes();
}

KernelChannels::KernelChannels(const cuda::DeviceContext& gpu, cuda::DeviceCopies& copies, std::byte* device, size_t n,
                               uint32_t log2_slots, const KernelPayloads& payloads)
    : pinned_(gpu, Layout(n, log2_slots).pinned_nbytes()) {
  const Layout layout(n, log2_slots);
  const auto nobody = [](void*) {};  // the blocks belong to pinned_ and to the heap
  std::byte* const data = payloads.memory.empty() ? nullptr : cuda::device_address(gpu, payloads.memory.data());
  if (!payloads.memory.empty() && data == nullptr)
    log_info("kernels have no address for their payload slots, so copy engines fetch what they put");
  std::vector<ChannelView> views;
  for (size_t i = 0; i < n; ++i) {
    ChannelMemory memory{{nullptr, nobody},
                         {nullptr, nobody},
                         {nullptr, nobody},
                         reinterpret_cast<Slot*>(pinned_.host() + layout.ring(i)),
                         reinterpret_cast<ProducerLine*>(device + layout.producer(i)),
                         reinterpret_cast<ConsumerLine*>(pinned_.host() + layout.consumer(i)),
                         log2_slots};
    const size_t payload = i * PayloadMemory::nbytes(payloads.log2_large);
    if (data != nullptr)
      memory.payloads = {payloads.memory.data() + payload,
                         reinterpret_cast<PayloadLine*>(device + layout.payload_line(i)), payloads.log2_large};
    channels_.push_back(std::make_unique<Channel>(std::move(memory)));
    pointers_.push_back(channels_.back().get());
    ChannelView view = channels_.back()->view();
    const auto to_device = [this](auto* host) {
      return reinterpret_cast<decltype(host)>(pinned_.device() +
                                              (reinterpret_cast<const std::byte*>(host) - pinned_.host()));
    };
    view.ring.slots = to_device(view.ring.slots);
    view.ring.consumed = to_device(view.ring.consumed);
    view.ring.error = to_device(view.ring.error);
    view.ring.doorbell = nullptr;  // kernels ring none
    view.completed = to_device(view.completed);
    view.replies = {reinterpret_cast<ReplyCells::Cell*>(pinned_.device() + layout.reply(i)),
                    reinterpret_cast<uint32_t*>(device + layout.taken(i)), layout.log2_cells(log2_slots)};
    for (PayloadView& pool : view.payloads) {
      if (pool.slots == nullptr) break;
      pool.slots += data - payloads.memory.data();
      pool.freed = to_device(pool.freed);
    }
    if (view.gets.slots != nullptr) view.gets.slots += data - payloads.memory.data();
    views.push_back(view);
  }
  if (!views.empty()) copies.copy(device + layout.views(), views.data(), views.size() * sizeof(ChannelView));
  views_ = reinterpret_cast<const ChannelView*>(device + layout.views());
  fault_taken_ = reinterpret_cast<uint32_t*>(device + layout.fault_taken());
  fault_ = reinterpret_cast<FaultRecord*>(pinned_.host() + layout.fault());
  error_ = reinterpret_cast<uint64_t*>(pinned_.host() + layout.error());
}

void KernelChannels::add_to(WorldView& view) const noexcept {
  view.channels = views_;
  view.nchannels = static_cast<uint32_t>(channels_.size());
  const auto to_device = [this](const auto* host) {
    return pinned_.device() + (reinterpret_cast<const std::byte*>(host) - pinned_.host());
  };
  view.fault = reinterpret_cast<FaultRecord*>(to_device(fault_));
  view.error = reinterpret_cast<const uint64_t*>(to_device(error_));
  view.fault_taken = fault_taken_;
}

void KernelChannels::fail(ChannelStatus why) noexcept {
  // A release: pairs with the acquire in Waiter::turn(), as in Channel::fail().
  for (uint32_t i = 0; i < kErrorLines; ++i)
    portable::set_once(error_ + i * kErrorLineWords, static_cast<uint64_t>(why));
  for (const auto& channel : channels_) channel->fail(why);
}

const FaultRecord* KernelChannels::take_fault() noexcept {
  // acquire: pairs with the release in record_fault(); what it stands for is there.
  if (portable::load_acquire(&fault_->ready) == 0) return nullptr;
  portable::store_relaxed(&fault_->ready, 0);
  return fault_;
}

}  // namespace railshmem
