// SPDX-License-Identifier: BSD-3-Clause
// The parts of shmem_gpu_perf's collectives that need no GPU: options, buffers, values, bandwidths, rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "perftest/device/coll/kind.h"
#include "perftest/device/coll/values.h"
#include "perftest/device/options.h"
#include "perftest/device/report.h"

namespace railshmem::perf::gpu::coll {
namespace {

constexpr Kind kKinds[] = {Kind::allgather, Kind::reducescatter, Kind::allreduce, Kind::alltoall};

Parsed parse_coll(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "shmem_gpu_perf");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(PerftestCollOptions, GraphPlaceMemoryAndTypeAreRead) {
  const Parsed parsed = parse_coll(
      {"allreduce", "--graph", "--in-place", "--memory", "heap,unregistered,registered", "--dtype", "float8_e4m3"});
  ASSERT_FALSE(parsed.exit_status) << parsed.message;
  EXPECT_TRUE(parsed.options.graph);
  EXPECT_TRUE(parsed.options.in_place);
  EXPECT_EQ(parsed.options.memories, (std::vector<Memory>{Memory::heap, Memory::unregistered, Memory::registered}));
  EXPECT_EQ(parsed.options.dtype, Dtype::float8_e4m3);
}

TEST(PerftestCollOptions, WithoutThemFloatsOfTheHeapGoCallByCall) {
  const Parsed parsed = parse_coll({"allgather"});
  ASSERT_FALSE(parsed.exit_status) << parsed.message;
  EXPECT_FALSE(parsed.options.graph || parsed.options.in_place);
  EXPECT_TRUE(parsed.options.memories.empty());
  EXPECT_EQ(parsed.options.dtype, Dtype::float32);
}

TEST(PerftestCollOptions, EveryTypeHasItsName) {
  for (const DtypeFacts& facts : kDtypes) {
    const Parsed parsed = parse_coll({"allgather", "--dtype", facts.name});
    ASSERT_FALSE(parsed.exit_status) << parsed.message;
    EXPECT_EQ(parsed.options.dtype, facts.dtype) << facts.name;
    EXPECT_EQ(facts_of(facts.dtype).dtype, facts.dtype) << "the table is in the enumeration's order";
  }
}

TEST(PerftestCollOptions, UnknownTypesAndMemoriesAreRefusedWithWhatThereIs) {
  for (const auto& [option, value, known] :
       {std::tuple("--dtype", "float16", "bfloat16"), std::tuple("--memory", "heap,window", "unregistered")}) {
    const Parsed parsed = parse_coll({"allgather", option, value});
    EXPECT_EQ(parsed.exit_status, 2) << option;
    EXPECT_NE(parsed.message.find(option), std::string::npos) << parsed.message;
    EXPECT_NE(parsed.message.find(known), std::string::npos) << parsed.message;
  }
}

TEST(PerftestCollShape, BlocksOfAllPesMakeTheVector) {
  const Shape gather = shape_of(Kind::allgather, Dtype::half, 8192, 4);
  EXPECT_EQ(gather.nelems, 1024u);
  EXPECT_EQ(gather.bytes, 8192u);
  EXPECT_EQ(gather.source_bytes, 2048u);
  EXPECT_EQ(gather.dest_bytes, 8192u);
  const Shape scatter = shape_of(Kind::reducescatter, Dtype::half, 8192, 4);
  EXPECT_EQ(scatter.source_bytes, 8192u);
  EXPECT_EQ(scatter.dest_bytes, 2048u);
  const Shape reduce = shape_of(Kind::allreduce, Dtype::float64, 8192, 4);
  EXPECT_EQ(reduce.nelems, 1024u);
  EXPECT_EQ(reduce.source_bytes, 8192u);
  EXPECT_EQ(reduce.dest_bytes, 8192u);
}

TEST(PerftestCollShape, BlocksAreNeverEmptyAndWholeVectors) {
  for (const Kind kind : kKinds)
    for (const DtypeFacts& facts : kDtypes)
      for (const int npes : {1, 2, 3, 7})
        for (const uint64_t size : {1, 8, 100, 8192, 1 << 20}) {
          const Shape shape = shape_of(kind, facts.dtype, size, npes);
          EXPECT_GT(shape.nelems, 0u);
          EXPECT_EQ(shape.block_bytes % 16, 0u);
          EXPECT_EQ(shape.nelems * facts.nbytes, shape.block_bytes);
          EXPECT_LE(shape.bytes, std::max<uint64_t>(size, 16 * static_cast<uint64_t>(npes)));
        }
}

TEST(PerftestCollBandwidth, FactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(Kind::allgather, 2), 0.5);
  EXPECT_DOUBLE_EQ(bus_factor(Kind::reducescatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(Kind::alltoall, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Kind::allreduce, 2), 1.0);
  EXPECT_DOUBLE_EQ(bus_factor(Kind::allreduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(Kind::allreduce, 1), 0.0);
}

TEST(PerftestCollBandwidth, AGibibyteInAMillisecond) {
  Row row;
  row.bytes = uint64_t{1} << 30;
  row.value = 1000;
  set_bandwidths(row, bus_factor(Kind::allgather, 2));
  EXPECT_DOUBLE_EQ(*row.algorithm_bandwidth, 1073.741824);
  EXPECT_DOUBLE_EQ(*row.bus_bandwidth, 536.870912);
}

TEST(PerftestCollRepeats, LongOnesAreCalledLessAndGraphsStaySmall) {
  EXPECT_EQ(repeats_of(8192, std::nullopt).calls(), 200);
  EXPECT_EQ(repeats_of(8192, std::nullopt).in_graph, 50);
  EXPECT_EQ(repeats_of(uint64_t{1} << 30, std::nullopt).calls(), 5);
  EXPECT_EQ(repeats_of(uint64_t{64} << 20, std::nullopt).calls(), 100) << "two graphs of 50";
  const Repeats asked = repeats_of(8192, 3);
  EXPECT_EQ(asked.in_graph, 3);
  EXPECT_EQ(asked.replays, 1);
}

TEST(PerftestCollValues, SumsOfAnyNumberOfPesStayExact) {
  for (const DtypeFacts& facts : kDtypes)
    for (const int npes : {2, 3, 8, 9, 16, 17, 64, 300}) {
      const Values values = values_for(facts.dtype, npes);
      int most = 0;
      for (uint64_t i = 0; i < 2000; ++i) most = std::max(most, sum_at(values, 0, npes, i));
      EXPECT_LE(most, facts.exact) << facts.name << " of " << npes;
      EXPECT_GT(most, 0) << facts.name << " of " << npes;
    }
}

TEST(PerftestCollValues, ElementsAndPesDiffer) {
  for (const DtypeFacts& facts : kDtypes) {
    const Values moved = values_for(facts.dtype, 1);
    int same_neighbour = 0, same_pe = 0, same_far = 0;
    constexpr int kMany = 10000;
    for (uint64_t i = 0; i < kMany; ++i) {
      const int here = value_at(moved, 100, i);
      EXPECT_LE(here, facts.exact);
      same_neighbour += here == value_at(moved, 100, i + 1);
      same_pe += here == value_at(moved, 101, i);
      same_far += here == value_at(moved, 100, i + (uint64_t{1} << 32));
    }
    for (const int same : {same_neighbour, same_pe, same_far}) EXPECT_LT(same, kMany / 4) << facts.name;
  }
}

TEST(PerftestCollReport, RowsSayHowTheCallWasMade) {
  Row row;
  row.bench = "allreduce";
  row.bytes = 1 << 20;
  row.metric = "latency";
  row.unit = "us";
  row.value = 8;
  row.variant = {"graph", "heap", "bfloat16", true};
  set_bandwidths(row, 1);
  const auto text = [&](Format format) {
    std::ostringstream out;
    write(out, {row}, {}, format);
    return out.str();
  };
  const std::string json = text(Format::json), csv = text(Format::csv), table = text(Format::table);
  EXPECT_NE(
      json.find(
          R"("order":"graph","memory":"heap","dtype":"bfloat16","in_place":true,"algbw":131.072,"busbw":131.072)"),
      std::string::npos)
      << json;
  EXPECT_NE(csv.find(",graph,heap,bfloat16,yes,131.072,131.072\n"), std::string::npos) << csv;
  EXPECT_NE(table.find("graph heap bfloat16 in-place"), std::string::npos) << table;
  EXPECT_NE(table.find("busbw"), std::string::npos) << table;
}

TEST(PerftestCollReport, OtherRowsStayWithoutThoseColumns) {
  Row row;
  row.bench = "put_bw";
  std::ostringstream table, json, csv;
  write(table, {row}, {}, Format::table);
  write(json, {row}, {}, Format::json);
  write(csv, {row}, {}, Format::csv);
  EXPECT_EQ(table.str().find("busbw"), std::string::npos) << table.str();
  EXPECT_EQ(json.str().find("order"), std::string::npos) << json.str();
  const std::string text = csv.str();
  const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  EXPECT_EQ(commas(text.substr(0, text.find('\n'))), commas(text.substr(text.find('\n')))) << text;
}

}  // namespace
}  // namespace railshmem::perf::gpu::coll
