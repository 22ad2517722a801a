// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/options.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace railshmem::perf {
namespace {

Parsed parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "shmem_perf");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(PerftestOptions, SizesTakeSuffixes) {
  EXPECT_EQ(parse_bytes("8"), 8u);
  EXPECT_EQ(parse_bytes("4K"), 4096u);
  EXPECT_EQ(parse_bytes("1m"), 1u << 20);
  EXPECT_EQ(parse_bytes("2G"), 2ull << 30);
  for (const char* bad : {"", "0", "K", "-1", "1.5K", "8KB", "1 K", "99999999999999999999", "999999G"})
    EXPECT_THROW(parse_bytes(bad), std::invalid_argument) << bad;
}

TEST(PerftestOptions, SweepDoublesAndKeepsBothEnds) {
  Options options;
  EXPECT_EQ(sweep(options, {8, 32}), (std::vector<uint64_t>{8, 16, 32}));
  EXPECT_EQ(sweep(options, {8, 8}), (std::vector<uint64_t>{8}));
  EXPECT_EQ(sweep(options, {0, 0}), (std::vector<uint64_t>{0}));
  options.min_bytes = 3;
  options.max_bytes = 20;
  EXPECT_EQ(sweep(options, {8, 32}), (std::vector<uint64_t>{3, 6, 12, 20}));
  options.max_bytes.reset();
  options.min_bytes = 1 << 20;
  EXPECT_EQ(sweep(options, {8, 32}), (std::vector<uint64_t>{1 << 20}));
  options.sizes = {5, 7};
  EXPECT_EQ(sweep(options, {8, 32}), (std::vector<uint64_t>{5, 7}));
}

TEST(PerftestOptions, ABenchWithoutMessagesRunsOnceWhateverSizesAreGiven) {
  const auto once = std::vector<uint64_t>{0};
  for (const auto& arguments : {std::vector<const char*>{},
                                {"--min-bytes", "8"},
                                {"--max-bytes", "64K"},
                                {"--min-bytes", "8", "--max-bytes", "64K"},
                                {"--sizes", "8,4K"}}) {
    std::vector<const char*> line{"shmem_perf", "barrier_lat"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    const Parsed parsed = parse_options(static_cast<int>(line.size()), line.data());
    ASSERT_FALSE(parsed.exit_status) << parsed.message;
    EXPECT_EQ(sweep(parsed.options, {0, 0}), once);
  }
}

TEST(PerftestOptions, AFullCommandLineIsRead) {
  const Parsed parsed = parse({"put_bw", "get_bw", "--sizes", "8,4K", "--iters", "10", "--window", "4", "--validate",
                               "--format", "json", "--seconds", "0.5", "--floor", "--out", "x.json"});
  ASSERT_FALSE(parsed.exit_status) << parsed.message;
  EXPECT_EQ(parsed.options.benches, (std::vector<std::string>{"put_bw", "get_bw"}));
  EXPECT_EQ(parsed.options.sizes, (std::vector<uint64_t>{8, 4096}));
  EXPECT_EQ(parsed.options.iters, 10);
  EXPECT_EQ(parsed.options.window, 4);
  EXPECT_TRUE(parsed.options.validate);
  EXPECT_TRUE(parsed.options.floor);
  EXPECT_EQ(parsed.options.format, Format::json);
  EXPECT_EQ(parsed.options.out, "x.json");
}

TEST(PerftestOptions, EveryMistakeIsStatusTwoAndNamesTheOption) {
  const std::vector<std::pair<std::vector<const char*>, const char*>> mistakes{
      {{"put_bw", "--iters", "0"}, "--iters"},
      {{"put_bw", "--iters", "many"}, "--iters"},
      {{"put_bw", "--window", "0"}, "--window"},
      {{"put_bw", "--format", "xml"}, "--format"},
      {{"put_bw", "--sizes", "8,x"}, "--sizes"},
      {{"put_bw", "--min-bytes", "8K", "--max-bytes", "4K"}, "--min-bytes"},
      {{"put_bw", "--sizes", "8", "--max-bytes", "4K"}, "--sizes"},
      {{"put_bw", "--seconds", "0"}, "--seconds"},
      {{"put_bw", "--frobnicate"}, "--frobnicate"},
      {{}, "bench"},
  };
  for (const auto& [arguments, name] : mistakes) {
    const Parsed parsed = parse(arguments);
    EXPECT_EQ(parsed.exit_status, 2) << name;
    EXPECT_NE(parsed.message.find(name), std::string::npos) << parsed.message;
  }
}

TEST(PerftestOptions, HelpIsNoError) {
  const Parsed parsed = parse({"--help"});
  EXPECT_EQ(parsed.exit_status, 0);
  EXPECT_NE(parsed.message.find("--validate"), std::string::npos);
  EXPECT_FALSE(parse({"--list"}).exit_status);
}

}  // namespace
}  // namespace railshmem::perf
