// SPDX-License-Identifier: BSD-3-Clause
// amo_lat: one 8-byte atomic on the peer's word, until its result has arrived, or until quiet where it has no result.
// On unsigned long, the one unsigned type for which older libraries have every atomic.
#include <stdexcept>
#include <string_view>

#include "perftest/harness/measure.h"

namespace railshmem::perf {
namespace {

/// An operation: run(word, i, pe) is its i-th call, from 1. before(i) is the word's value ahead of that call: a
/// fetching operation must return before(i), and after the last call i the word must hold before(i + 1).
template <auto Run, auto Before, bool Fetches>
struct Amo {
  static constexpr bool kFetches = Fetches;
  static uint64_t run(unsigned long* word, uint64_t i, int pe) { return Run(word, i, pe); }
  static uint64_t before(uint64_t i) { return Before(i); }
};
constexpr auto kCounts = [](uint64_t i) { return i - 1; };
constexpr auto kToggles = [](uint64_t i) { return (i - 1) & 1; };
constexpr auto kStays = [](uint64_t) { return uint64_t{0}; };

template <class Op>
void check(Context& context, unsigned long* word) {
  *word = 0;
  shmem_barrier_all();
  const uint64_t calls = static_cast<uint64_t>(context.options.window);
  for (uint64_t i = 1; context.is_origin() && i <= calls; ++i) {
    const uint64_t fetched = Op::run(word, i, context.peer());
    if (Op::kFetches && fetched != Op::before(i))
      context.mismatch("call " + std::to_string(i) + " fetched " + std::to_string(fetched) + ", expected " +
                       std::to_string(Op::before(i)));
  }
  shmem_barrier_all();
  const uint64_t last = *static_cast<volatile unsigned long*>(word);
  if (context.is_target() && last != Op::before(calls + 1))
    context.mismatch("the word ended as " + std::to_string(last) + ", expected " +
                     std::to_string(Op::before(calls + 1)));
  context.conclude_check();
}

template <class Op>
void run(Context& context, const char* metric) {
  Symmetric memory(sizeof(uint64_t));
  auto* word = memory.as<unsigned long>();
  const int peer = context.peer();
  if (context.options.validate) check<Op>(context, word);
  uint64_t i = 0;
  uint64_t seen = 0;
  const auto by_origin = measure(context, context.is_origin(), context.is_origin(), [&] {
    seen += Op::run(word, ++i, peer);
    if constexpr (!Op::kFetches) shmem_quiet();
  });
  context.add_latency(metric, sizeof *word, by_origin);
}

struct Named {
  const char* name;
  void (*run)(Context&, const char*);
};
// clang-format off
#define RAILSHMEM_PERF_CALL [](unsigned long* w, [[maybe_unused]] uint64_t i, int pe) -> uint64_t
#define RAILSHMEM_PERF_FETCHING(call, before) &run<Amo<RAILSHMEM_PERF_CALL { return call; }, before, true>>
#define RAILSHMEM_PERF_SILENT(call, before) &run<Amo<RAILSHMEM_PERF_CALL { call; return 0; }, before, false>>
const Named kOps[] = {
    {"fetch_add",    RAILSHMEM_PERF_FETCHING(shmem_ulong_atomic_fetch_add(w, 1, pe), kCounts)},
    {"add",          RAILSHMEM_PERF_SILENT(shmem_ulong_atomic_add(w, 1, pe), kCounts)},
    {"fetch_inc",    RAILSHMEM_PERF_FETCHING(shmem_ulong_atomic_fetch_inc(w, pe), kCounts)},
    {"inc",          RAILSHMEM_PERF_SILENT(shmem_ulong_atomic_inc(w, pe), kCounts)},
    {"fetch",        RAILSHMEM_PERF_FETCHING(shmem_ulong_atomic_fetch(w, pe), kStays)},
    {"set",          RAILSHMEM_PERF_SILENT(shmem_ulong_atomic_set(w, i, pe), kCounts)},
    {"swap",         RAILSHMEM_PERF_FETCHING(shmem_ulong_atomic_swap(w, i, pe), kCounts)},
    {"compare_swap", RAILSHMEM_PERF_FETCHING(shmem_ulong_atomic_compare_swap(w, i - 1, i, pe), kCounts)},
    {"fetch_xor",    RAILSHMEM_PERF_FETCHING(shmem_ulong_atomic_fetch_xor(w, 1, pe), kToggles)},
    {"xor",          RAILSHMEM_PERF_SILENT(shmem_ulong_atomic_xor(w, 1, pe), kToggles)},
};
// clang-format on

void amo_lat(Context& context) {
  std::string known;
  for (const Named& op : kOps) {
    if (context.options.op == op.name) return op.run(context, op.name);
    known += std::string(known.empty() ? "" : ", ") + op.name;
  }
  throw std::invalid_argument("--op '" + context.options.op + "' is no atomic of amo_lat; accepted: " + known);
}

const Register bench({"amo_lat",
                      "one 8-byte atomic (--op): us",
                      Place::pairs,
                      {8, 8},
                      amo_lat,
                      {"floor_fetch_add", "latency"},
                      {"floor_fi_request", "round_trip"}});

}  // namespace
}  // namespace railshmem::perf
