// SPDX-License-Identifier: BSD-3-Clause
// Providers that copy more at once than a cell's buffer holds.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "src/proxy/engine.h"
#include "tests/support/engine_job.h"
#include "tests/support/host_calls.h"
#include "tests/support/scripted_rail.h"
#include "transports/loopback/fabric.h"

namespace railshmem::test {
namespace {

constexpr size_t kInject = 2 * kMaxMessage;

/// Every write is complete at the next poll.
class PromptRail : public ScriptedRail {
 public:
  size_t poll(std::span<RailEvent> out) noexcept {
    for (; done_ < posted.size(); ++done_)
      if (posted[done_].slot != nullptr) complete(posted[done_].slot);
    return ScriptedRail::poll(out);
  }

 private:
  size_t done_ = 0;
};

struct PromptHost {
  explicit PromptHost(size_t count) : rails(count) {
    for (PromptRail& rail : rails) rail.shape.inject = kInject;
    const InitiatorConfig config{Port::host, 0, 2, 8, {}};
    proxy.emplace(std::span<PromptRail>(&proxy_rail, 1), std::span<const Segment>(), config);
    host.emplace(std::span<PromptRail>(rails), config, HostConfig{HostThreads::one, true, 60}, *proxy, sleeper);
    context = host->make_context();
  }
  /// The memory that the only write took its bytes from.
  const std::byte* source_of_write() const {
    for (const PromptRail& rail : rails)
      for (const ScriptedRail::Posted& posted : rail.posted)
        if (posted.what == 'w') return posted.local;
    return nullptr;
  }
  std::vector<PromptRail> rails;
  PromptRail proxy_rail;
  Sleeper sleeper;
  std::optional<ProxySide<PromptRail>> proxy;
  std::optional<HostSide<PromptRail>> host;
  NetContext* context = nullptr;
};

TEST(LongInject, SourceThatACellCannotHoldIsNotCopiedIntoOne) {
  const std::vector<std::byte> source(kInject, std::byte{7});
  for (const size_t nbytes : {kMaxMessage + 1, kInject}) {
    PromptHost several(2);
    host_put(*several.host, *several.context, {1, SegmentId::heap, 0}, source.data(), nbytes);
    EXPECT_EQ(several.source_of_write(), source.data()) << nbytes << " bytes";
    EXPECT_EQ(several.context->pending(), 0u) << "the call waits, as nothing has copied the source";
  }
  PromptHost several(2);
  host_put(*several.host, *several.context, {1, SegmentId::heap, 0}, source.data(), kMaxMessage);
  EXPECT_NE(several.source_of_write(), source.data()) << "a copy, which another rail may need";
  several.host->quiet(*several.context);
  PromptHost single(1);
  host_put(*single.host, *single.context, {1, SegmentId::heap, 0}, source.data(), kInject);
  EXPECT_EQ(single.source_of_write(), source.data());
  EXPECT_EQ(single.context->pending(), 1u) << "the only rail has copied the source";
  single.host->quiet(*single.context);
}

using Loopback = loopback::Fabric;
constexpr Setup<Loopback> kLongInjectRails{"LongInjectRails", [](const NetworkConfig& c, const Tuning& t) {
                                             return std::make_unique<Engine<Loopback>>(
                                                 TransportKind::loopback, c, t, c,
                                                 loopback::Options{.inject = kInject, .rails = 2});
                                           }};

/// All cells are in flight, so that the last one's buffer is in use: what is written beyond it, memory tools see.
TEST(LongInject, PutsOverSeveralRailsMoveEveryByte) {
  constexpr uint64_t kCells = 4;
  EngineJob<Loopback> job(kLongInjectRails, {.slots = kCells});
  job.run([&](int pe) {
    NetContext* const context = job.engine(pe).make_context();
    auto& host = job.host(pe);
    size_t offset = 64;
    for (const size_t nbytes : {size_t{4096}, size_t{4097}, size_t{6000}, kInject, kInject + 1}) {
      const uint64_t word = nbytes;
      std::array<std::vector<std::byte>, kCells> sources;
      for (uint64_t i = 0; i < kCells; ++i) {
        for (uint64_t other = 0; other + 1 < kCells; ++other)
          host_put_nbi(host, *context, heap(1 - pe, 8 * other), &word, 8);
        sources[i] = filled(pe, i, nbytes);
        host_put(host, *context, heap(1 - pe, offset + i * nbytes), sources[i].data(), nbytes);
        std::fill(sources[i].begin(), sources[i].end(), std::byte{0xee});
      }
      host.quiet(*context);
      job.barrier();
      for (uint64_t i = 0; i < kCells; ++i) {
        const std::vector<std::byte> expected = filled(1 - pe, i, nbytes);
        EXPECT_EQ(std::memcmp(job.base(pe) + offset + i * nbytes, expected.data(), nbytes), 0) << nbytes;
      }
      offset += kCells * nbytes;
      job.barrier();
    }
    job.engine(pe).drop_context(context);
  });
}

}  // namespace
}  // namespace railshmem::test
