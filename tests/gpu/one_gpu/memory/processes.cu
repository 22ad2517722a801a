// SPDX-License-Identifier: BSD-3-Clause
// Two processes that map each other's chunks: on one GPU, on two, and on two that each sees as its only one.
#include "src/cuda/context_guard.h"
#include "src/cuda/device_chunks.h"
#include "src/cuda/device_copies.h"
#include "tests/gpu/one_gpu/memory/memory_gpu.h"
#include "tests/support/forked.h"

namespace railshmem::gpu_test {
namespace {

using namespace cuda;
using test::Forked;
using test::Pipe;

constexpr size_t kChunk = 32 * kMiB;
constexpr size_t kChunks = 3;

struct Pairing {
  const char* name;
  int device[2];
  const char* visible[2];  ///< CUDA_VISIBLE_DEVICES; null: all
};

__host__ __device__ uint64_t word_of(uint64_t pe, uint64_t i) {
  return pe << 56 | i * 2654435761u;
}
__global__ void write_own(uint64_t* words, uint64_t count, uint64_t pe) {
  for (uint64_t i = thread_index(); i < count; i += uint64_t{gridDim.x} * blockDim.x) words[i] = word_of(pe, i);
}
__global__ void check_peer(const uint64_t* words, uint64_t count, uint64_t pe, unsigned* wrong) {
  for (uint64_t i = thread_index(); i < count; i += uint64_t{gridDim.x} * blockDim.x)
    if (words[i] != word_of(pe, i)) atomicAdd_system(wrong, 1u);
}
/// One thread: adds to a word of the peer's, and waits for the peer's adds to its own.
__global__ void add_each_other(unsigned long long* theirs, const uint64_t* mine, uint64_t times, uint64_t limit,
                               unsigned* late) {
  for (uint64_t i = 0; i < times; ++i) atomicAdd_system(theirs, 1ull);
  const uint64_t end = portable::clock_ns() + limit;
  while (portable::load_acquire(mine) < times) {
    if (portable::clock_ns() < end) continue;
    *late = 1;
    return;
  }
}

std::string meet_or_say(const Pipe& pipe) {
  return pipe.meet() ? "" : "the other process is gone or silent";
}

/// The part of one of the two processes; the other's chunks lie in slot 1 - me.
std::string share(const Pipe& pipe, const Pairing& pairing, size_t me) {
  if (pairing.visible[me] != nullptr) setenv("CUDA_VISIBLE_DEVICES", pairing.visible[me], 1);
  CUDA_MUST(cudaSetDevice(pairing.device[me]));
  CUDA_MUST(cudaFree(nullptr));
  const DeviceContext gpu = DeviceContext::current(driver_here());
  const size_t other = 1 - me;
  FdOffers offers;
  DeviceArena arena(gpu, 2, kGiB);
  DeviceChunks chunks(gpu, arena, me, offers);
  const uint64_t began = now_ns();
  for (size_t i = 0; i < kChunks; ++i) {
    const ChunkCard card = chunks.grow(kChunk);
    ChunkCard theirs;
    if (!pipe.tell(card) || !pipe.hear(theirs)) return "no card came";
    if (std::string why = chunks.unreachable(theirs.device); !why.empty()) return why;
    // The last one by the socket, whatever else works.
    if (i + 1 == kChunks) theirs.fd.pid_namespace ^= 1;
    chunks.import(other, theirs);
  }
  const double spent = static_cast<double>(now_ns() - began) / 1e6;
  if (!pipe.meet()) return "no meeting";
  chunks.close_offers();
  constexpr uint64_t kWords = kChunks * kChunk / 8;
  const Pinned<unsigned> wrong(2);
  auto* const mine = reinterpret_cast<uint64_t*>(arena.address(me));
  auto* const theirs = reinterpret_cast<uint64_t*>(arena.address(other));
  write_own<<<128, 256>>>(mine, kWords, me);
  finish_kernel();
  if (!pipe.meet()) return "no meeting";
  check_peer<<<128, 256>>>(theirs, kWords, other, wrong.get());
  finish_kernel();
  if (wrong[0] != 0) return text("a kernel read %u wrong words of the peer's", wrong[0]);
  if (!pipe.meet()) return "no meeting";
  write_own<<<128, 256>>>(theirs, kWords, 10 + me);  // now the peer's memory is written from here
  finish_kernel();
  if (!pipe.meet()) return "no meeting";
  check_peer<<<128, 256>>>(mine, kWords, 10 + other, wrong.get());
  finish_kernel();
  if (wrong[0] != 0) return text("a kernel of the peer's left %u wrong words here", wrong[0]);
  if (!pipe.meet()) return "no meeting";
  // Copies: to the peer's memory, across two of its chunks, and back.
  DeviceCopies copies(gpu);
  std::vector<uint64_t> sent(kMiB);
  std::vector<uint64_t> back(kMiB);
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = word_of(20 + me, i);
  std::byte* const across = arena.address(other, kChunk - 4 * kMiB);
  copies.copy(across, sent.data(), sent.size() * 8);
  copies.copy(back.data(), across, back.size() * 8);
  if (sent != back) return "copies to the peer's memory came back changed";
  if (!pipe.meet()) return "no meeting";
  copies.copy(back.data(), arena.address(me, kChunk - 4 * kMiB), back.size() * 8);
  for (size_t i = 0; i < back.size(); ++i)
    if (back[i] != word_of(20 + other, i)) return "what the peer copied here is not there";
  const uint64_t zero = 0;
  copies.copy(mine, &zero, sizeof zero);
  if (!pipe.meet()) return "no meeting";
  add_each_other<<<1, 1>>>(reinterpret_cast<unsigned long long*>(theirs), mine, 100'000, kLong / 2, wrong.get() + 1);
  finish_kernel();
  if (wrong[1] != 0) return "the peer's atomic adds did not all come";
  std::printf("processes: %s: PE %zu of %s, %zu chunks of %zu MiB shared in %.1f ms\n", pairing.name, me,
              gpu.description().c_str(), kChunks, kChunk / kMiB, spent);
  return meet_or_say(pipe);
}

/// Both are children: this process has called no driver yet, and must not before it forks.
std::string run_pair(const Pairing& pairing) {
  Forked first([&](const Pipe&) {
    Forked second([&](const Pipe& pipe) { return share(pipe, pairing, 1); });
    std::string wrong = share(second.pipe(), pairing, 0);
    const std::string others = second.join(60'000);
    std::fflush(stdout);
    return wrong + (wrong.empty() || others.empty() ? "" : "; the other one: ") + others;
  });
  return first.join(120'000);
}

}  // namespace

void test_processes(int devices) {
  std::vector<Pairing> pairings{{"one GPU", {0, 0}, {nullptr, nullptr}}};
  if (devices >= 2) {
    pairings.push_back({"two GPUs", {0, 1}, {nullptr, nullptr}});
    pairings.push_back({"two GPUs, each the only one of its process", {0, 0}, {"0", "1"}});
  } else {
    std::printf("processes: SKIPPED with two GPUs: this machine has one\n");
  }
  for (const Pairing& pairing : pairings) {
    const std::string wrong = run_pair(pairing);
    GPU_CHECK(wrong.empty(), "%s: %s", pairing.name, wrong.c_str());
  }
}

}  // namespace railshmem::gpu_test
