// SPDX-License-Identifier: BSD-3-Clause
// Memory of GPUs that rails reach themselves: which bytes, and what becomes of transfers from and to them.
#include "src/proxy/rails/direct_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "tests/support/late_copier.h"
#include "tests/support/scripted_rail.h"
#include "tests/support/staged_rig.h"

namespace railshmem::test {
namespace {

constexpr size_t kGpuExtent = 1 << 16;
constexpr int kTargets = 4, kAbsent = 3;  ///< the PE that stages its memory

/// Addresses where the CPU faults, as it does on a GPU's.
class Gpu {
 public:
  Gpu() : base_(mmap(nullptr, kNbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Gpu() { munmap(base_, kNbytes); }
  std::byte* base() const { return static_cast<std::byte*>(base_); }
  static constexpr size_t kNbytes = 8 * kGpuExtent;

 private:
  void* base_;
};

/// Extents at 0 and 1, which adjoin, and at 4.
DirectMemory extents_of(const Gpu& gpu) {
  DirectMemory direct;
  for (const size_t at : {size_t{0}, kGpuExtent, 4 * kGpuExtent})
    direct.add({at, gpu.base() + at, kGpuExtent}, {true, true, true, at == 0}, true);
  return direct;
}

TEST(DirectMemory, IsASegmentForEachExtent) {
  const Gpu gpu;
  const DirectMemory direct = extents_of(gpu);
  Remote place{1, SegmentId::device, kGpuExtent + 100};
  EXPECT_EQ(direct.redirect(place), kGpuExtent - 100);
  EXPECT_EQ(place.segment, segment_of_extent(1));
  EXPECT_EQ(place.offset, 100u);
}

TEST(DirectMemory, CoversWhatExtentsOfThatPeReachOneBehindTheOther) {
  const Gpu gpu;
  const DirectMemory direct = extents_of(gpu);
  const auto covered = [&](int pe, uint64_t offset, size_t n) {
    return direct.covered(Remote{pe, SegmentId::device, offset}, n);
  };
  EXPECT_EQ(covered(1, 8, 16), 16u);
  EXPECT_EQ(covered(1, 8, 2 * kGpuExtent), 2 * kGpuExtent - 8) << "behind the second extent there is a gap";
  EXPECT_EQ(covered(kAbsent, 8, 2 * kGpuExtent), kGpuExtent - 8) << "this PE stages the second extent";
  EXPECT_EQ(covered(1, 3 * kGpuExtent, 8), 0u);
  EXPECT_EQ(direct.covered(gpu.base() + 4 * kGpuExtent, 2 * kGpuExtent), kGpuExtent);
  EXPECT_EQ(direct.covered(gpu.base() - 1, 8), 0u);
}

TEST(DirectMemory, ClipsAtTheNearerBorder) {
  const Gpu gpu;
  const DirectMemory direct = extents_of(gpu);
  Remote place{1, SegmentId::device, kGpuExtent - 64};
  EXPECT_EQ(direct.clip(place, gpu.base() + kGpuExtent - 32, 1000), 32u);
  place = {1, SegmentId::device, kGpuExtent - 64};
  EXPECT_EQ(direct.clip(place, nullptr, 1000), 64u) << "the local memory is the host's";
  place = {1, SegmentId::heap, 5};
  EXPECT_EQ(direct.clip(place, gpu.base() + kGpuExtent - 32, 1000), 32u);
  EXPECT_EQ(place.segment, SegmentId::heap);
}

TEST(DirectMemory, FlushesWhatAGetBroughtOnlyWhereTheDriverMust) {
  const Gpu gpu;
  DirectMemory direct = extents_of(gpu);
  EXPECT_FALSE(direct.takes_gets()) << "nobody has said how";
  int flushes = 0;
  DeviceFlush device;
  device.state = &flushes;
  device.run = [](void* count) noexcept { return (++*static_cast<int*>(count), 0); };
  direct.use_flush({FlushPolicy::cuda, &device});
  EXPECT_TRUE(direct.takes_gets());
  direct.got(gpu.base() + 5);
  EXPECT_EQ(flushes, 1);
  std::byte host{};
  direct.got(&host);
  EXPECT_EQ(flushes, 1);
  direct.use_flush({FlushPolicy::none, &device});
  direct.got(gpu.base());
  EXPECT_EQ(flushes, 1);
  direct.use_flush({FlushPolicy::read, &device});
  EXPECT_FALSE(direct.takes_gets()) << "a get would need a read of its own behind it";
}

/// One PE whose device heap is staged to the CPU and known to its rails, which look at no data.
struct DirectRig {
  explicit DirectRig(size_t nrails = 1, const RailTraits& shape = {64, 1 << 20, 4096, true, true})
      : rails(nrails), direct(extents_of(gpu)) {
    direct.use_flush({});
    for (ScriptedRail& rail : rails) rail.shape = shape, rail.looks = false;
    const Segment segments[] = {{SegmentId::heap, reinterpret_cast<std::byte*>(heap.data()), heap.size() * 8},
                                {SegmentId::device, gpu.base(), Gpu::kNbytes, MemoryKind::staged}};
    staging.emplace(
        segments, [](auto) { return std::make_unique<LateCopier>(5); }, staged_tuning(), nrails);
    InitiatorConfig config{.port = Port::host, .pe = 0, .npes = kTargets, .cells = 64, .tuning = staged_tuning()};
    config.staging = &staging->source(Port::host);
    config.direct = &direct;
    initiator.emplace(std::span(rails), config);
    context = &initiator->add_context();
  }
  ~DirectRig() { initiator->forget_all(); }

  bool goes_direct(Op& op) {
    initiator->choose_route(op);
    return op.is_direct;
  }
  Op put(const std::byte* from, SegmentId segment, uint64_t offset, size_t nbytes, int pe = 1) {
    return put_op(*context, {pe, segment, offset}, from, nbytes, Local::lent);
  }
  void turns() {
    for (int i = 0; i < 50; ++i) initiator->poll([](size_t, const std::byte*, size_t) {});
  }

  Gpu gpu;
  std::vector<uint64_t> heap = std::vector<uint64_t>(kGpuExtent / 8);
  std::vector<ScriptedRail> rails;
  DirectMemory direct;
  std::optional<Staging> staging;
  std::optional<Initiator<ScriptedRail>> initiator;
  NetContext* context = nullptr;
};

TEST(DirectTransfer, GoesFromGpuToGpuInOneWriteThatNobodyCopies) {
  DirectRig rig;
  Op op = rig.put(rig.gpu.base() + 8, SegmentId::device, kGpuExtent, 8);
  ASSERT_TRUE(rig.goes_direct(op));
  EXPECT_EQ(op.route, Route::whole);
  EXPECT_TRUE(op.local_is_far);
  ASSERT_EQ(rig.initiator->issue(op), Post::ok);
  ASSERT_EQ(rig.rails[0].posted.size(), 1u);
  const auto& write = rig.rails[0].posted[0];
  EXPECT_EQ(write.what, 'w');
  EXPECT_EQ(write.remote.segment, segment_of_extent(1));
  EXPECT_EQ(write.remote.offset, 0u);
  EXPECT_EQ(write.local, rig.gpu.base() + 8);
  rig.rails[0].complete(write.slot);
  rig.turns();
  EXPECT_EQ(rig.context->pending(), 0u);
}

TEST(DirectTransfer, AShortPutSignalFromAGpuIsAWriteAndThenAMessage) {
  DirectRig rig;
  Op op = rig.put(rig.gpu.base(), SegmentId::device, 0, 16);
  op.kind = OpKind::put_signal;
  op.detail.signal = {SegmentId::device, 64, 7, SignalOp::set};
  ASSERT_TRUE(rig.goes_direct(op));
  ASSERT_EQ(rig.initiator->issue(op), Post::ok);
  ASSERT_GE(rig.rails[0].posted.size(), 1u);
  EXPECT_EQ(rig.rails[0].posted[0].what, 'w');
  rig.rails[0].complete(rig.rails[0].posted[0].slot);
  rig.turns();
  ASSERT_EQ(rig.rails[0].count('s'), 1);
  const auto message = read_message<SignalMessage>(rig.rails[0].posted[1].bytes.data());
  EXPECT_EQ(message.header.kind, MessageKind::signal);
  EXPECT_EQ(message.header.segment, SegmentId::device) << "words are as staged memory's";
  EXPECT_EQ(message.offset, 64u);
}

TEST(DirectTransfer, WhatAMessageBringsAnywayStaysInIt) {
  DirectRig rig;
  const Op put = rig.put(reinterpret_cast<std::byte*>(rig.heap.data()), SegmentId::device, 0, 16);
  Op op = put;
  op.kind = OpKind::put_signal;
  EXPECT_FALSE(rig.goes_direct(op));
  EXPECT_EQ(op.route, Route::message);
  op = put;
  EXPECT_TRUE(rig.goes_direct(op)) << "a put of these bytes";
}

TEST(DirectTransfer, AcrossExtentsGoesInParts) {
  DirectRig rig;
  constexpr size_t kLong = 20000;
  Op op = rig.put(rig.gpu.base() + 4 * kGpuExtent, SegmentId::device, kGpuExtent - 12000, kLong);
  ASSERT_TRUE(rig.goes_direct(op));
  EXPECT_EQ(op.route, Route::pieces);
  EXPECT_TRUE(op.across_pieces);
  ASSERT_EQ(rig.initiator->issue(op), Post::ok);
  rig.turns();
  size_t nbytes = 0;
  for (const auto& write : rig.rails[0].posted) {
    const bool first = nbytes < 12000;
    EXPECT_EQ(write.remote.segment, segment_of_extent(first ? 0 : 1));
    EXPECT_EQ(write.remote.offset, first ? kGpuExtent - 12000 + nbytes : nbytes - 12000);
    EXPECT_EQ(write.local, rig.gpu.base() + 4 * kGpuExtent + nbytes);
    nbytes += write.nbytes;
    EXPECT_FALSE(first && nbytes > 12000);
    rig.rails[0].complete(write.slot);
  }
  EXPECT_EQ(nbytes, kLong);
  rig.turns();
  EXPECT_EQ(rig.context->pending(), 0u);
}

TEST(DirectTransfer, OthersAreStaged) {
  DirectRig rig;
  const auto staged = [&](Op op) { return !rig.goes_direct(op) && op.route >= Route::message; };
  std::byte* const host = reinterpret_cast<std::byte*>(rig.heap.data());
  EXPECT_TRUE(staged(rig.put(host, SegmentId::device, 3 * kGpuExtent, 8))) << "no rail knows that memory";
  EXPECT_TRUE(staged(rig.put(host, SegmentId::device, kGpuExtent, 8, kAbsent))) << "nor this of that PE";
  EXPECT_TRUE(staged(rig.put(rig.gpu.base() + 3 * kGpuExtent, SegmentId::heap, 0, 8))) << "nor that of this PE";
  EXPECT_TRUE(staged(rig.put(host, SegmentId::device, kGpuExtent - 8, 16))) << "short, and across extents";
  rig.direct.use_flush({FlushPolicy::read, nullptr});
  Op get = rig.put(rig.gpu.base(), SegmentId::device, 0, 8);
  get.kind = OpKind::get;
  EXPECT_TRUE(staged(get)) << "only a further read would show what came";
  get.local = host;
  EXPECT_FALSE(staged(get));
}

TEST(DirectTransfer, GetsThatTravelAsMessagesAreStaged) {
  DirectRig rig(2, {64, 1 << 20, 4096, true, true, /*reads_may_fail=*/false});
  Op get = rig.put(reinterpret_cast<std::byte*>(rig.heap.data()), SegmentId::device, 0, 8);
  get.kind = OpKind::get;
  EXPECT_FALSE(rig.goes_direct(get));
}

}  // namespace
}  // namespace railshmem::test
