// SPDX-License-Identifier: BSD-3-Clause
// The proxy's own cost per command, from the ring through the dispatch over rails to the watermark, on rails that cost
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace railshmem::perftest {

enum class EngineWork : uint8_t {
  put_inline,  ///< 8 bytes inside the command
  put,         ///< of one write
  fenced,      ///< puts to one PE with a fence after every eighth
  served,      ///< atomic additions of a peer, executed and acknowledged
};

struct EngineBenchOptions {
  EngineWork work = EngineWork::put_inline;
  size_t rails = 1;
  size_t nbytes = 8;
  uint64_t commands = 4000000;  // a fifth of a second at the rate to expect; of each thread
  size_t threads = 1;           ///< as proxy threads: each with a ring, an initiator and rails of its own
};

struct EngineFigures {
  double mops;                         ///< commands a second, in millions, of all the proxy's threads alone
  std::optional<double> instructions;  ///< per command of one thread; nothing where they cannot be counted
};

/// Measures on options.threads threads, all at once. Filling rings and looking at results is not timed.
EngineFigures measure_engine(const EngineBenchOptions& options);

}  // namespace railshmem::perftest
