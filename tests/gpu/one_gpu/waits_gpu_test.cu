// SPDX-License-Identifier: BSD-3-Clause
// A kernel's waits: for what is finished in any order, until a deadline, until the host says that it is over.
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "include/shmem/device/push.h"
#include "include/shmem/device/wait.h"
#include "tests/gpu/one_gpu/gpu_support.h"

namespace railshmem::gpu_test {
namespace {

constexpr int kTargets = 8;

/// A put_inline whose target is memory that both sides map.
RAILSHMEM_HD Command store(uint64_t* to, uint64_t value) {
  Command c;
  c.op = CommandOp::put_inline;
  c.nbytes = 8;
  c.local = reinterpret_cast<uintptr_t>(to);
  c.value = value;
  return c;
}

/// Each round: a few stores by the proxy, a wait, and a look at what it stored.
__global__ void store_and_wait(ChannelView channel, uint64_t rounds, uint64_t* targets, uint64_t* statuses,
                               uint64_t* stale) {
  const uint32_t thread = thread_index();
  uint64_t* const mine = targets + thread * kTargets;
  const device::Deadline deadline = device::Deadline::in(kLong);
  ChannelStatus status = ChannelStatus::ok;
  for (uint64_t round = 1; round <= rounds && status == ChannelStatus::ok; ++round) {
    device::Reserved pushed{};
    for (int k = 0; k < kTargets; ++k) {
      pushed = device::push(channel.ring, store(mine + k, round * kTargets + k), deadline, device::Payload::released);
      if (pushed.status != ChannelStatus::ok) status = pushed.status;
    }
    if (status == ChannelStatus::ok) {
      // A ticket waits for all before it, so for this thread's others too.
      status =
          round % 2 != 0 ? device::quiet(channel, deadline) : device::wait_ticket(channel, pushed.ticket, deadline);
    }
    for (int k = 0; k < kTargets; ++k) stale[thread] += mine[k] != round * kTargets + k;
  }
  statuses[thread] = static_cast<uint64_t>(status);
}

/// Executes and finishes in random order, and now and then holds everything back for a while.
void proxy_in_random_order(Channel& channel, uint64_t expected) {
  struct Flying {
    uint64_t ticket;
    Command command;
  };
  std::vector<Flying> flying;
  std::minstd_rand random(20261124);
  const uint64_t end = portable::clock_ns() + kLong;
  while (channel.next() < expected || !flying.empty()) {
    for (int budget = 0; budget < 32; ++budget) {
      const auto command = channel.peek();
      if (!command) break;
      flying.push_back({channel.next(), *command});
      channel.pop();
    }
    if (portable::clock_ns() > end) return channel.fail(ChannelStatus::stopped);
    if (random() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
    for (size_t n = random() % 16; n > 0 && !flying.empty(); --n) {
      std::swap(flying[random() % flying.size()], flying.back());
      const Flying& done = flying.back();
      *reinterpret_cast<uint64_t*>(done.command.local) = done.command.value;
      channel.complete(done.ticket);
      flying.pop_back();
    }
    channel.publish();
  }
}

void test_random_completion(unsigned blocks, unsigned threads, Place producers) {
  const uint64_t rounds = scaled(400);
  const size_t n = size_t{blocks} * threads;
  Channel channel(kernel_channel_memory(8, producers));
  Pinned<uint64_t> targets(n * kTargets), statuses(n), stale(n);
  {
    std::jthread proxy([&] { proxy_in_random_order(channel, n * kTargets * rounds); });
    store_and_wait<<<blocks, threads>>>(kernel_view(channel), rounds, targets.get(), statuses.get(), stale.get());
    finish_kernel();
  }
  check_statuses(statuses, ChannelStatus::ok, "random completion");
  for (size_t t = 0; t < n; ++t) {
    GPU_CHECK(stale[t] == 0, "thread %zu read %llu values from before its quiet", t,
              static_cast<unsigned long long>(stale[t]));
  }
  std::printf("waits: quiet and wait_ticket of %zu threads, producers' line %s, finished in random order\n", n,
              name_of(producers));
}

struct Timed {
  uint64_t status, took_ns;
};

enum class Act : uint8_t { quiet, push, push_alone };

__global__ void act_once(ChannelView channel, Act act, uint64_t timeout_ns, Timed* out) {
  const uint64_t start = portable::clock_ns();
  const device::Deadline deadline = device::Deadline::in(timeout_ns);
  ChannelStatus status = ChannelStatus::ok;
  if (act == Act::quiet) status = device::quiet(channel, deadline);
  if (act == Act::push) status = device::push(channel.ring, Command{}, deadline).status;
  if (act == Act::push_alone) {
    status = device::push<device::Producers::one>(channel.ring, Command{}, deadline).status;
  }
  out[thread_index()] = {static_cast<uint64_t>(status), portable::clock_ns() - start};
}

/// One kernel whose threads all do `act`; while it runs the host does `meanwhile`.
template <class Meanwhile>
void expect(const char* what, Channel& channel, Act act, unsigned threads, uint64_t timeout_ns, ChannelStatus status,
            uint64_t at_least_ns, uint64_t at_most_ns, Meanwhile meanwhile) {
  Pinned<Timed> out(threads);
  act_once<<<1, threads>>>(kernel_view(channel), act, timeout_ns, out.get());
  meanwhile();
  finish_kernel();
  uint64_t longest = 0;
  for (const Timed& t : out) {
    longest = t.took_ns > longest ? t.took_ns : longest;
    GPU_CHECK(t.status == static_cast<uint64_t>(status), "%s: status %llu, expected %llu", what,
              static_cast<unsigned long long>(t.status), static_cast<unsigned long long>(status));
    GPU_CHECK(t.took_ns >= at_least_ns, "%s: after only %llu ns", what, static_cast<unsigned long long>(t.took_ns));
    GPU_CHECK(small_counts || t.took_ns <= at_most_ns, "%s: only after %llu ns", what,
              static_cast<unsigned long long>(t.took_ns));
  }
  std::printf("waits: %-52s %9.3f ms\n", what, static_cast<double>(longest) / 1e6);
}

constexpr auto kNothing = [] {};
constexpr uint64_t kTimeout = 20 * kMillisecond, kSoon = 2 * kMillisecond;

void test_deadlines() {
  Channel channel(kernel_channel_memory(5, Place::gpu));
  expect("push of 32 into a ring of 32", channel, Act::push, 32, kTimeout, ChannelStatus::ok, 0, kTimeout, kNothing);
  expect("quiet without a consumer times out", channel, Act::quiet, 32, kTimeout, ChannelStatus::timeout, kTimeout,
         2 * kTimeout, kNothing);
  GPU_CHECK(channel.status() == ChannelStatus::ok, "a quiet that timed out killed its channel");
  expect("push into a full ring times out", channel, Act::push, 32, kTimeout, ChannelStatus::timeout, kTimeout,
         2 * kTimeout, kNothing);
  GPU_CHECK(channel.status() == ChannelStatus::timeout, "the hole in the ring is not in the error word");
  expect("the dead channel ends later waits at once", channel, Act::push, 32, kLong, ChannelStatus::timeout, 0, kSoon,
         kNothing);

  Channel own(kernel_channel_memory(0, Place::gpu));
  expect("private push", own, Act::push_alone, 1, kTimeout, ChannelStatus::ok, 0, kTimeout, kNothing);
  expect("private push into a full ring times out", own, Act::push_alone, 1, kTimeout, ChannelStatus::timeout, kTimeout,
         2 * kTimeout, kNothing);
  GPU_CHECK(own.peek().has_value(), "the first private push is not there");
  own.pop();
  expect("private push after that", own, Act::push_alone, 1, kTimeout, ChannelStatus::ok, 0, kTimeout, kNothing);
  GPU_CHECK(own.peek().has_value() && own.next() == 1, "the second private push is not there");
}

void test_failure() {
  const auto fail_after_a_while = [](Channel& channel) {
    return [&channel] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      channel.fail(ChannelStatus::peer_lost);
    };
  };
  Channel waiting(kernel_channel_memory(5, Place::gpu)), full(kernel_channel_memory(5, Place::gpu));
  for (Channel* channel : {&waiting, &full}) {
    expect("push of 32 into a ring of 32", *channel, Act::push, 32, kLong, ChannelStatus::ok, 0, kTimeout, kNothing);
  }
  const uint64_t latest = 20 * kTimeout;  // the host's sleep and the launch are in it
  expect("fail() ends a quiet", waiting, Act::quiet, 32, kLong, ChannelStatus::peer_lost, 0, latest,
         fail_after_a_while(waiting));
  expect("fail() ends a push into a full ring", full, Act::push, 32, kLong, ChannelStatus::peer_lost, 0, latest,
         fail_after_a_while(full));
  full.fail(ChannelStatus::stopped);
  GPU_CHECK(full.status() == ChannelStatus::peer_lost, "the first reason did not stay");
}

}  // namespace

void test_waits() {
  for (const Place producers : {Place::gpu, Place::pinned}) {
    test_random_completion(1, 1, producers);
    test_random_completion(4, 64, producers);
  }
  test_deadlines();
  test_failure();
}

}  // namespace railshmem::gpu_test
