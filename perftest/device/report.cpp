// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/device/report.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <ostream>

#include "perftest/harness/report.h"
#include "perftest/harness/stats.h"

namespace railshmem::perf::gpu {
namespace {

/// Six significant digits: more is noise.
std::string digits(double value) {
  char buffer[32];
  snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}
double rounded(double value) {
  return std::strtod(digits(value).c_str(), nullptr);
}
const char* text_of(const std::optional<bool>& value) {
  return !value ? "" : *value ? "yes" : "NO";
}

void write_json(std::ostream& out, const std::vector<Row>& rows, const Stamp& stamp) {
  for (const Row& row : rows) {
    nlohmann::ordered_json json{
        {"bench", row.bench},      {"transport", stamp.reach}, {"provider", "gpu"},           {"pes", row.pes},
        {"scope", row.scope},      {"ctas", row.ctas},         {"threads", row.threads},      {"bytes", row.bytes},
        {"metric", row.metric},    {"unit", row.unit},         {"value", rounded(row.value)}, {"p50", rounded(row.p50)},
        {"p99", rounded(row.p99)}, {"iters", row.iters},       {"host", stamp.host},          {"gpu", stamp.gpu},
        {"driver", stamp.driver},  {"version", stamp.library}, {"date", stamp.date}};
    if (row.validated) json["validated"] = *row.validated;
    out << json.dump() << '\n';
  }
}

void write_csv(std::ostream& out, const std::vector<Row>& rows, const Stamp& stamp) {
  out << "bench,transport,provider,pes,scope,ctas,threads,bytes,metric,unit,value,p50,p99,iters,host,gpu,driver,"
         "version,"
         "date,validated\n";
  for (const Row& r : rows)
    out << r.bench << ',' << stamp.reach << ",gpu," << r.pes << ',' << r.scope << ',' << r.ctas << ',' << r.threads
        << ',' << r.bytes << ',' << r.metric << ',' << r.unit << ',' << digits(r.value) << ',' << digits(r.p50) << ','
        << digits(r.p99) << ',' << r.iters << ',' << stamp.host << ",\"" << stamp.gpu << "\",\"" << stamp.driver
        << "\",\"" << stamp.library << "\"," << stamp.date << ',' << text_of(r.validated) << '\n';
}

void write_table(std::ostream& out, const std::vector<Row>& rows, const Stamp& stamp) {
  out << "# " << stamp.library << " on " << stamp.host << ", " << stamp.gpu << ", " << stamp.driver << ", peer by "
      << stamp.reach << ", " << stamp.date << '\n';
  char line[256];
  snprintf(line, sizeof line, "%-20s %4s %-6s %5s %7s %10s %-10s %10s %10s %10s %-7s %9s\n", "bench", "pes", "scope",
           "ctas", "threads", "bytes", "metric", "value", "p50", "p99", "unit", "validated");
  out << line;
  for (const Row& r : rows) {
    snprintf(line, sizeof line, "%-20s %4d %-6s %5u %7u %10llu %-10s %10s %10s %10s %-7s %9s\n", r.bench.c_str(), r.pes,
             r.scope.c_str(), r.ctas, r.threads, static_cast<unsigned long long>(r.bytes), r.metric.c_str(),
             digits(r.value).c_str(), digits(r.p50).c_str(), digits(r.p99).c_str(), r.unit.c_str(),
             text_of(r.validated));
    out << line;
  }
}

}  // namespace

Stamp make_stamp() {
  const perf::Stamp common = perf::make_stamp("");
  return {common.host, common.date, "", "", "", "direct"};
}

void set_time(Row& row, const std::vector<double>& seconds, double operations) {
  const double scale = 1e6 / operations;
  row.value = median(seconds) * scale;
  row.p50 = percentile(seconds, 0.50) * scale;
  row.p99 = percentile(seconds, 0.99) * scale;
}

void set_throughput(Row& row, const std::vector<double>& seconds, double amount, double scale) {
  const auto per_second = [&](double time) { return time > 0 ? amount / time / scale : 0.0; };
  row.value = per_second(median(seconds));
  row.p50 = per_second(percentile(seconds, 0.50));
  row.p99 = per_second(percentile(seconds, 0.99));
}

void write(std::ostream& out, const std::vector<Row>& rows, const Stamp& stamp, Format format) {
  switch (format) {
    case Format::table:
      return write_table(out, rows, stamp);
    case Format::csv:
      return write_csv(out, rows, stamp);
    case Format::json:
      return write_json(out, rows, stamp);
  }
}

}  // namespace railshmem::perf::gpu
