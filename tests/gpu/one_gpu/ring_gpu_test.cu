// SPDX-License-Identifier: BSD-3-Clause
// Kernels push, a CPU thread consumes: every command arrives once, whole and in its producer's order.
// Usage: ring_gpu_test [--small | --slots]. Exit 77: no GPU here.
#include <thread>
#include <vector>

#include "include/shmem/device/push.h"
#include "include/shmem/device/wait.h"
#include "tests/gpu/one_gpu/gpu_support.h"
#include "tests/support/ring_fixture.h"
#include "tests/support/write_slot.h"

namespace railshmem::gpu_test {
namespace {

enum class Seed : uint8_t { ticket, thread };  // what a command is made from

constexpr int kThreadShift = 40;

struct Shape {
  const char* name;
  unsigned blocks, threads;  // threads of a block
  uint64_t each;             // commands of a thread
  uint32_t nchannels;
  bool by_lane;  // lanes of one warp use different rings; else warps do
  bool uneven;   // a thread with index 3k + 1 pushes one command more, 3k + 2 two: warps fall apart at the end
};

struct Views {
  ChannelView at[2];
};

RAILSHMEM_HD uint64_t count_of(const Shape& shape, uint64_t thread) {
  return shape.each + (shape.uneven ? thread % 3 : 0);
}

RAILSHMEM_HD uint32_t channel_of(const Shape& shape, uint32_t thread) {
  return (shape.by_lane ? thread : thread / 32) % shape.nchannels;
}

__global__ void push_commands(Views views, Shape shape, Seed seed, uint64_t* statuses) {
  const uint32_t thread = thread_index();
  const ChannelView& channel = views.at[channel_of(shape, thread)];
  const device::Deadline deadline = device::Deadline::in(kLong);
  ChannelStatus status = ChannelStatus::ok;
  for (uint64_t i = 0; i < count_of(shape, thread) && status == ChannelStatus::ok; ++i) {
    if (seed == Seed::thread) {
      const Command command = command_of(uint64_t{thread} << kThreadShift | i);
      status = device::push(channel.ring, command, deadline, device::Payload::released).status;
    } else {
      const device::Reserved reserved = device::reserve_one(channel.ring, deadline);
      status = reserved.status;
      if (status == ChannelStatus::ok) write_slot(channel.ring, reserved.ticket, command_of(reserved.ticket));
    }
  }
  if (status == ChannelStatus::ok) status = device::quiet(channel, deadline);
  statuses[thread] = static_cast<uint64_t>(status);
}

/// Takes `expected` commands, or gives up after a time in which they would long have come.
void consume(Channel& channel, uint64_t expected, Seed seed, std::vector<uint64_t>& next_of_thread) {
  const uint64_t end = portable::clock_ns() + kLong;
  uint32_t idle = 0;
  while (channel.next() < expected) {
    const auto command = channel.peek();
    if (!command) {
      channel.publish();
      portable::relax(idle++);
      if (idle % 4096 != 0 || portable::clock_ns() < end) continue;
      GPU_CHECK(false, "only %llu of %llu commands came", static_cast<unsigned long long>(channel.next()),
                static_cast<unsigned long long>(expected));
      return channel.fail(ChannelStatus::stopped);
    }
    const uint64_t from = seed == Seed::ticket ? channel.next() : command->signal_value;
    GPU_CHECK(*command == command_of(from), "torn or foreign command at ticket %llu (seed %llx)",
              static_cast<unsigned long long>(channel.next()), static_cast<unsigned long long>(from));
    if (seed == Seed::thread) {
      const uint64_t thread = from >> kThreadShift, i = from & ((uint64_t{1} << kThreadShift) - 1);
      GPU_CHECK(thread < next_of_thread.size(), "no such thread: %llu", static_cast<unsigned long long>(thread));
      if (thread < next_of_thread.size()) {
        GPU_CHECK(i == next_of_thread[thread], "thread %llu: command %llu where %llu was due",
                  static_cast<unsigned long long>(thread), static_cast<unsigned long long>(i),
                  static_cast<unsigned long long>(next_of_thread[thread]));
        next_of_thread[thread] = i + 1;
      }
    }
    channel.complete(channel.next());
    channel.pop();
    if (channel.next() % 16 == 0) channel.publish();
  }
  channel.publish();
}

void run(Shape shape, uint32_t log2_slots, Place producers, Seed seed) {
  shape.each = scaled(shape.each);
  const uint32_t threads = shape.blocks * shape.threads;
  std::vector<std::unique_ptr<Channel>> channels;
  std::vector<uint64_t> expected(shape.nchannels), next_of_thread(threads);
  Views views{};
  for (uint32_t i = 0; i < shape.nchannels; ++i) {
    channels.push_back(std::make_unique<Channel>(kernel_channel_memory(log2_slots, producers)));
    views.at[i] = kernel_view(*channels[i]);
  }
  uint64_t total = 0;
  for (uint32_t t = 0; t < threads; ++t) {
    expected[channel_of(shape, t)] += count_of(shape, t);
    total += count_of(shape, t);
  }
  Pinned<uint64_t> statuses(threads);
  {
    std::vector<std::jthread> consumers;  // a thread's commands all go to one ring: no entry is shared
    for (uint32_t i = 0; i < shape.nchannels; ++i) {
      consumers.emplace_back([&, i] { consume(*channels[i], expected[i], seed, next_of_thread); });
    }
    push_commands<<<shape.blocks, shape.threads>>>(views, shape, seed, statuses.get());
    finish_kernel();
  }
  check_statuses(statuses, ChannelStatus::ok, shape.name);
  for (uint32_t i = 0; i < shape.nchannels; ++i) {
    GPU_CHECK(!channels[i]->peek(), "%s: a command too many", shape.name);
    GPU_CHECK(channels[i]->in_flight() == 0, "%s: unfinished commands", shape.name);
  }
  if (seed == Seed::thread) {
    for (uint32_t t = 0; t < threads; ++t) {
      GPU_CHECK(next_of_thread[t] == count_of(shape, t), "%s: thread %u: %llu commands arrived", shape.name, t,
                static_cast<unsigned long long>(next_of_thread[t]));
    }
  }
  std::printf("ring: %-28s %5u slots, producers' line %-6s, seed %-6s: %llu commands\n", shape.name, 1u << log2_slots,
              name_of(producers), seed == Seed::ticket ? "ticket" : "thread", static_cast<unsigned long long>(total));
}

}  // namespace

void test_ring() {
  const Shape shapes[] = {
      {"1 thread", 1, 1, 100'000, 1, false, false},
      {"1 warp", 1, 32, 40'000, 1, false, false},
      {"1 warp, uneven, 2 rings", 1, 32, 20'000, 2, true, true},
      {"16 warps, 2 rings", 4, 128, 8'000, 2, false, false},
      {"16 warps, uneven, 2 rings", 4, 128, 8'000, 2, true, true},
  };
  for (const Shape& shape : shapes) {
    for (const Seed seed : {Seed::ticket, Seed::thread}) {
      run(shape, 5, Place::gpu, seed);  // the smallest ring for kernels: a new lap every warp
      run(shape, 10, Place::gpu, seed);
      run(shape, 10, Place::pinned, seed);
    }
  }
}

}  // namespace railshmem::gpu_test

int main(int argc, char** argv) {
  using namespace railshmem::gpu_test;
  const bool only_slots = argc > 1 && std::strcmp(argv[1], "--slots") == 0;
  small_counts = only_slots || (argc > 1 && std::strcmp(argv[1], "--small") == 0);
  const bool only_engine = argc > 1 && std::strcmp(argv[1], "--engine") == 0;
  const bool only_measures = only_engine || (argc > 1 && std::strcmp(argv[1], "--measure") == 0);
  int devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  if (found != cudaSuccess || devices == 0) {
    std::printf("SKIPPED: no GPU: %s\n", found != cudaSuccess ? cudaGetErrorString(found) : "none found");
    return 77;
  }
  cudaDeviceProp properties{};
  int driver = 0, runtime = 0;
  CUDA_MUST(cudaGetDeviceProperties(&properties, 0));
  CUDA_MUST(cudaDriverGetVersion(&driver));
  CUDA_MUST(cudaRuntimeGetVersion(&runtime));
  if (properties.major * 10 + properties.minor < 90) {
    std::printf("SKIPPED: %s has compute capability %d.%d; this is built for 9.0\n", properties.name, properties.major,
                properties.minor);
    return 77;
  }
  std::printf("%s, driver API %d, runtime %d\n", properties.name, driver, runtime);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (only_slots) {
    test_slots();
  } else if (!only_measures) {
    for (const auto test : {test_words, test_ring, test_waits, test_rma, test_slots, test_copies, test_api, test_teams})
      test();
  }
  if (!only_engine && !only_slots) measure();
  if (!only_slots) measure_engine();
  std::printf(failures == 0 ? "PASSED\n" : "FAILED: %d checks\n", failures.load());
  return failures == 0 ? 0 : 1;
}
