// SPDX-License-Identifier: BSD-3-Clause
// Timing of operations between PEs, and the checked rounds of --validate.
#pragma once

#include "perftest/harness/context.h"
#include "perftest/harness/pattern.h"

namespace railshmem::perf {

/// PE 0 says on standard error that a row has fewer repetitions than asked for, and why.
void say_cut_short(const Context& context, double op_seconds, long repetitions);

/// Runs `op` as often as PE 0 decides, in repetitions that all PEs start together. `acts`: this PE calls op; a target
/// of one-sided operations does not, but waits in the barrier and progresses there. `times`: this PE's numbers count.
/// Returns the timing PEs' distributions on PE 0, an empty list elsewhere. Collective.
template <class Op>
std::vector<Distribution> measure(Context& context, bool acts, bool times, Op&& op) {
  const auto seconds = [&](long n) {
    shmem_barrier_all();
    return acts ? seconds_of(n, op) : 0.0;
  };
  const uint64_t started = ticks();
  seconds(1);  // the first operation may connect or fault pages in
  // The time that PE 0 sees, barrier included, so that a PE that only receives knows it too.
  const double connecting = static_cast<double>(ticks() - started) * seconds_per_tick();
  double op_seconds = connecting;
  if (context.agree(connecting < context.options.seconds)) {
    const double first = seconds(1);
    const long warmup = context.agree(std::max(1L, warmup_for(first, context.options)));
    op_seconds = seconds(warmup) / static_cast<double>(warmup);
  }
  Plan plan = plan_for(op_seconds, context.options);
  plan.iters = context.agree(plan.iters);
  plan.group = context.agree(plan.group);
  const long repetitions = context.agree(repetitions_for(op_seconds, context.options));
  if (repetitions < context.options.repetitions) say_cut_short(context, op_seconds, repetitions);
  Series series;
  for (long r = 0; r < repetitions; ++r) {
    shmem_barrier_all();
    if (times)
      run_repetition(plan, op, series);
    else if (acts)
      seconds_of(plan.iters, op);
  }
  shmem_barrier_all();
  std::vector<Distribution> timed;
  for (const Distribution& d : context.gather(times ? distribution(series) : Distribution{}))
    if (d.iters > 0) timed.push_back(d);
  return timed;
}

/// Compares one received message; false when it is wrong.
bool check_message(Context& context, const void* buffer, uint64_t bytes, int sender, uint64_t round);

/// Which PE sends and which receives in a checked round.
struct Flow {
  bool posts;     ///< this PE calls the operation
  bool provides;  ///< this PE's buffer is the source
  bool receives;  ///< this PE compares
};

/// One checked round: `window` transfers of `bytes`, as many at a time as `capacity` has room for, each with a pattern
/// of its own. `post(local offset = remote offset)` starts one transfer and `complete()` ends all started ones.
/// Collective.
template <class Post, class Complete>
void checked_round(Context& context, const Flow& flow, char* source, char* target, uint64_t bytes, uint64_t capacity,
                   Post&& post, Complete&& complete) {
  const uint64_t window = static_cast<uint64_t>(context.options.window);
  const uint64_t slots = std::clamp<uint64_t>(capacity / bytes, 1, window);
  for (uint64_t round = 0; round < window; round += slots) {
    const uint64_t count = std::min(slots, window - round);
    for (uint64_t s = 0; flow.provides && s < count; ++s)
      fill_pattern(source + s * bytes, bytes, context.pe, round + s);
    shmem_barrier_all();
    for (uint64_t s = 0; flow.posts && s < count; ++s) post(s * bytes);
    if (flow.posts) complete();
    shmem_barrier_all();
    for (uint64_t s = 0; flow.receives && s < count; ++s)
      check_message(context, target + s * bytes, bytes, context.peer(), round + s);
  }
  context.conclude_check();
}

}  // namespace railshmem::perf
