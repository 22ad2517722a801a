// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/device/report.h"

#include <algorithm>
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

std::string text_of(const std::optional<double>& value) {
  return value ? digits(*value) : "";
}
/// order, memory, dtype, in_place
std::string variant_cells(const Row& row) {
  if (!row.variant) return ",,,";
  const Variant& v = *row.variant;
  return v.order + (v.shape.empty() ? "" : ' ' + v.shape) + ',' + v.memory + ',' + v.dtype + ',' +
         (v.in_place ? "yes" : "no");
}
/// As the table shows them: how it was called, and the bandwidths.
std::string variant_text(const Row& row) {
  if (!row.variant) return "";
  const Variant& v = *row.variant;
  std::string text = v.order;
  for (const std::string& word : {v.memory, v.dtype, std::string(v.in_place ? "in-place" : ""), v.shape})
    if (!word.empty()) text += ' ' + word;
  char line[128];
  snprintf(line, sizeof line, "  %-34s %10s %10s", text.c_str(), text_of(row.algorithm_bandwidth).c_str(),
           text_of(row.bus_bandwidth).c_str());
  return line;
}

void write_json(std::ostream& out, const std::vector<Row>& rows, const Stamp& stamp) {
  for (const Row& row : rows) {
    nlohmann::ordered_json json{
        {"bench", row.bench},      {"transport", stamp.reach}, {"provider", "gpu"},           {"pes", row.pes},
        {"scope", row.scope},      {"ctas", row.ctas},         {"threads", row.threads},      {"bytes", row.bytes},
        {"metric", row.metric},    {"unit", row.unit},         {"value", rounded(row.value)}, {"p50", rounded(row.p50)},
        {"p99", rounded(row.p99)}, {"iters", row.iters},       {"host", stamp.host},          {"gpu", stamp.gpu},
        {"driver", stamp.driver},  {"version", stamp.library}, {"date", stamp.date}};
    if (row.variant) {
      json["order"] = row.variant->order;
      json["memory"] = row.variant->memory;
      json["dtype"] = row.variant->dtype;
      json["in_place"] = row.variant->in_place;
      if (!row.variant->shape.empty()) json["shape"] = row.variant->shape;
    }
    if (row.algorithm_bandwidth) json["algbw"] = rounded(*row.algorithm_bandwidth);
    if (row.bus_bandwidth) json["busbw"] = rounded(*row.bus_bandwidth);
    if (row.validated) json["validated"] = *row.validated;
    out << json.dump() << '\n';
  }
}

void write_csv(std::ostream& out, const std::vector<Row>& rows, const Stamp& stamp) {
  out << "bench,transport,provider,pes,scope,ctas,threads,bytes,metric,unit,value,p50,p99,iters,host,gpu,driver,"
         "version,date,validated,order,memory,dtype,in_place,algbw,busbw\n";
  for (const Row& r : rows)
    out << r.bench << ',' << stamp.reach << ",gpu," << r.pes << ',' << r.scope << ',' << r.ctas << ',' << r.threads
        << ',' << r.bytes << ',' << r.metric << ',' << r.unit << ',' << digits(r.value) << ',' << digits(r.p50) << ','
        << digits(r.p99) << ',' << r.iters << ',' << stamp.host << ",\"" << stamp.gpu << "\",\"" << stamp.driver
        << "\",\"" << stamp.library << "\"," << stamp.date << ',' << text_of(r.validated) << ',' << variant_cells(r)
        << ',' << text_of(r.algorithm_bandwidth) << ',' << text_of(r.bus_bandwidth) << '\n';
}

void write_table(std::ostream& out, const std::vector<Row>& rows, const Stamp& stamp) {
  out << "# " << stamp.library << " on " << stamp.host << ", " << stamp.gpu << ", " << stamp.driver << ", peer by "
      << stamp.reach << ", " << stamp.date << '\n';
  char line[256];
  snprintf(line, sizeof line, "%-22s %4s %-6s %5s %7s %10s %-10s %10s %10s %10s %-7s %9s", "bench", "pes", "scope",
           "ctas", "threads", "bytes", "metric", "value", "p50", "p99", "unit", "validated");
  out << line;
  const bool called = std::any_of(rows.begin(), rows.end(), [](const Row& r) { return r.variant.has_value(); });
  snprintf(line, sizeof line, "  %-34s %10s %10s", "called", "algbw", "busbw");
  out << (called ? line : "") << '\n';
  for (const Row& r : rows) {
    snprintf(line, sizeof line, "%-22s %4d %-6s %5u %7u %10llu %-10s %10s %10s %10s %-7s %9s", r.bench.c_str(), r.pes,
             r.scope.c_str(), r.ctas, r.threads, static_cast<unsigned long long>(r.bytes), r.metric.c_str(),
             digits(r.value).c_str(), digits(r.p50).c_str(), digits(r.p99).c_str(), r.unit.c_str(),
             text_of(r.validated));
    out << line << variant_text(r) << '\n';
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

void set_ratio(Row& row, const std::vector<double>& seconds, const std::vector<double>& others) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(seconds.size(), others.size()); ++i)
    ratios.push_back(others[i] > 0 ? seconds[i] / others[i] : 0.0);
  row.value = median(ratios);
  row.p50 = percentile(ratios, 0.50);
  row.p99 = percentile(ratios, 0.99);
}

void set_bandwidths(Row& row, double factor) {
  const double algorithm = row.value > 0 ? static_cast<double>(row.bytes) / row.value * 1e-3 : 0.0;
  row.algorithm_bandwidth = algorithm;
  row.bus_bandwidth = algorithm * factor;
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
