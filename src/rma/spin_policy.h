// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace railshmem {

/// How a waiting PE spends its time: spin, then give the CPU away, then sleep.
struct SpinPolicy {
  bool share_cpus = false;         ///< PEs of this host outnumber its CPUs
  uint32_t spins = 1000;           ///< pause instructions before the first yield: some 30 us
  uint32_t helps = 1000;           ///< where a network runs: fruitless steps of the network before the first yield
  uint32_t helps_per_yield = 64;   ///< fruitless steps between later yields; a yield costs as much as several steps
  uint64_t yield_ns = 2000000;     ///< time of yielding before the first nap
  uint64_t helping_ns = 50000000;  ///< where a network runs: time of doing the proxy thread's work before the first nap
  uint64_t nap_share = 64;         ///< a nap is this part of the time waited so far: it delays the end by 2 %
  uint64_t longest_nap_ns = 2000000;
  double timeout_s = 60;         ///< after this a waiting PE checks and says whom it waits for
  double wait_timeout_s = 3600;  ///< after this the wait is an error; 0 = never

  /// Fewer CPUs than running PEs: a PE that spins keeps the one it waits for from running.
  static SpinPolicy for_machine(int cpus, int pes_on_host, double timeout_s, double wait_timeout_s) {
    SpinPolicy policy;
    policy.timeout_s = timeout_s;
    policy.wait_timeout_s = wait_timeout_s;
    policy.share_cpus = pes_on_host > cpus;
    if (!policy.share_cpus) return policy;
    policy.spins = 100;
    policy.helps = 0;
    policy.helps_per_yield = 1;  // the PE that this one waits for has no CPU meanwhile (decision 0004)
    return policy;
  }
};

}  // namespace railshmem
