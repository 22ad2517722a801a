// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/report.h"

#include <gtest/gtest.h>

#include <sstream>

namespace railshmem::perf {
namespace {

Row row(const char* bench, const char* metric, uint64_t bytes, double value) {
  Row r;
  r.bench = bench;
  r.transport = "p2p,ofi";
  r.provider = "auto";
  r.pes = 2;
  r.bytes = bytes;
  r.metric = metric;
  r.unit = "us";
  r.value = r.p50 = r.p99 = value;
  return r;
}

TEST(PerftestReport, JsonRowsStartWithTheAgreedKeysInOrder) {
  Report report({"host", "version", "date"});
  report.add(row("put_lat", "latency", 8, 1.23456789));
  std::ostringstream out;
  report.write(out, Format::json);
  EXPECT_EQ(out.str().rfind(R"({"bench":"put_lat","transport":"p2p,ofi","provider":"auto","pes":2,"bytes":8,)"
                            R"("metric":"latency","unit":"us","value":1.23457,"p50":1.23457,"p99":1.23457,)"
                            R"("host":"host","version":"version","date":"date","iters":0})",
                            0),
            0u)
      << out.str();
}

TEST(PerftestReport, RatioIsAgainstTheNewestFloorOfThatSize) {
  Report report({});
  report.add(row("floor_fi", "latency", 8, 2));
  report.add(row("floor_fi", "latency", 8, 4));
  report.add(row("floor_fi", "latency", 64, 5));
  report.add(row("floor_fi", "rate", 8, 100));
  const size_t first = report.rows().size();
  report.add(row("put_lat", "latency", 8, 6));
  report.add(row("put_lat", "latency", 16, 6));
  report.add(row("barrier", "latency", 0, 10));
  report.compare(first, {"floor_fi", "latency"});
  EXPECT_DOUBLE_EQ(report.rows()[first].ratio.value(), 1.5);
  EXPECT_FALSE(report.rows()[first + 1].ratio);
  EXPECT_DOUBLE_EQ(report.rows()[first + 2].floor.value(), 5);
}

TEST(PerftestReport, RoundsMergeIntoMediansAndOneFailureSpoilsValidation) {
  std::vector<Row> rows{row("a", "latency", 8, 1), row("b", "latency", 8, 5), row("a", "latency", 8, 9),
                        row("a", "latency", 8, 2)};
  rows[0].validated = true;
  rows[2].validated = false;
  rows[3].validated = true;
  const std::vector<Row> merged = merge_rounds(rows);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].bench, "a");
  EXPECT_DOUBLE_EQ(merged[0].value, 2);
  EXPECT_EQ(merged[0].validated, false);
  EXPECT_FALSE(merged[1].validated);
}

TEST(PerftestReport, TableHasNoEmptyColumnsAndExplainsTheOthers) {
  Report report({"host", "version", "date"});
  report.add(row("put_lat", "latency", 8, 1.5));
  report.add(row("barrier_lat", "latency", 1024, 12));
  std::ostringstream out;
  report.write(out, Format::table);
  const std::string head =
      "# version on host, date\n"
      "bench        transport  pes  bytes  metric   value  p50  p99  unit\n"
      "put_lat      p2p,ofi      2      8  latency    1.5  1.5  1.5  us\n"
      "barrier_lat  p2p,ofi      2   1024  latency     12   12   12  us\n"
      "# pes: processes; bytes: of a message; value: ";
  EXPECT_EQ(out.str().substr(0, head.size()), head);
  EXPECT_EQ(out.str().find("floor"), std::string::npos);
}

TEST(PerftestReport, TableShowsWhatSomeRowsHave) {
  Report report({});
  Row measured = row("put_lat", "latency", 8, 3);
  measured.provider = "tcp";
  measured.floor = 1.5;
  measured.ratio = 2;
  measured.validated = true;
  report.add(row("floor_store", "latency", 8, 1.5));
  report.add(measured);
  std::ostringstream out;
  report.write(out, Format::table);
  EXPECT_NE(out.str().find("validated  floor  ratio\n"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("us    yes          1.5      2\n"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("ratio: value / floor\n"), std::string::npos) << out.str();
}

TEST(PerftestReport, CsvQuotesTransportLists) {
  Report report({"h", "v", "d"});
  report.add(row("put_lat", "latency", 8, 1));
  std::ostringstream out;
  report.write(out, Format::csv);
  EXPECT_NE(out.str().find("put_lat,\"p2p,ofi\",\"auto\",2,8,latency,us,1,1,1"), std::string::npos) << out.str();
}

}  // namespace
}  // namespace railshmem::perf
