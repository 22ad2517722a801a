// SPDX-License-Identifier: BSD-3-Clause
// What the ring alone costs: commands per second into a consumer that counts, and one command's round trip.
#include <algorithm>
#include <thread>
#include <vector>

#include "include/shmem/device/push.h"
#include "include/shmem/device/wait.h"
#include "tests/gpu/one_gpu/gpu_support.h"

namespace railshmem::gpu_test {
namespace {

constexpr int kRepeats = 5;  // the median is printed

__global__ void push_many(ChannelView channel, uint64_t each, device::Payload payload, uint64_t* statuses) {
  Command c;
  c.op = CommandOp::put;
  c.nbytes = 8;
  const device::Deadline deadline = device::Deadline::in(kLong);
  ChannelStatus status = ChannelStatus::ok;
  for (uint64_t i = 0; i < each && status == ChannelStatus::ok; ++i) {
    c.remote_offset = i;
    status = device::push(channel.ring, c, deadline, payload).status;
  }
  statuses[thread_index()] = static_cast<uint64_t>(status);
}

enum class Consumer : uint8_t { counts, completes };

/// Nanoseconds from the first command to the last.
uint64_t consume(Channel& channel, uint64_t expected, Consumer consumer) {
  const uint64_t give_up = portable::clock_ns() + kLong;
  uint32_t idle = 0;
  while (!channel.ring().peek() && portable::clock_ns() < give_up) portable::relax(0);
  const uint64_t start = portable::clock_ns();
  while (channel.ring().next() < expected) {
    if (consumer == Consumer::counts) {
      while (channel.ring().peek()) channel.ring().pop();
      channel.ring().publish();
    } else {
      while (channel.peek()) {
        channel.complete(channel.next());
        channel.pop();
      }
      channel.publish();
    }
    if (++idle % 65536 == 0 && portable::clock_ns() > give_up) {
      channel.fail(ChannelStatus::stopped);
      return 1;
    }
  }
  return portable::clock_ns() - start;
}

double mops(unsigned blocks, unsigned threads, uint64_t each, uint32_t log2_slots, Consumer consumer,
            device::Payload payload) {
  each = scaled(each);
  const uint64_t total = each * blocks * threads;
  std::vector<double> rates;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Channel channel(kernel_channel_memory(log2_slots, Place::gpu));
    Pinned<uint64_t> statuses(size_t{blocks} * threads);
    uint64_t took = 0;
    {
      std::jthread proxy([&] { took = consume(channel, total, consumer); });
      push_many<<<blocks, threads>>>(kernel_view(channel), each, payload, statuses.get());
      finish_kernel();
    }
    check_statuses(statuses, ChannelStatus::ok, "measurement");
    rates.push_back(static_cast<double>(total) * 1e3 / static_cast<double>(took));
  }
  std::sort(rates.begin(), rates.end());
  return rates[kRepeats / 2];
}

__global__ void round_trips(ChannelView channel, uint64_t n, device::Payload payload, uint64_t* took,
                            uint64_t* status) {
  const device::Deadline deadline = device::Deadline::in(kLong);
  *status = 0;
  for (uint64_t i = 0; i < n && *status == 0; ++i) {
    const uint64_t start = portable::clock_ns();
    const device::Reserved pushed = device::push(channel.ring, Command{}, deadline, payload);
    *status = static_cast<uint64_t>(device::wait_ticket(channel, pushed.ticket, deadline));
    took[i] = portable::clock_ns() - start;
  }
}

void round_trip(const char* name, device::Payload payload) {
  const uint64_t n = scaled(20'000), warm_up = n / 10;
  Channel channel(kernel_channel_memory(10, Place::gpu));
  const ChannelMemory::Block took_block = allocate(n * sizeof(uint64_t), Place::gpu);
  auto* const took = static_cast<uint64_t*>(took_block.get());
  const ChannelMemory::Block status_block = allocate(sizeof(uint64_t), Place::gpu);
  auto* const status = static_cast<uint64_t*>(status_block.get());
  {
    std::jthread proxy([&] { consume(channel, n, Consumer::completes); });
    round_trips<<<1, 1>>>(kernel_view(channel), n, payload, took, status);
    finish_kernel();
  }
  uint64_t ended = 1;
  std::vector<uint64_t> all(n);
  CUDA_MUST(cudaMemcpy(&ended, status, sizeof ended, cudaMemcpyDefault));
  CUDA_MUST(cudaMemcpy(all.data(), took, n * sizeof(uint64_t), cudaMemcpyDefault));
  GPU_CHECK(ended == 0, "round trips ended with status %llu", static_cast<unsigned long long>(ended));
  std::sort(all.begin() + static_cast<std::ptrdiff_t>(warm_up), all.end());
  const auto at = [&](double share) {
    return static_cast<double>(all[warm_up + static_cast<uint64_t>(share * static_cast<double>(n - warm_up - 1))]) /
           1e3;
  };
  std::printf("| %-34s | p50 %.2f us | p99 %.2f us |\n", name, at(0.5), at(0.99));
}

}  // namespace

void measure() {
  struct Row {
    const char* name;
    unsigned blocks, threads;
    uint64_t each;
  };
  const Row rows[] = {{"1 thread", 1, 1, 200'000},
                      {"1 warp", 1, 32, 200'000},
                      {"16 warps, 1 block", 1, 512, 40'000},
                      {"16 warps, 16 blocks", 16, 32, 40'000}};
  std::printf("\nM commands/s, 1 ring, 1 consumer thread, median of %d\n", kRepeats);
  std::printf("| %-20s | %-12s | %-12s | %-12s | %-12s |\n", "producers", "counts, 2^10", "counts, 2^13", "completes",
              "with fence");
  for (const Row& r : rows) {
    using device::Payload;
    std::printf("| %-20s | %12.2f | %12.2f | %12.2f | %12.2f |\n", r.name,
                mops(r.blocks, r.threads, r.each, 10, Consumer::counts, Payload::released),
                mops(r.blocks, r.threads, r.each, 13, Consumer::counts, Payload::released),
                mops(r.blocks, r.threads, r.each, 13, Consumer::completes, Payload::released),
                mops(r.blocks, r.threads, r.each / 4, 13, Consumer::completes, Payload::written));
  }
  round_trip("round trip, nothing to release", device::Payload::released);
  round_trip("round trip, payload released first", device::Payload::written);
  std::printf("\n");
}

}  // namespace railshmem::gpu_test
