// SPDX-License-Identifier: BSD-3-Clause
// SHMEM_CHECK_DATA: all data of host calls goes in messages, and arrives as ever.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/cabled_engine.h"
#include "tests/support/host_calls.h"

namespace railshmem::test {
namespace {

constexpr size_t kCheckedHeld = 8;  ///< nobody uses this word
constexpr size_t kCheckedSignal = 16, kCheckedCounter = 24, kCheckedData = 4096;

class CheckedData : public testing::TestWithParam<size_t> {};

TEST_P(CheckedData, ArrivesWithoutAWrite) {
  Cables cables(2, GetParam());
  Tuning tuning = hasty();
  tuning.checks_data = true;
  EngineJob<CableFabric> job(cabled_with(cables, {}), {.tuning = tuning, .flush_offset = kCheckedHeld});
  auto& host = job.host(0);
  NetContext* const context = job.engine(0).make_context();
  uint64_t round = 0;
  for (const size_t n : {size_t{1}, size_t{8}, size_t{4000}, size_t{4096}, size_t{5000}, size_t{100000}}) {
    const std::vector<std::byte> bytes = filled(0, ++round, n);
    const auto arrived = [&] { return std::memcmp(job.base(1) + kCheckedData, bytes.data(), n) == 0; };
    host_put(host, *context, heap(1, kCheckedData), bytes.data(), n);
    host.quiet(*context);
    EXPECT_TRUE(arrived()) << "put of " << n;
    std::memset(job.base(1) + kCheckedData, 0, n);
    host_put_nbi(host, *context, heap(1, kCheckedData), bytes.data(), n);
    host.quiet(*context);
    EXPECT_TRUE(arrived()) << "put_nbi of " << n;
    std::memset(job.base(1) + kCheckedData, 0, n);
    host_put_signal(host, *context, heap(1, kCheckedData), bytes.data(), n,
                    {SegmentId::heap, kCheckedSignal, round, SignalOp::set});
    job.wait_until(1, kCheckedSignal, round);
    EXPECT_TRUE(arrived()) << "put_signal of " << n;
    std::vector<std::byte> got(n);
    host_get(host, *context, heap(1, kCheckedData), got.data(), n);
    EXPECT_EQ(got, bytes);
    EXPECT_EQ(host_amo(host, *context, heap(1, kCheckedCounter), {AmoOp::fetch_add, 8, 1, 0}), round - 1);
  }
  host.quiet(*context);
  EXPECT_EQ(job.load(1, kCheckedHeld), 0u);
  for (size_t r = 0; r < GetParam(); ++r) EXPECT_EQ(cables.writes(0, 1, r), 0u) << "data went without a checksum";
}

// A later put to the same place is not overtaken by a repetition: words arrive in the order of the program.
TEST_P(CheckedData, WordsKeepTheirOrder) {
  Cables cables(2, GetParam());
  Tuning tuning = hasty();
  tuning.checks_data = true;
  EngineJob<CableFabric> job(cabled_with(cables, {}), {.tuning = tuning, .flush_offset = kCheckedHeld});
  auto& host = job.host(0);
  NetContext* const context = job.engine(0).make_context();
  for (uint64_t i = 1; i <= 500; ++i) host_put_nbi(host, *context, heap(1, kCheckedSignal), &i, sizeof i);
  host.quiet(*context);
  EXPECT_EQ(job.load(1, kCheckedSignal), 500u);
}

INSTANTIATE_TEST_SUITE_P(Rails, CheckedData, testing::Values(1, 3));

}  // namespace
}  // namespace railshmem::test
