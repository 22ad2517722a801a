// SPDX-License-Identifier: BSD-3-Clause
// The command line of shmem_perf.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace railshmem::perf {

enum class Format : uint8_t { table, csv, json };

struct Options {
  std::vector<std::string> benches;
  bool list = false;
  std::optional<uint64_t> min_bytes;  ///< absent = the bench's own range
  std::optional<uint64_t> max_bytes;
  std::vector<uint64_t> sizes;  ///< not empty = exactly these
  std::optional<long> iters;    ///< per repetition; absent = chosen from the time one operation takes
  long warmup = 100;
  int repetitions = 11;  ///< odd, so that the median is a measured value
  int window = 64;
  int rounds = 1;
  double seconds = 1.0;  ///< limit per row
  int pairs = 0;         ///< 0 = all
  int threads = 2;       ///< of benches that start threads
  bool validate = false;
  bool floor = false;
  std::string op = "fetch_add";
  std::string provider;
  Format format = Format::table;
  std::string out;
};

/// Either options to run with, or an exit status with the text to print first.
struct Parsed {
  Options options;
  std::optional<int> exit_status;
  std::string message;
};

/// Never prints and never exits: under a launcher only one PE should speak.
Parsed parse_options(int argc, const char* const* argv);

/// "8", "4K", "2M", "1G": bytes in powers of 1024, at least 1. Throws std::invalid_argument saying what is accepted.
uint64_t parse_bytes(std::string_view value);

/// A bench's own range of message sizes in bytes; {0, 0}: the bench has no messages.
struct Range {
  uint64_t low = 8;
  uint64_t high = 8;
};

/// The sizes to run: the list as given, or doubling from the lower to the upper bound, both included. A bench without
/// messages runs once, as size 0, whatever sizes the options name.
std::vector<uint64_t> sweep(const Options& options, const Range& fallback);

/// The transport and provider of this run as rows name them; "auto" where the environment leaves them open.
std::string transport_name();
std::string provider_name(const Options& options);

}  // namespace railshmem::perf
