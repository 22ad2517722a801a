// SPDX-License-Identifier: BSD-3-Clause
#include "src/proxy/staging/staging_terms.h"

#include <gtest/gtest.h>

#include "src/base/error.h"
#include "src/plugin/host_copier.h"
#include "tests/support/engine_job.h"
#include "tests/support/host_calls.h"
#include "transports/loopback/fabric.h"

namespace railshmem::test {
namespace {

using Descriptors = std::vector<std::vector<std::byte>>;

StagingTerms terms(MemoryKind heap, size_t chunk = 8192) {
  const Segment segments[] = {{SegmentId::heap, nullptr, 1, heap}, {SegmentId::data, nullptr, 1}};
  Tuning tuning;
  tuning.staging_chunk = chunk;
  return StagingTerms::of(segments, tuning);
}
std::vector<std::byte> descriptor(const StagingTerms& terms, size_t own = 5) {
  return add_terms(std::vector<std::byte>(own, std::byte{7}), terms);
}
/// What a PE with `mine` says of three descriptors, of which only the last one may differ.
std::string complaint(const StagingTerms& mine, const StagingTerms& theirs) {
  const Descriptors descriptors{descriptor(mine), descriptor(mine), descriptor(theirs)};
  try {
    compare_terms(descriptors, mine);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(StagingTerms, FabricsGetTheirOwnDescriptorsBack) {
  const Descriptors descriptors{descriptor(terms(MemoryKind::staged), 0), descriptor(terms(MemoryKind::host), 9)};
  EXPECT_EQ(without_terms(descriptors), (Descriptors{{}, std::vector<std::byte>(9, std::byte{7})}));
}

TEST(StagingTerms, ADescriptorWithoutTermsIsAnError) {
  const Descriptors descriptors{descriptor(terms(MemoryKind::host)), std::vector<std::byte>(3)};
  try {
    without_terms(descriptors);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("descriptor of PE 1 is cut short"), std::string::npos) << error.what();
  }
}

TEST(StagingTerms, WhatDiffersIsNamedWithItsPe) {
  const StagingTerms mine = terms(MemoryKind::staged);
  EXPECT_EQ(complaint(mine, mine), "");
  EXPECT_EQ(complaint(mine, terms(MemoryKind::staged, 5000)), "") << "as many pages";
  EXPECT_EQ(complaint(mine, terms(MemoryKind::staged, 16384)),
            "SHMEM_STAGING_CHUNK is 16384 bytes on PE 2 and 8192 on this PE; set it alike on all PEs");
  EXPECT_EQ(
      complaint(mine, terms(MemoryKind::host)),
      "the network reaches the heap of PE 2, but cannot reach that of this PE; set SHMEM_TEST_STAGED_HEAP alike on "
      "all PEs");
  EXPECT_EQ(
      complaint(terms(MemoryKind::host), mine),
      "the network cannot reach the heap of PE 2, but reaches that of this PE; set SHMEM_TEST_STAGED_HEAP alike on "
      "all PEs");
}

TEST(StagingTerms, ChunksDoNotMatterWhereNothingIsStaged) {
  EXPECT_EQ(complaint(terms(MemoryKind::host, 8192), terms(MemoryKind::host, 65536)), "");
}

/// PEs of one job with settings of their own.
template <size_t kMoreChunk, size_t kMoreDepth>
constexpr Setup<loopback::Fabric> kUneven{
    "Uneven",
    [](const NetworkConfig& config, const Tuning& common) {
      const auto pe = static_cast<size_t>(config.pe);
      Tuning tuning = common;
      tuning.staging_chunk = 4096 + kMoreChunk * pe;
      tuning.staging_depth = 1 + kMoreDepth * pe;
      return std::make_unique<Engine<loopback::Fabric>>(TransportKind::loopback, config, tuning, config);
    },
    [](uint64_t) -> std::unique_ptr<Copier> { return std::make_unique<HostCopier>(); }};
using Job = EngineJob<loopback::Fabric>;

TEST(StagingTerms, EnginesCompareThemBeforeAnythingMoves) {
  EXPECT_THROW(Job(kUneven<4096, 0>), Error);
}

TEST(StagingTerms, DepthsMayDiffer) {
  Job job(kUneven<0, 3>);
  job.run([&](int pe) {
    NetContext* context = job.engine(pe).make_context();
    const std::vector<std::byte> bytes = filled(pe, 1, 100000);
    host_put(job.host(pe), *context, {1 - pe, SegmentId::heap, 0}, bytes.data(), bytes.size());
    job.host(pe).quiet(*context);
    EXPECT_EQ(std::memcmp(job.base(1 - pe), bytes.data(), bytes.size()), 0);
    job.barrier();
  });
}

/// A flush writes a word of the heap. Rails that reach no heap would find a slot in its place.
TEST(StagingFlush, WritesNoSlot) {
  Job job(kUneven<0, 0>, {.flush = FlushPolicy::write_read, .flush_offset = 576});
  job.run([&](int pe) {
    NetContext* context = job.engine(pe).make_context();
    for (uint64_t round = 1; round <= 200; ++round) {
      const std::vector<std::byte> bytes = filled(pe, round, 4096);
      std::vector<std::byte> back(4096);
      host_put_signal(job.host(pe), *context, {1 - pe, SegmentId::heap, 4096}, bytes.data(), bytes.size(),
                      {SegmentId::heap, 0, 1, SignalOp::add});
      host_get(job.host(pe), *context, {pe, SegmentId::heap, 1 << 16}, back.data(), back.size());
      job.wait_until(pe, 0, round);
      ASSERT_EQ(std::memcmp(job.base(pe) + 4096, filled(1 - pe, round, 4096).data(), 4096), 0) << round;
      ASSERT_EQ(back, std::vector<std::byte>(4096)) << round;
      job.barrier();
    }
    job.host(pe).quiet(*context);
  });
}

}  // namespace
}  // namespace railshmem::test
