// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <limits>
#include <map>
#include <stdexcept>

#include "perftest/harness/size_options.h"

namespace railshmem::perf {
namespace {

constexpr int kUsageError = 2;

/// What the command line holds before sizes are parsed.
struct Raw {
  SizeOptions sizes;
  std::string format = "table";
};

void declare(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("bench", options.benches, "Benches to run; --list shows them");
  app.add_flag("--list", options.list, "List the benches and stop");
  raw.sizes.declare(app);
  app.add_option("--iters", options.iters, "Operations per repetition; default: as many as the time allows")
      ->check(CLI::Range(1L, std::numeric_limits<long>::max()));
  app.add_option("--warmup", options.warmup, "Operations before each row that are not measured")
      ->check(CLI::Range(0L, 1000000000L));
  app.add_option("--repetitions", options.repetitions, "Repetitions per row; the value is their median")
      ->check(CLI::Range(1, 10000));
  app.add_option("--window", options.window, "Transfers in flight in bandwidth and rate benches")
      ->check(CLI::Range(1, 65536));
  app.add_option("--rounds", options.rounds, "Run everything this often, floors in between; rows show the medians")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", options.seconds, "Time limit per row")->check(CLI::Range(1e-3, 86400.0));
  app.add_option("--pairs", options.pairs, "Pairs of PEs (i with i + N/2); default: all")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--threads", options.threads, "Threads of ctx_rate")->check(CLI::Range(1, 256));
  app.add_flag("--validate", options.validate, "Compare every byte of every transfer of a checked round");
  app.add_flag("--floor", options.floor, "Run the matching floor first and print the ratio to it");
  app.add_option("--op", options.op,
                 "Operation of amo_lat: fetch_add, add, inc, fetch_inc, set, fetch, swap, "
                 "compare_swap, xor, fetch_xor");
  app.add_option("--provider", options.provider, "libfabric provider of the floors; default: SHMEM_OFI_PROVIDER");
  app.add_option("--format", raw.format, "table, csv or json (one object a row)")
      ->check(CLI::IsMember({"table", "csv", "json"}));
  app.add_option("--out", options.out, "Write the rows to this file instead of standard output");
}

void interpret(const Raw& raw, Options& options) {
  raw.sizes.interpret(options);
  if (!options.list && options.benches.empty())
    throw CLI::ValidationError("bench", "name at least one; --list shows them all");
  options.format =
      std::map<std::string, Format>{{"table", Format::table}, {"csv", Format::csv}, {"json", Format::json}}.at(
          raw.format);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Parsed parse_options(int argc, const char* const* argv) {
  Parsed parsed;
  Raw raw;
  CLI::App app("shmem_perf: bandwidth, latency and rate of OpenSHMEM operations, and the floors they are held against",
               "shmem_perf");
  declare(app, parsed.options, raw);
  try {
    app.parse(argc, argv);
    interpret(raw, parsed.options);
  } catch (const CLI::CallForHelp&) {
    parsed.exit_status = 0;
    parsed.message = app.help();
  } catch (const CLI::ParseError& e) {
    parsed.exit_status = kUsageError;
    parsed.message = std::string("shmem_perf: ") + e.what() + "; --help shows every option\n";
  }
  return parsed;
}

uint64_t parse_bytes(std::string_view value) {
  const auto refuse = [&](const char* why) {
    return std::invalid_argument("'" + std::string(value) + "' " + why +
                                 "; give bytes, with K, M or G for powers of 1024, for example 8, 4K or 1M");
  };
  uint64_t number = 0;
  size_t used = 0;
  for (; used < value.size() && value[used] >= '0' && value[used] <= '9'; ++used) {
    const uint64_t digit = static_cast<uint64_t>(value[used] - '0');
    if (number > (std::numeric_limits<uint64_t>::max() - digit) / 10) throw refuse("is too large");
    number = number * 10 + digit;
  }
  if (used == 0) throw refuse("is not a size");
  int shift = 0;
  if (used < value.size()) {
    const size_t suffix = std::string_view("kKmMgG").find(value[used]);
    if (suffix == std::string_view::npos || used + 1 != value.size()) throw refuse("is not a size");
    shift = 10 * (static_cast<int>(suffix) / 2 + 1);
  }
  if (number == 0) throw refuse("is no transfer at all");
  if (number > (uint64_t{1} << 40 >> shift)) throw refuse("is too large");
  return number << shift;
}

std::vector<uint64_t> sweep(const Options& options, const Range& fallback) {
  if (fallback.high == 0) return {0};  // nothing to double; options of sizes are for the other benches
  if (!options.sizes.empty()) return options.sizes;
  if (!options.min_bytes && !options.max_bytes && fallback.low == fallback.high) return {fallback.low};
  uint64_t low = options.min_bytes.value_or(fallback.low);
  uint64_t high = options.max_bytes.value_or(fallback.high);
  // Only one bound was given, and it is beyond the bench's other bound: the given one counts.
  if (low > high) (options.min_bytes ? high : low) = options.min_bytes ? low : high;
  std::vector<uint64_t> sizes;
  for (uint64_t size = low; size < high; size *= 2) sizes.push_back(size);
  sizes.push_back(high);
  return sizes;
}

std::string transport_name() {
  const std::string name = variable("SHMEM_TRANSPORT");
  return name.empty() ? "auto" : name;
}

std::string provider_name(const Options& options) {
  if (!options.provider.empty()) return options.provider;
  const std::string name = variable("SHMEM_OFI_PROVIDER");
  return name.empty() ? "auto" : name;
}

}  // namespace railshmem::perf
