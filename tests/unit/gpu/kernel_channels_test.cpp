// SPDX-License-Identifier: BSD-3-Clause
// What kernels and host share, on the fake driver: its "GPU" memory is the host's, so this thread can play the kernel.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "src/gpu/kernel_channels.h"
#include "src/gpu/kernel_watch.h"
#include "tests/gpu/fake_driver/fake_driver.h"

namespace railshmem {
namespace {

constexpr size_t kRings = 3;
constexpr uint32_t kLog2Slots = 6;

/// A GPU with channels; `view` is what its kernels see.
struct Kernels {
  explicit Kernels(size_t rings = kRings)
      : gpu(cuda::DeviceContext::primary(fake.driver(), 0)), copies(gpu), device(allocate(rings)) {
    channels.emplace(gpu, copies, device, rings, kLog2Slots);
    channels->add_to(view);
  }
  ~Kernels() {
    channels.reset();
    fake.release(device);
  }
  std::byte* allocate(size_t rings) {
    const size_t nbytes = KernelChannels::device_nbytes(rings, kLog2Slots);
    std::byte* const memory = fake.allocate(nbytes);
    std::memset(memory, 0, nbytes);
    return memory;
  }
  void leave_fault(ChannelStatus status, int pe) {
    view.fault->status = static_cast<uint64_t>(status);
    view.fault->pe = pe;
    view.fault->call = DeviceCall::put;
    view.fault->block = 7;
    view.fault->thread = 9;
    __atomic_store_n(&view.fault->ready, 1, __ATOMIC_RELEASE);
  }

  cuda::FakeDriver fake;
  cuda::DeviceContext gpu;
  cuda::DeviceCopies copies;
  std::byte* device;
  std::optional<KernelChannels> channels;
  WorldView view;
};

TEST(KernelChannels, EachHasRingAndCellsOfItsOwn) {
  Kernels k;
  ASSERT_EQ(k.view.nchannels, kRings);
  for (size_t i = 0; i < kRings; ++i) {
    const ChannelView& view = k.view.channels[i];
    ASSERT_EQ(view.ring.log2_slots, kLog2Slots);
    ASSERT_EQ(view.ring.doorbell, nullptr);
    ASSERT_GE(size_t{1} << view.replies.log2_cells, size_t{2} << kLog2Slots);
    // Written to its end, it is still nobody else's.
    std::memset(view.ring.slots, static_cast<int>(i + 1), sizeof(Slot) << kLog2Slots);
    std::memset(view.replies.cells, static_cast<int>(i + 1), sizeof(ReplyCells::Cell) << view.replies.log2_cells);
    std::memset(view.replies.taken, static_cast<int>(i + 1), sizeof(uint32_t) << view.replies.log2_cells);
    *view.ring.head = i + 1;
  }
  for (size_t i = 0; i < kRings; ++i) {
    const ChannelView& view = k.view.channels[i];
    const auto value = static_cast<unsigned char>(i + 1);
    EXPECT_EQ(*reinterpret_cast<unsigned char*>(view.ring.slots), value);
    EXPECT_EQ(*reinterpret_cast<unsigned char*>(view.replies.cells), value);
    EXPECT_EQ(*reinterpret_cast<unsigned char*>(view.replies.taken), value);
    EXPECT_EQ(*view.ring.head, i + 1);
    EXPECT_EQ(k.channels->channels()[i]->in_flight(), 0u);
  }
  EXPECT_EQ(*k.view.fault_taken, 0u);
  EXPECT_EQ(*k.view.error, 0u);
}

TEST(KernelChannels, EachHasPayloadSlotsOfItsOwn) {
  cuda::FakeDriver fake;
  cuda::DeviceContext gpu = cuda::DeviceContext::primary(fake.driver(), 0);
  cuda::DeviceCopies copies(gpu);
  const cuda::PinnedMemory pinned(gpu, 4096 + kRings * PayloadMemory::nbytes(1));
  const std::span<std::byte> memory{pinned.host() + 4096, pinned.nbytes() - 4096};  // inside what was pinned
  const size_t device_nbytes = KernelChannels::device_nbytes(kRings, kLog2Slots);
  std::byte* const device = fake.allocate(device_nbytes);
  std::memset(device, 0, device_nbytes);
  {
    const KernelChannels channels(gpu, copies, device, kRings, kLog2Slots, {memory, 1});
    WorldView view;
    channels.add_to(view);
    for (size_t i = 0; i < kRings; ++i) {
      const PayloadView& large = view.channels[i].payloads[static_cast<int>(PayloadSize::large)];
      EXPECT_EQ(large.log2_slots, 1u);
      const Command command{.op = CommandOp::put_payload,
                            .nbytes = kLargePayload,
                            .local = 3,
                            .value = payload_name(PayloadSize::large, 1)};
      std::byte* const data = channels.channels()[i]->payload(command);
      ASSERT_EQ(data, reinterpret_cast<std::byte*>(large.slots) + payload_stride(PayloadSize::large) + 3);
      ASSERT_LE(data + kLargePayload, memory.data() + (i + 1) * PayloadMemory::nbytes(1));
      const Command get{.op = CommandOp::get_payload, .nbytes = kLargePayload, .local = 3, .value = kGetSlots - 1};
      const GetSlots& gets = view.channels[i].gets;
      std::byte* const place = channels.channels()[i]->get_place(get);
      ASSERT_EQ(place,
                reinterpret_cast<std::byte*>(gets.slots) + (kGetSlots - 1) * payload_stride(PayloadSize::large) + 3);
      ASSERT_LE(place + kLargePayload, memory.data() + (i + 1) * PayloadMemory::nbytes(1));
      for (uint32_t slot = 0; slot < kGetSlots; ++slot) ASSERT_EQ(gets.taken[slot]++, 0u);
      for (const PayloadView& pool : view.channels[i].payloads) {
        ASSERT_EQ(*pool.head, 0u);
        *pool.head = i + 1;
        pool.freed_seen->count = i + 1;
        EXPECT_EQ(*pool.freed, 0u);
      }
    }
    for (size_t i = 0; i < kRings; ++i) {
      EXPECT_EQ(*view.channels[i].ring.head, 0u);
      for (uint32_t slot = 0; slot < kGetSlots; ++slot) EXPECT_EQ(view.channels[i].gets.taken[slot], 1u);
      for (const PayloadView& pool : view.channels[i].payloads)
        EXPECT_EQ(*pool.head + pool.freed_seen->count, 2 * i + 2);
    }
  }
  fake.release(device);
}

TEST(KernelChannels, AFailureEndsWaitsOnEveryChannelAndOnNone) {
  Kernels k;
  k.channels->fail(ChannelStatus::peer_lost);
  k.channels->fail(ChannelStatus::timeout);  // the first reason stays
  EXPECT_EQ(*k.view.error, static_cast<uint64_t>(ChannelStatus::peer_lost));
  for (const Channel* channel : k.channels->channels()) EXPECT_EQ(channel->status(), ChannelStatus::peer_lost);
}

TEST(KernelChannels, AFaultIsTakenOnce) {
  Kernels k(0);
  EXPECT_EQ(k.view.nchannels, 0u);
  EXPECT_EQ(k.channels->take_fault(), nullptr);
  k.leave_fault(ChannelStatus::bad_pe, 12);
  const FaultRecord* const fault = k.channels->take_fault();
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->pe, 12);
  EXPECT_EQ(k.channels->take_fault(), nullptr);
}

TEST(KernelWatch, SaysWhichCallOfWhichThreadFailed) {
  FaultRecord fault{};
  fault.status = static_cast<uint64_t>(ChannelStatus::bad_pe);
  fault.pe = 12;
  fault.call = DeviceCall::put_signal;
  fault.block = 7;
  fault.thread = 9;
  EXPECT_EQ(describe(fault, 4, ""),
            "shmem_put_signal in a kernel (block 7, thread 9): PE 12 does not exist there; this job has PEs 0 to 3");
  fault.status = static_cast<uint64_t>(ChannelStatus::peer_lost);
  EXPECT_EQ(describe(fault, 4, "PE 2 has died"),
            "shmem_put_signal in a kernel (block 7, thread 9): PE 2 has died; see that PE's own output");
}

using KernelWatchDeathTest = testing::Test;

TEST(KernelWatchDeathTest, AFaultOfAKernelEndsTheJob) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Kernels k;
        KernelWatch watch(*k.channels, 0, 4, [] { return std::nullopt; });
        k.leave_fault(ChannelStatus::bad_pe, 12);
        std::this_thread::sleep_for(std::chrono::seconds(20));
      },
      testing::ExitedWithCode(1), "shmem_put in a kernel \\(block 7, thread 9\\): PE 12 does not exist");
}

TEST(KernelWatch, ADeadPeerEndsTheWaitsOfKernels) {
  Kernels k;
  KernelWatch watch(*k.channels, 0, 4, [] { return std::optional<std::string>("PE 2 has died"); });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (__atomic_load_n(k.view.error, __ATOMIC_ACQUIRE) == 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  EXPECT_EQ(*k.view.error, static_cast<uint64_t>(ChannelStatus::peer_lost));
}

}  // namespace
}  // namespace railshmem
