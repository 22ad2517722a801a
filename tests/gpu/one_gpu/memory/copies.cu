// SPDX-License-Identifier: BSD-3-Clause
// The copier's bytes, and what copies cost.
#include <random>
#include <thread>

#include "src/cuda/context_guard.h"
#include "src/cuda/device_copies.h"
#include "tests/gpu/one_gpu/memory/memory_gpu.h"

namespace railshmem::gpu_test {
namespace {

using namespace cuda;

void fill_random(std::byte* bytes, size_t nbytes, std::mt19937_64& random) {
  for (size_t at = 0; at + 8 <= nbytes; at += 8) {
    const uint64_t value = random();
    std::memcpy(bytes + at, &value, 8);
  }
}

void print(const char* what, const Spread& spread, size_t nbytes = 0) {
  std::printf("cost: %-46s %9.2f us, 99%% %9.2f us", what, spread.median, spread.high);
  if (nbytes != 0) std::printf(", %7.2f GB/s", static_cast<double>(nbytes) / spread.median / 1000);
  std::printf("\n");
}

}  // namespace

void test_copies() {
  GpuRig rig;
  DeviceCopies blocking(rig.gpu);
  std::mt19937_64 random(3);
  constexpr size_t kMost = 8 * kMiB;
  std::vector<std::byte> wanted(kMost);
  std::vector<std::byte> pageable(kMost);
  std::byte* const in = rig.bounce.host();
  std::byte* const out = rig.bounce.host() + 2 * kMost;
  for (int turn = 0; turn < 60; ++turn) {
    const size_t nbytes = turn < 40 ? random() % 70'000 + 1 : random() % kMost + 1;
    const size_t at = random() % kMost;
    const size_t shift = random() % 64;
    fill_random(wanted.data(), kMost, random);
    std::memcpy(in + shift, wanted.data(), nbytes);
    if (!finish(rig.copier, rig.copier.start(rig.heap + at, in + shift, nbytes))) return;
    if (!finish(rig.copier, rig.copier.start(out, rig.heap + at, nbytes))) return;
    GPU_CHECK(std::memcmp(out, wanted.data(), nbytes) == 0, "copier: %zu bytes at %zu came back changed", nbytes, at);
    fill_random(wanted.data(), kMost, random);
    blocking.copy(rig.heap + at, wanted.data(), nbytes);
    blocking.copy(pageable.data(), rig.heap + at, nbytes);
    GPU_CHECK(std::memcmp(pageable.data(), wanted.data(), nbytes) == 0, "blocking: %zu bytes at %zu", nbytes, at);
    if (!finish(rig.copier, rig.copier.start(pageable.data(), rig.heap + at, nbytes), "to pageable memory")) return;
    GPU_CHECK(std::memcmp(pageable.data(), wanted.data(), nbytes) == 0, "to pageable memory: %zu bytes", nbytes);
    blocking.fill(rig.heap + at, 0x5a, nbytes);
    blocking.copy(pageable.data(), rig.heap + at, nbytes);
    GPU_CHECK(std::count(pageable.begin(), pageable.begin() + static_cast<std::ptrdiff_t>(nbytes), std::byte{0x5a}) ==
                  static_cast<std::ptrdiff_t>(nbytes),
              "fill of %zu bytes", nbytes);
  }
  // Many under way, polled in a random order.
  std::vector<std::pair<Copier::Ticket, size_t>> under_way;
  for (size_t slot = 0; slot < 256; ++slot) {
    *reinterpret_cast<uint64_t*>(in + slot * 4096) = slot + 1;
    under_way.emplace_back(rig.copier.start(rig.heap + slot * 65536, in + slot * 4096,
                                            slot % 5 == 0   ? 40'000
                                            : slot % 2 == 0 ? 4096
                                                            : 8),
                           slot);
  }
  within(20 * kSecond, "256 copies under way", [&] {
    if (under_way.empty()) return true;
    const size_t i = random() % under_way.size();
    if (rig.copier.finished(under_way[i].first)) under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(i));
    return under_way.empty();
  });
  for (size_t slot = 0; slot < 256; ++slot) {
    blocking.copy(out, rig.heap + slot * 65536, 8);
    GPU_CHECK(*reinterpret_cast<uint64_t*>(out) == slot + 1, "copy %zu of many is not there", slot);
  }
  std::printf("copies: pinned, pageable and device memory, 1 byte to 8 MiB\n");
}

void measure_copies() {
  GpuRig rig;
  const ContextGuard guard(rig.gpu);
  DeviceCopies blocking(rig.gpu);
  const auto whole = [&](std::byte* to, const std::byte* from, size_t nbytes) {
    finish(rig.copier, rig.copier.start(to, from, nbytes));
  };
  for (const size_t nbytes : {size_t{8}, size_t{4096}, size_t{65536}, kMiB, 16 * kMiB}) {
    const int times = nbytes > kMiB ? 50 : 500;
    char what[64];
    std::snprintf(what, sizeof what, "copier, %zu bytes, host to GPU, start to end", nbytes);
    print(what, measure_us(times, [&] { whole(rig.heap, rig.bounce.host(), nbytes); }), nbytes);
    std::snprintf(what, sizeof what, "copier, %zu bytes, GPU to host, start to end", nbytes);
    print(what, measure_us(times, [&] { whole(rig.bounce.host(), rig.heap, nbytes); }), nbytes);
  }
  for (const size_t nbytes : {size_t{8}, size_t{4096}, 512 * kMiB / 1024}) {
    std::vector<Copier::Ticket> tickets(64);
    char what[64];
    std::snprintf(what, sizeof what, "copier, 64 copies of %zu bytes, host to GPU", nbytes);
    print(what,
          measure_us(200,
                     [&] {
                       for (size_t i = 0; i < tickets.size(); ++i)
                         tickets[i] = rig.copier.start(rig.heap + i * kMiB, rig.bounce.host() + i * nbytes, nbytes);
                       for (const Copier::Ticket ticket : tickets) finish(rig.copier, ticket);
                     }),
          64 * nbytes);
  }
  print("amo fetch_add of 8 bytes", measure_us(500, [&] { rig.copier.amo(rig.heap, 8, AmoOp::fetch_add, 1, 0); }));
  print("amo set of 8 bytes", measure_us(500, [&] { rig.copier.amo(rig.heap, 8, AmoOp::set, 1, 0); }));
  print("amo fetch of 8 bytes", measure_us(500, [&] { rig.copier.amo(rig.heap, 8, AmoOp::fetch, 0, 0); }));
  std::vector<std::byte> pageable(kMiB);
  for (const size_t nbytes : {size_t{8}, size_t{4096}, kMiB}) {
    char what[64];
    std::snprintf(what, sizeof what, "blocking copy, %zu pageable bytes, host to GPU", nbytes);
    print(what, measure_us(300, [&] { blocking.copy(rig.heap, pageable.data(), nbytes); }), nbytes);
    std::snprintf(what, sizeof what, "blocking copy, %zu pageable bytes, GPU to host", nbytes);
    print(what, measure_us(300, [&] { blocking.copy(pageable.data(), rig.heap, nbytes); }), nbytes);
  }
  print("blocking fill of 1 MiB", measure_us(300, [&] { blocking.fill(rig.heap, 1, kMiB); }), kMiB);
  const Driver& driver = driver_here();
  Stream stream = nullptr;
  Event event = nullptr;
  rig.gpu.check(driver.stream_create(&stream, kStreamNonBlocking, 0), "cuStreamCreate");
  rig.gpu.check(driver.event_create(&event, kEventWithoutTiming), "cuEventCreate");
  const auto thousand = [&](const char* what, auto&& body) {
    Spread spread = measure_us(20, [&] {
      for (int i = 0; i < 1000; ++i) body();
    });
    spread.median /= 1000;
    spread.high /= 1000;
    print(what, spread);
  };
  thousand("cuEventRecord", [&] { driver.event_record(event, stream); });
  driver.stream_synchronize(stream);
  thousand("cuEventQuery", [&] { driver.event_query(event); });
  thousand("cuStreamQuery", [&] { driver.stream_query(stream); });
  thousand("8 bytes host to host, each address asked for",
           [&] { rig.copier.start(pageable.data(), pageable.data(), 8); });
  thousand("guard, right context", [&] { const ContextGuard inner(rig.gpu); });
  std::thread([&] {
    thousand("guard, thread without a context", [&] { const ContextGuard inner(rig.gpu); });
    adopt_thread(rig.gpu);
    thousand("guard, adopted thread", [&] { const ContextGuard inner(rig.gpu); });
  }).join();
  driver.event_destroy(event);
  driver.stream_destroy(stream);
}

}  // namespace railshmem::gpu_test
