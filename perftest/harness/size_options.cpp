// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/size_options.h"

#include <CLI/CLI.hpp>
#include <stdexcept>

namespace railshmem::perf {
namespace {

uint64_t bytes_of(const char* option, const std::string& value) {
  try {
    return parse_bytes(value);
  } catch (const std::invalid_argument& e) {
    throw CLI::ValidationError(option, e.what());
  }
}

}  // namespace

void SizeOptions::declare(CLI::App& app) {
  app.add_option("--min-bytes", min_bytes_, "Smallest message: bytes, with K, M or G (1024)");
  app.add_option("--max-bytes", max_bytes_, "Largest message, same form");
  app.add_option("--sizes", sizes_, "Exactly these messages, separated by commas")->delimiter(',');
}

void SizeOptions::interpret(Options& options) const {
  if (!min_bytes_.empty()) options.min_bytes = bytes_of("--min-bytes", min_bytes_);
  if (!max_bytes_.empty()) options.max_bytes = bytes_of("--max-bytes", max_bytes_);
  for (const std::string& size : sizes_) options.sizes.push_back(bytes_of("--sizes", size));
  if (!options.sizes.empty() && (options.min_bytes || options.max_bytes))
    throw CLI::ValidationError("--sizes", "is a full list; drop --min-bytes and --max-bytes");
  if (options.min_bytes && options.max_bytes && *options.min_bytes > *options.max_bytes)
    throw CLI::ValidationError("--min-bytes", min_bytes_ + " exceeds --max-bytes " + max_bytes_);
}

}  // namespace railshmem::perf
