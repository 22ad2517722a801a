// SPDX-License-Identifier: BSD-3-Clause
// put_signal_pingpong, signal_pingpong, flag_pingpong: half of the time there and back.
#include "perftest/harness/pingpong.h"

namespace railshmem::perf {
namespace {

constexpr FloorOf kFlagFloor{"floor_flag_pingpong", "one_way"};
constexpr FloorOf kFabricFloor{"floor_fi_pingpong", "one_way"};

void flag_pingpong(Context& context) {
  Symmetric memory(sizeof(uint64_t));
  auto* flag = memory.as<uint64_t>();
  uint64_t count = 0;
  const int peer = context.peer();
  context.add_latency("one_way", sizeof *flag,
                      pingpong(
                          context, count, [&](uint64_t n) { shmem_uint64_p(flag, n, peer); },
                          [&](uint64_t n) { shmem_uint64_wait_until(flag, SHMEM_CMP_EQ, n); }),
                      0.5);
}

const Register flag_bench({"flag_pingpong",
                           "uint64_p + wait_until, one way: us",
                           Place::pairs,
                           {8, 8},
                           flag_pingpong,
                           kFlagFloor,
                           kFabricFloor});

#if RAILSHMEM_PERF_HAS(1, 6)
void signal_pingpong(Context& context) {
  Symmetric memory(sizeof(uint64_t));
  auto* signal = memory.as<uint64_t>();
  uint64_t count = 0;
  const int peer = context.peer();
  context.add_latency("one_way", sizeof *signal,
                      pingpong(
                          context, count, [&](uint64_t n) { shmem_signal_set(signal, n, peer); },
                          [&](uint64_t n) { shmem_signal_wait_until(signal, SHMEM_CMP_EQ, n); }),
                      0.5);
}

const Register signal_bench({"signal_pingpong",
                             "signal_set + signal_wait_until, one way: us",
                             Place::pairs,
                             {8, 8},
                             signal_pingpong,
                             kFlagFloor,
                             kFabricFloor});
#endif

#if RAILSHMEM_PERF_HAS(1, 5)
struct SignalBuffers {
  char* source;
  char* dest;
  uint64_t* signal;
};

/// Data must be there when the signal is: each message is compared at once, with nothing but the wait in between.
void check_put_signal(Context& context, const SignalBuffers& to, uint64_t bytes, uint64_t& count) {
  const bool origin = context.is_origin();
  const auto send = [&] {
    fill_pattern(to.source, bytes, context.pe, count);
    shmem_putmem_signal(to.dest, to.source, bytes, to.signal, count, SHMEM_SIGNAL_SET, context.peer());
  };
  const uint64_t end = count + static_cast<uint64_t>(context.options.window);
  if (!origin && !context.is_target()) count = end;
  while (count < end) {
    ++count;
    if (origin) send();
    shmem_signal_wait_until(to.signal, SHMEM_CMP_EQ, count);
    check_message(context, to.dest, bytes, context.peer(), count);
    if (!origin) send();
  }
  context.conclude_check();
}

void put_signal_pingpong(Context& context) {
  Symmetric source(context.largest());
  Symmetric dest(context.largest());
  Symmetric signal(sizeof(uint64_t));
  const SignalBuffers to{source.as(), dest.as(), signal.as<uint64_t>()};
  const int peer = context.peer();
  uint64_t count = 0;
  for (const uint64_t bytes : context.sizes) {
    if (context.options.validate) check_put_signal(context, to, bytes, count);
    const auto by_origin = pingpong(
        context, count,
        [&](uint64_t n) { shmem_putmem_signal(to.dest, to.source, bytes, to.signal, n, SHMEM_SIGNAL_SET, peer); },
        [&](uint64_t n) { shmem_signal_wait_until(to.signal, SHMEM_CMP_EQ, n); });
    context.add_latency("one_way", bytes, by_origin, 0.5);
  }
}

const Register put_signal_bench({"put_signal_pingpong",
                                 "putmem_signal + signal_wait_until, one way: us",
                                 Place::pairs,
                                 {8, 64 << 10},
                                 put_signal_pingpong,
                                 kFlagFloor,
                                 kFabricFloor});
#endif

}  // namespace
}  // namespace railshmem::perf
