// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/report.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>

#include "perftest/harness/stats.h"

namespace railshmem::perf {
namespace {

/// Six significant digits: more is noise, and files stay comparable by eye.
std::string digits(double value) {
  char buffer[32];
  snprintf(buffer, sizeof buffer, "%.6g", value);
  return buffer;
}
double rounded(double value) {
  return std::strtod(digits(value).c_str(), nullptr);
}

template <class T>
void put_if(nlohmann::ordered_json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

nlohmann::ordered_json to_json(const Row& row, const Stamp& stamp) {
  nlohmann::ordered_json json{{"bench", row.bench},      {"transport", row.transport},  {"provider", row.provider},
                              {"pes", row.pes},          {"bytes", row.bytes},          {"metric", row.metric},
                              {"unit", row.unit},        {"value", rounded(row.value)}, {"p50", rounded(row.p50)},
                              {"p99", rounded(row.p99)}, {"host", stamp.host},          {"version", stamp.version},
                              {"date", stamp.date},      {"iters", row.iters}};
  put_if(json, "validated", row.validated);
  if (row.floor) json["floor"] = rounded(*row.floor);
  if (row.ratio) json["ratio"] = rounded(*row.ratio);
  return json;
}

std::string text_of(const std::optional<double>& value) {
  return value ? digits(*value) : "";
}
const char* text_of(const std::optional<bool>& value) {
  return !value ? "" : *value ? "yes" : "NO";
}

void write_csv(std::ostream& out, const std::vector<Row>& rows, const Stamp& stamp) {
  out << "bench,transport,provider,pes,bytes,metric,unit,value,p50,p99,host,version,date,iters,validated,floor,ratio\n";
  // Transport lists carry commas, hence the quotes.
  for (const Row& r : rows)
    out << r.bench << ",\"" << r.transport << "\",\"" << r.provider << "\"," << r.pes << ',' << r.bytes << ','
        << r.metric << ',' << r.unit << ',' << digits(r.value) << ',' << digits(r.p50) << ',' << digits(r.p99) << ','
        << stamp.host << ",\"" << stamp.version << "\"," << stamp.date << ',' << r.iters << ',' << text_of(r.validated)
        << ',' << text_of(r.floor) << ',' << text_of(r.ratio) << '\n';
}

struct Column {
  const char* name;
  const char* meaning;  ///< for the line that explains the table; null where the name says it
  bool left;            ///< aligned to the left, as words are
  std::string (*cell)(const Row&);
};

/// A provider is chosen for each job; "auto" says nothing.
std::string provider_of(const Row& row) {
  return row.provider == "auto" ? "" : row.provider;
}

const Column kColumns[] = {
    {"bench", nullptr, true, [](const Row& r) { return r.bench; }},
    {"transport", nullptr, true, [](const Row& r) { return r.transport; }},
    {"provider", "of libfabric", true, provider_of},
    {"pes", "processes", false, [](const Row& r) { return std::to_string(r.pes); }},
    {"bytes", "of a message", false, [](const Row& r) { return std::to_string(r.bytes); }},
    {"metric", nullptr, true, [](const Row& r) { return r.metric; }},
    {"value", "median of the repetitions", false, [](const Row& r) { return digits(r.value); }},
    {"p50", "median of all samples", false, [](const Row& r) { return digits(r.p50); }},
    {"p99", "99 of 100 samples are at least as good", false, [](const Row& r) { return digits(r.p99); }},
    {"unit", nullptr, true, [](const Row& r) { return r.unit; }},
    {"validated", "every byte was compared", true, [](const Row& r) { return std::string(text_of(r.validated)); }},
    {"floor", "the same without the library", false, [](const Row& r) { return text_of(r.floor); }},
    {"ratio", "value / floor", false, [](const Row& r) { return text_of(r.ratio); }},
};

/// A table without columns that are empty in all rows, and a line that explains the others.
void write_table(std::ostream& out, const std::vector<Row>& rows, const Stamp& stamp) {
  out << "# " << stamp.version << " on " << stamp.host << ", " << stamp.date << '\n';
  std::vector<std::string> lines(rows.size() + 1);
  std::string meanings;
  for (const Column& column : kColumns) {
    std::vector<std::string> cells{column.name};
    for (const Row& row : rows) cells.push_back(column.cell(row));
    if (std::all_of(cells.begin() + 1, cells.end(), [](const std::string& cell) { return cell.empty(); })) continue;
    const size_t width = std::max_element(cells.begin(), cells.end(), [](const auto& a, const auto& b) {
                           return a.size() < b.size();
                         })->size();
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string fill(width - cells[i].size(), ' ');
      if (!lines[i].empty()) lines[i] += "  ";
      lines[i] += column.left ? cells[i] + fill : fill + cells[i];
    }
    if (column.meaning) meanings += (meanings.empty() ? "# " : "; ") + std::string(column.name) + ": " + column.meaning;
  }
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
  out << meanings << '\n';
}

double median_of(const std::vector<const Row*>& rows, double Row::*field) {
  std::vector<double> values;
  for (const Row* row : rows) values.push_back(row->*field);
  return median(std::move(values));
}

std::optional<double> median_of(const std::vector<const Row*>& rows, std::optional<double> Row::*field) {
  std::vector<double> values;
  for (const Row* row : rows)
    if (row->*field) values.push_back(*(row->*field));
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

Row merged(const std::vector<const Row*>& rows) {
  Row row = *rows.front();
  row.value = median_of(rows, &Row::value);
  row.p50 = median_of(rows, &Row::p50);
  row.p99 = median_of(rows, &Row::p99);
  row.floor = median_of(rows, &Row::floor);
  row.ratio = median_of(rows, &Row::ratio);
  row.iters = 0;
  for (const Row* r : rows) {
    row.iters += r->iters;
    if (row.validated && r->validated) row.validated = *row.validated && *r->validated;
  }
  return row;
}

}  // namespace

Stamp make_stamp(const std::string& version) {
  char host[256] = "unknown";
  gethostname(host, sizeof host - 1);
  char date[32] = "";
  const time_t now = time(nullptr);
  tm utc{};
  gmtime_r(&now, &utc);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {host, version, date};
}

void Report::compare(size_t first, const FloorOf& floor) {
  for (size_t i = first; i < rows_.size(); ++i)
    for (size_t j = first; j-- > 0;) {
      const Row& f = rows_[j];
      if (f.bench != floor.bench || f.metric != floor.metric) continue;
      if (f.bytes != rows_[i].bytes && f.bytes != 0 && rows_[i].bytes != 0) continue;
      rows_[i].floor = f.value;
      if (f.value > 0) rows_[i].ratio = rows_[i].value / f.value;
      break;
    }
}

void Report::write(std::ostream& out, Format format) const {
  const std::vector<Row> rows = merge_rounds(rows_);
  switch (format) {
    case Format::table:
      return write_table(out, rows, stamp_);
    case Format::csv:
      return write_csv(out, rows, stamp_);
    case Format::json:
      for (const Row& row : rows) out << to_json(row, stamp_).dump() << '\n';
  }
}

std::vector<Row> merge_rounds(const std::vector<Row>& rows) {
  using Key = std::tuple<std::string, std::string, uint64_t, int>;
  std::vector<Key> order;
  std::map<Key, std::vector<const Row*>> groups;
  for (const Row& row : rows) {
    Key key{row.bench, row.metric, row.bytes, row.pes};
    auto& group = groups[key];
    if (group.empty()) order.push_back(key);
    group.push_back(&row);
  }
  std::vector<Row> out;
  for (const Key& key : order) out.push_back(merged(groups[key]));
  return out;
}

}  // namespace railshmem::perf
