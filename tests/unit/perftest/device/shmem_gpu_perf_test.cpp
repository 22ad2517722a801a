// SPDX-License-Identifier: BSD-3-Clause
// The parts of shmem_gpu_perf that need no GPU.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "perftest/device/options.h"
#include "perftest/device/registry.h"
#include "perftest/device/report.h"
#include "perftest/harness/launcher.h"

namespace railshmem::perf::gpu {
namespace {

Parsed parse_gpu(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "shmem_gpu_perf");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(PerftestGpuOptions, AFullCommandLineIsRead) {
  const Parsed parsed = parse_gpu(
      {"put_bw", "put_lat", "--scope", "warp,block",    "--ctas", "16",         "--threads", "512",  "--sizes",
       "8,1M",   "--op",    "swap",    "--repetitions", "5",      "--validate", "--format",  "json", "--timeout",
       "20",     "--peer",  "3"});
  ASSERT_FALSE(parsed.exit_status) << parsed.message;
  const Options& o = parsed.options;
  EXPECT_EQ(o.common.benches, (std::vector<std::string>{"put_bw", "put_lat"}));
  EXPECT_EQ(o.scopes, (std::vector<Scope>{Scope::warp, Scope::block}));
  EXPECT_EQ(o.ctas, 16u);
  EXPECT_EQ(o.threads, 512u);
  EXPECT_EQ(o.common.sizes, (std::vector<uint64_t>{8, 1 << 20}));
  EXPECT_EQ(o.amo, Amo::swap);
  EXPECT_EQ(o.common.repetitions, 5);
  EXPECT_TRUE(o.common.validate);
  EXPECT_EQ(o.common.format, Format::json);
  EXPECT_EQ(o.timeout, 20);
  EXPECT_EQ(o.peer, 3);
}

TEST(PerftestGpuOptions, WhatIsLeftOutIsTheBenchsChoice) {
  const Parsed parsed = parse_gpu({"barrier"});
  ASSERT_FALSE(parsed.exit_status);
  EXPECT_TRUE(parsed.options.scopes.empty());
  EXPECT_FALSE(parsed.options.ctas || parsed.options.threads || parsed.options.common.iters || parsed.options.peer);
  EXPECT_EQ(parsed.options.common.repetitions % 2, 1) << "the median is a measured value";
}

TEST(PerftestGpuOptions, BadOnesAreNamedWithWhatIsAccepted) {
  const std::map<std::vector<const char*>, const char*> cases{
      {{}, "bench: name at least one"},
      {{"put_bw", "--scope", "grid"}, "--scope"},
      {{"put_bw", "--threads", "33"}, "--threads: 33 is neither 1 nor a multiple of 32"},
      {{"put_bw", "--threads", "2048"}, "--threads"},
      {{"put_bw", "--ctas", "0"}, "--ctas"},
      {{"put_bw", "--op", "nand"}, "--op"},
      {{"put_bw", "--sizes", "8X"}, "'8X' is not a size"},
      {{"put_bw", "--sizes", "8", "--min-bytes", "8"}, "drop --min-bytes"},
      {{"put_bw", "--min-bytes", "1K", "--max-bytes", "8"}, "exceeds --max-bytes"},
      {{"ag_gemm", "--shapes", "8192x8192"}, "'8192x8192' is not MxKxN, small, llama-7b, llama-70b, llama-405b"},
      {{"ag_gemm", "--shapes", "small,llama-8b"}, "'llama-8b' is not"},
      {{"ag_gemm", "--tokens", "0"}, "--tokens"},
      {{"put_bw", "--repetitions", "1001"}, "--repetitions"}};
  for (const auto& [arguments, expected] : cases) {
    const Parsed parsed = parse_gpu(arguments);
    EXPECT_EQ(parsed.exit_status, 2) << expected;
    EXPECT_NE(parsed.message.find(expected), std::string::npos) << parsed.message;
  }
}

TEST(PerftestGpuOptions, ShapesAreGivenOrNamedLists) {
  const Parsed parsed = parse_gpu({"ag_gemm", "--shapes", "16x32x64,llama-70b,small", "--tokens", "4096"});
  ASSERT_FALSE(parsed.exit_status) << parsed.message;
  EXPECT_EQ(parsed.options.shapes, (std::vector<std::string>{"16x32x64", "llama-70b", "small"}));
  EXPECT_EQ(parsed.options.tokens, 4096u);
}

TEST(PerftestGpuOptions, LargeMessagesAreRepeatedLess) {
  Options options;
  EXPECT_EQ(iterations(options, 8, 200), 200);
  EXPECT_EQ(iterations(options, 4096, 200), 200);
  EXPECT_EQ(iterations(options, 32768, 200), 25);
  EXPECT_EQ(iterations(options, uint64_t{1} << 30, 200), 5);
  options.common.iters = 7;
  EXPECT_EQ(iterations(options, 8, 200), 7);
}

TEST(PerftestGpuReport, TimesAndThroughputsHaveTheirUnits) {
  Row row;
  const std::vector<double> seconds{4e-3, 2e-3, 2e-3, 2e-3, 3e-3};
  set_time(row, seconds, 1000);
  EXPECT_DOUBLE_EQ(row.value, 2);
  EXPECT_DOUBLE_EQ(row.p99, 4);
  set_throughput(row, seconds, 1e9, 1e9);
  EXPECT_DOUBLE_EQ(row.value, 500);
  EXPECT_DOUBLE_EQ(row.p99, 250) << "the slow end";
}

TEST(PerftestGpuReport, RatiosAreOfTimesOfOneTurn) {
  Row row;
  set_ratio(row, {1, 20, 3}, {2, 10, 3});
  EXPECT_DOUBLE_EQ(row.value, 1) << "the median of 0.5, 2 and 1";
  EXPECT_DOUBLE_EQ(row.p99, 2);
}

TEST(PerftestGpuReport, EachFormatHasTheRow) {
  Row row;
  row.bench = "put_bw";
  row.scope = "block";
  row.ctas = 32;
  row.threads = 1024;
  row.bytes = 1 << 20;
  row.metric = "bandwidth";
  row.unit = "GB/s";
  row.value = 243.25;
  row.validated = false;
  const Stamp stamp{"host", "2026-01-01T00:00:00Z", "Library 1", "GPU", "driver for CUDA 13.0", "direct"};
  const auto text = [&](Format format) {
    std::ostringstream out;
    write(out, {row}, stamp, format);
    return out.str();
  };
  const std::string table = text(Format::table), csv = text(Format::csv), json = text(Format::json);
  EXPECT_NE(table.find("243.25"), std::string::npos) << table;
  EXPECT_NE(table.find("NO"), std::string::npos) << table;
  EXPECT_NE(csv.find("put_bw,direct,gpu,1,block,32,1024,1048576,bandwidth,GB/s,243.25,"), std::string::npos) << csv;
  EXPECT_NE(json.find("\"scope\":\"block\",\"ctas\":32,\"threads\":1024,\"bytes\":1048576"), std::string::npos) << json;
  EXPECT_NE(json.find("\"validated\":false"), std::string::npos) << json;
}

TEST(PerftestGpuRegistry, FloorsComeLast) {
  static const Register floor({"floor_of_test", "f", Part::all, {}, {}, false, nullptr});
  static const Register bench({"test_bench", "b", Part::all, {}, {}, false, nullptr});
  const std::string list = list_benches();
  EXPECT_LT(list.find("test_bench"), list.find("floor_of_test"));
  EXPECT_NE(find_bench("test_bench"), nullptr);
  EXPECT_EQ(find_bench("test"), nullptr);
}

Launched launched_by(const std::map<std::string, const char*>& environment) {
  return launched([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second;
  });
}

TEST(PerftestLauncher, KnowsTheUsualOnes) {
  const Launched open_mpi =
      launched_by({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}});
  EXPECT_EQ(open_mpi.rank, 3);
  EXPECT_EQ(open_mpi.size, 8);
  EXPECT_EQ(open_mpi.local_rank, 1);
  const Launched oshrun = launched_by({{"RAILSHMEM_LAUNCHER_PE", "1"}, {"RAILSHMEM_LAUNCHER_NPES", "2"}});
  EXPECT_EQ(oshrun.rank, 1);
  EXPECT_EQ(oshrun.size, 2);
  EXPECT_FALSE(oshrun.local_rank);
}

TEST(PerftestLauncher, WhatIsNoNumberIsAbsent) {
  EXPECT_FALSE(launched_by({}).rank);
  EXPECT_FALSE(launched_by({{"PMI_RANK", "x"}}).rank);
  EXPECT_FALSE(launched_by({{"PMI_RANK", "-1"}}).rank);
  EXPECT_FALSE(launched_by({{"PMI_RANK", ""}}).rank);
  EXPECT_EQ(launched_by({{"PMI_RANK", "1x"}, {"RANK", "2"}}).rank, 2);
}

}  // namespace
}  // namespace railshmem::perf::gpu
