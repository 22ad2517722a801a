// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/engine/engine_bench.h"

#include <barrier>
#include <thread>
#include <vector>

#include "include/shmem/device/push.h"
#include "perftest/engine/instructions.h"
#include "perftest/engine/null_rail.h"
#include "perftest/engine/served_bench.h"
#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/channel/channel.h"
#include "src/proxy/channel_drain.h"

namespace railshmem::perftest {

namespace {

constexpr int kPes = 64;
constexpr size_t kCells = 4096;
constexpr uint32_t kLog2Slots = 10;
constexpr uint64_t kBatch = (uint64_t{1} << kLog2Slots) / 2;
constexpr uint64_t kFenceEvery = 8;

Command command(const EngineBenchOptions& options, uint64_t i, std::byte* source) {
  Command c;
  if (options.work == EngineWork::fenced && i % kFenceEvery == kFenceEvery - 1) {
    c.op = CommandOp::fence;
    return c;
  }
  c.op = options.work == EngineWork::put_inline ? CommandOp::put_inline : CommandOp::put;
  c.pe = options.work == EngineWork::fenced ? 1 : static_cast<uint32_t>(1 + i % (kPes - 1));
  c.nbytes = options.nbytes;
  c.remote_offset = i * 64;
  if (c.op == CommandOp::put_inline)
    c.value = i;
  else
    c.local = reinterpret_cast<uint64_t>(source);
  return c;
}

/// Measures one thread, the calling one.
EngineFigures measure_thread(const EngineBenchOptions& options) {
  std::vector<NullRail> rails(options.rails, NullRail(kCells));
  Initiator<NullRail> initiator(std::span<NullRail>(rails), InitiatorConfig{Port::proxy, 0, kPes, kCells});
  Channel channel(kLog2Slots);
  ChannelDrain<NullRail> drain(channel, initiator, kPes);
  const RingView view = channel.view().ring;
  std::vector<std::byte> source(options.nbytes);
  const Instructions counter;
  uint64_t spent_ns = 0;
  uint64_t retired = 0;
  uint64_t done = 0;
  while (done < options.commands) {
    for (uint64_t i = done; i < done + kBatch; ++i)
      device::push<device::Producers::one>(view, command(options, i, source.data()), device::Deadline::never());
    done += kBatch;
    const uint64_t before = counter.read().value_or(0);
    const uint64_t start = now_ns();
    uint32_t passes = 0;
    do {  // what ProxySide does at every step
      initiator.poll([](size_t, const std::byte*, size_t) {});
      drain.step();
      if (++passes > 1u << 20) die("engine bench: %llu commands do not end", static_cast<unsigned long long>(kBatch));
    } while (channel.next() < done || channel.in_flight() > 0);
    spent_ns += now_ns() - start;
    retired += counter.read().value_or(0) - before;
  }
  EngineFigures figures{static_cast<double>(done) * 1e3 / static_cast<double>(spent_ns), {}};
  if (counter.read()) figures.instructions = static_cast<double>(retired) / static_cast<double>(done);
  return figures;
}

}  // namespace

EngineFigures measure_engine(const EngineBenchOptions& options) {
  std::vector<EngineFigures> figures(options.threads);
  std::barrier begin(static_cast<std::ptrdiff_t>(options.threads));
  {
    std::vector<std::jthread> threads;
    for (EngineFigures& mine : figures)
      threads.emplace_back([&options, &begin, &mine] {
        begin.arrive_and_wait();
        mine = options.work == EngineWork::served ? measure_served(options) : measure_thread(options);
      });
  }
  EngineFigures all{0, figures[0].instructions};
  for (const EngineFigures& each : figures) all.mops += each.mops;
  return all;
}

}  // namespace railshmem::perftest
