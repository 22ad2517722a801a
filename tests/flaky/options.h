// SPDX-License-Identifier: BSD-3-Clause
// FLAKY=seed=7,again=5,burst=20,delay=8,...: the faults of this job.
#pragma once

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "src/base/error.h"
#include "tests/support/flaky_options.h"

namespace railshmem::test {

/// Throws Error: a misspelt fault must not pass for a test.
inline FlakyOptions flaky_options_from_environment() {
  const char* const faults = std::getenv("FLAKY");
  if (faults == nullptr) throw Error("FLAKY is not set; this library is for tests only, see tests/flaky");
  FlakyOptions options{.again_one_in = 0, .delay_polls = 0};
  options.delay_one_in = 4;  // whole programs have many thousand posts, most of them with somebody waiting for the end
  std::istringstream in(faults);
  for (std::string entry; std::getline(in, entry, ',');) {
    const size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : entry.substr(equals + 1);
    const auto number = [&] {
      char* end = nullptr;
      const unsigned long n = std::strtoul(value.c_str(), &end, 10);
      if (value.empty() || *end != '\0') throw Error(text("FLAKY: %s wants a number", entry.c_str()));
      return static_cast<unsigned>(n);
    };
    static const std::map<std::string, Lie> lies{
        {"drops", Lie::drops}, {"early", Lie::early}, {"overtakes", Lie::overtakes}};
    if (name == "seed")
      options.seed = number();
    else if (name == "again")
      options.again_one_in = number();
    else if (name == "burst")
      options.longest_burst = number();
    else if (name == "delay")
      options.delay_polls = number();
    else if (name == "order")
      options.message_after_write = number() != 0;
    else if (name == "fail")
      options.fail_one_in = number();
    else if (name == "fails")
      options.most_failures = number();
    else if (name == "outage")
      options.outage = std::chrono::milliseconds(number());
    else if (name == "lie" && lies.count(value) > 0)
      options.lie = lies.at(value);
    else
      throw Error(text("FLAKY: nobody knows '%s'", entry.c_str()));
  }
  return options;
}

}  // namespace railshmem::test
