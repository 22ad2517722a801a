// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/ring/ring_bench.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "include/shmem/device/push.h"
#include "include/shmem/device/wait.h"
#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/channel/channel.h"

namespace railshmem::perftest {

namespace {

using device::Deadline;
using device::Payload;
using device::Producers;

Command sample(uint64_t i) {
  Command c;
  c.op = CommandOp::put;
  c.pe = 1;
  c.nbytes = 4096;
  c.remote_offset = i * 4096;
  c.local = i;
  return c;
}

/// A wrong command would make every figure meaningless.
void expect(bool right) {
  if (!right) die("command ring: a command arrived changed");
}

/// Time per command of push and pop by turns, half a ring each.
template <Producers P>
double one_thread(const RingBenchOptions& options, bool doorbell) {
  Channel channel(options.log2_slots);
  RingView view = channel.view().ring;
  if (!doorbell) view.doorbell = nullptr;
  const uint64_t batch = std::max<uint64_t>(1, (uint64_t{1} << options.log2_slots) / 2);
  const uint64_t start = now_ns();
  for (uint64_t done = 0; done < options.commands; done += batch) {
    for (uint64_t i = done; i < done + batch; ++i) device::push<P>(view, sample(i), Deadline::never());
    for (uint64_t i = done; i < done + batch; ++i) {
      const auto command = channel.ring().peek();  // the ring alone: nothing is in flight here
      expect(command && command->local == i);
      channel.ring().pop();
    }
  }
  const uint64_t rounds = (options.commands + batch - 1) / batch;
  return static_cast<double>(now_ns() - start) / static_cast<double>(rounds * batch);
}

/// Commands per microsecond taken and finished, of a ring that is filled by turns.
double consumer_alone(const RingBenchOptions& options) {
  Channel channel(options.log2_slots);
  RingView view = channel.view().ring;
  view.doorbell = nullptr;
  const uint64_t batch = std::max<uint64_t>(1, (uint64_t{1} << options.log2_slots) / 2);
  uint64_t spent = 0, done = 0;
  while (done < options.commands) {
    for (uint64_t i = done; i < done + batch; ++i) device::push<Producers::one>(view, sample(i), Deadline::never());
    done += batch;
    const uint64_t start = now_ns();
    while (const auto command = channel.peek()) {
      expect(command->local == channel.next());
      channel.complete(channel.next());
      channel.pop();
    }
    channel.publish();
    spent += now_ns() - start;
    expect(channel.next() == done);
  }
  return static_cast<double>(done) * 1e3 / static_cast<double>(spent);
}

/// The proxy's loop without a network: every command is finished at once.
void consume(Channel& channel, uint64_t expected) {
  uint32_t idle = 0;
  while (channel.next() < expected) {
    const uint64_t before = channel.next();
    while (const auto command = channel.peek()) {
      expect(command->local == channel.next());
      channel.complete(channel.next());
      channel.pop();
      if (channel.next() - before >= 64) break;  // as a proxy does, which also has to reap
    }
    channel.publish();
    if (channel.next() == before) portable::relax(idle++);
  }
}

double two_threads(const RingBenchOptions& options) {
  Channel channel(options.log2_slots);
  const ChannelView view = channel.view();
  std::jthread consumer([&] { consume(channel, options.commands); });
  const uint64_t start = now_ns();
  for (uint64_t i = 0; i < options.commands; ++i) device::push(view.ring, sample(i), Deadline::never());
  device::quiet(view, Deadline::never());
  return static_cast<double>(options.commands) * 1e3 / static_cast<double>(now_ns() - start);
}

std::vector<double> round_trips(const RingBenchOptions& options) {
  Channel channel(options.log2_slots);
  const ChannelView view = channel.view();
  std::jthread consumer([&] { consume(channel, options.round_trips); });
  std::vector<double> times(options.round_trips);
  for (uint64_t i = 0; i < options.round_trips; ++i) {
    const uint64_t start = now_ns();
    const auto pushed = device::push(view.ring, sample(i), Deadline::never());
    device::wait_ticket(view, pushed.ticket, Deadline::never());
    times[i] = static_cast<double>(now_ns() - start) / 1e3;
  }
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace

RingFigures measure_ring(const RingBenchOptions& options) {
  RingFigures figures{};
  figures.single_thread_ns = one_thread<Producers::many>(options, true);
  figures.private_push_ns = one_thread<Producers::one>(options, false);
  figures.consume_mops = consumer_alone(options);
  figures.throughput_mops = two_threads(options);
  const std::vector<double> times = round_trips(options);
  figures.round_trip_us = times[times.size() / 2];
  figures.round_trip_p99_us = times[times.size() * 99 / 100];
  return figures;
}

}  // namespace railshmem::perftest
