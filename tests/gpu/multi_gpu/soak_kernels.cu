// SPDX-License-Identifier: BSD-3-Clause
// Kernels of all PEs do everything at once, at random, for a while: puts, gets, put_signals, atomics by many blocks,
// and collectives by one. Everything is checked. See scripts/gpu_soak.sh.
//   soak_kernels [--seconds 10] [--seed 1] [--blocks 12] [--threads 128] [--ops 100] [--kill PE]
// --kill: that PE is killed at half time; the library must end all others, and a PE that is not ended exits with 3.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "tests/gpu/multi_gpu/soak_ops.h"

using namespace railshmem::multi;

namespace {

constexpr const char* kNames[kKinds] = {
    "put and get", "put_nbi and get_nbi", "put_signal", "put_signal, add", "get", "p and g", "atomics",
    "sums",        "collectives"};
constexpr int kUnnoticed = 3;

__device__ void count(const Soak& s, Kind kind, int nbytes) {
  if (threadIdx.x != 0) return;
  atomicAdd(&s.counts[kind], 1ull);
  atomicAdd(&s.nbytes[kind], static_cast<unsigned long long>(nbytes));
}

__device__ void operate(const Soak& s, Random* random, uint64_t number) {
  Findings* const findings = s.findings;
  const auto kind = static_cast<Kind>(random->below(kCollective));
  const Draw draw(random, s.npes);
  const int target = (s.me + draw.step) % s.npes, source = (s.me + s.npes - draw.step) % s.npes;
  unsigned char* const back = s.back + static_cast<size_t>(blockIdx.x) * kBoxBytes;
  uint64_t* const value = &s.value[blockIdx.x * s.npes + s.me];
  int nbytes = draw.nbytes;
  switch (kind) {
    case kPutGet:
    case kPutGetNbi:
      put_and_get(s, draw, target, kind == kPutGetNbi);
      break;
    case kPutSignal:
    case kPutSignalAdd:
      put_signal(s, draw, target, source, number, kind == kPutSignalAdd);
      break;
    case kGet:
      BY_SCOPE(draw.scope, getmem, back, s.pattern + draw.from, draw.nbytes, target);
      expect_pattern(findings, back, target, draw.from, draw.nbytes);
      break;
    case kValue:
      if (threadIdx.x == 0) {
        shmem_uint64_p(value, draw.operand ^ 1, target);
        shmem_fence();
        shmem_uint64_p(value, draw.operand, target);
        shmem_quiet();
        EXPECT_EQ(shmem_uint64_g(value, target), draw.operand);
      }
      nbytes = 24;
      break;
    case kAtomics:
      if (threadIdx.x == 0) change_word(s, draw, target);
      nbytes = 8;
      break;
    default:
      add_with_all(s, draw, target);
      nbytes = 32 * 8;
  }
  __syncthreads();
  count(s, kind, nbytes);
}

__device__ void operate_together(const Soak& s, Random* random, uint64_t number) {
  Findings* const findings = s.findings;
  const auto scope = static_cast<Scope>(random->below(3));
  const int what = random->below(5), n = random->size(most_words(scope)), root = random->below(s.npes);
  const int given = what == 2 ? n * s.npes : n;
  for (int i = threadIdx.x; i < given; i += blockDim.x) s.given[i] = element(s.me, i, number);
  __syncthreads();
  BY_SCOPE(scope, barrier_all);  // all PEs have looked at the result before this
  const auto expect_taken = [&](int total, auto&& expected) {
    for (int i = threadIdx.x; i < total; i += blockDim.x) EXPECT_EQ(s.taken[i], expected(i));
  };
  switch (what) {
    case 0:
      BY_SCOPE(scope, uint64_broadcast, SHMEM_TEAM_WORLD, s.taken, s.given, n, root);
      expect_taken(n, [&](int i) { return element(root, i, number); });
      break;
    case 1:
      BY_SCOPE(scope, uint64_fcollect, SHMEM_TEAM_WORLD, s.taken, s.given, n);
      expect_taken(n * s.npes, [&](int i) { return element(i / n, i % n, number); });
      break;
    case 2:
      BY_SCOPE(scope, uint64_alltoall, SHMEM_TEAM_WORLD, s.taken, s.given, n);
      expect_taken(n * s.npes, [&](int i) { return element(i / n, s.me * n + i % n, number); });
      break;
    case 3:
      BY_SCOPE(scope, uint64_sum_reduce, SHMEM_TEAM_WORLD, s.taken, s.given, n);
      expect_taken(n, [&](int i) {
        uint64_t sum = 0;
        for (int pe = 0; pe < s.npes; ++pe) sum += element(pe, i, number);
        return sum;
      });
      break;
    default:
      BY_SCOPE(scope, uint64_max_reduce, SHMEM_TEAM_WORLD, s.taken, s.given, n);
      expect_taken(n, [&](int i) {
        uint64_t most = 0;
        for (int pe = 0; pe < s.npes; ++pe) most = element(pe, i, number) > most ? element(pe, i, number) : most;
        return most;
      });
  }
  __syncthreads();
  count(s, kCollective, given * 8);
}

/// The last block is for collectives: of a team one at a time.
__global__ void soak_round(Soak s, uint64_t round) {
  Random random(s.seed, round, blockIdx.x);
  for (int op = 0; op < s.ops; ++op) {
    const uint64_t number = round * s.ops + op + 1;
    if (blockIdx.x + 1 == gridDim.x)
      operate_together(s, &random, number);
    else
      operate(s, &random, number);
  }
  complete_block();
}

__global__ void check_sums(Soak s) {
  Findings* const findings = s.findings;
  EXPECT_EQ(shmem_uint64_atomic_fetch(&s.sum[threadIdx.x], s.me), s.expected_sum[threadIdx.x]);
}

__global__ void fill_pattern(Soak s) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kPatternBytes; i += gridDim.x * blockDim.x)
    s.pattern[i] = pattern_byte(s.me, i);
}

long option(int argc, char** argv, const char* name, long otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return std::atol(argv[i + 1]);
  return otherwise;
}

template <class T>
T* symmetric(size_t n) {
  auto* const memory = static_cast<T*>(shmem_calloc(n, sizeof(T)));
  if (memory != nullptr) return memory;
  std::fprintf(stderr, "PE %d: no %zu bytes of symmetric memory\n", shmem_my_pe(), n * sizeof(T));
  shmem_global_exit(1);
}

template <class T>
T* own(size_t n) {
  T* memory = nullptr;
  CUDA_MUST(cudaMalloc(&memory, n * sizeof(T)));
  CUDA_MUST(cudaMemset(memory, 0, n * sizeof(T)));
  return memory;
}

/// The maximum or sum over all PEs. Collective.
template <class Reduce>
long over_all(long mine, Reduce&& reduce) {
  static long* const values = static_cast<long*>(shmemx_malloc_host(2 * sizeof(long)));
  values[0] = mine;
  reduce(SHMEM_TEAM_WORLD, values + 1, values, 1);
  return values[1];
}
long sum_of_all(long mine) {
  return over_all(mine, [](auto... of) { shmem_long_sum_reduce(of...); });
}

void print_counts(const Soak& s) {
  unsigned long long counts[kKinds], nbytes[kKinds];
  CUDA_MUST(cudaMemcpy(counts, s.counts, sizeof counts, cudaMemcpyDeviceToHost));
  CUDA_MUST(cudaMemcpy(nbytes, s.nbytes, sizeof nbytes, cudaMemcpyDeviceToHost));
  for (int kind = 0; kind < kKinds; ++kind) {
    const long count = sum_of_all(static_cast<long>(counts[kind])), bytes = sum_of_all(static_cast<long>(nbytes[kind]));
    if (s.me == 0) std::printf("soak_kernels: %-20s %9ld times %14ld bytes\n", kNames[kind], count, bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Job job;
  const double seconds = static_cast<double>(option(argc, argv, "--seconds", 10));
  const int blocks = static_cast<int>(option(argc, argv, "--blocks", 12));
  const int threads = static_cast<int>(option(argc, argv, "--threads", 128));
  const int victim = static_cast<int>(option(argc, argv, "--kill", -1));
  Soak s{};
  s.me = job.me;
  s.npes = job.npes;
  s.ops = static_cast<int>(option(argc, argv, "--ops", 100));
  s.seed = static_cast<uint64_t>(option(argc, argv, "--seed", 1));
  s.findings = job.findings;
  const size_t pairs = static_cast<size_t>(blocks) * s.npes, largest = static_cast<size_t>(most_words(kBlock)) * s.npes;
  s.pattern = symmetric<unsigned char>(kPatternBytes);
  s.box = symmetric<unsigned char>(pairs * kBoxBytes);
  s.back = symmetric<unsigned char>(static_cast<size_t>(blocks) * kBoxBytes);
  for (uint64_t** const words : {&s.signal, &s.acknowledged, &s.added, &s.value, &s.word})
    *words = symmetric<uint64_t>(pairs);
  s.sum = symmetric<uint64_t>(kSums);
  s.given = symmetric<uint64_t>(largest);
  s.taken = symmetric<uint64_t>(largest);
  s.expected_word = own<uint64_t>(pairs);
  s.expected_added = own<uint64_t>(pairs);
  s.expected_sum = own<unsigned long long>(kSums);
  s.counts = own<unsigned long long>(kKinds);
  s.nbytes = own<unsigned long long>(kKinds);
  fill_pattern<<<8, threads>>>(s);
  CUDA_MUST(cudaDeviceSynchronize());
  if (s.me == 0)
    std::printf("soak_kernels: seed %llu, %d PEs, %d blocks of %d threads, %d operations a round, %.0f s%s\n",
                static_cast<unsigned long long>(s.seed), s.npes, blocks, threads, s.ops, seconds,
                victim < 0 ? "" : ", one PE is killed");
  std::fflush(stdout);
  shmem_barrier_all();

  const auto began = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  if (s.me == victim)
    std::thread([=] {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 2));
      kill(getpid(), SIGKILL);
    }).detach();
  long end = 0;
  uint64_t round = 0;
  for (; end == 0; ++round) {
    soak_round<<<blocks + 1, threads>>>(s, round);
    CUDA_MUST(cudaGetLastError());
    CUDA_MUST(cudaDeviceSynchronize());
    shmem_barrier_all();  // all have added
    check_sums<<<1, kSums>>>(s);
    CUDA_MUST(cudaDeviceSynchronize());
    const Findings& found = *job.findings;
    if (found.wrong != 0)
      std::printf(
          "FAILED soak_kernels: PE %d, round %llu of seed %llu: %llu times, first in line %d: %lld, expected %lld\n",
          s.me, static_cast<unsigned long long>(round), static_cast<unsigned long long>(s.seed), found.wrong,
          found.line, found.seen, found.expected);
    end = over_all(found.wrong != 0 || (s.me == 0 && passed() > seconds) ? 1 : 0,
                   [](auto... of) { shmem_long_max_reduce(of...); });
  }
  if (victim >= 0) {
    std::printf("FAILED soak_kernels: PE %d was not ended by the death of PE %d\n", s.me, victim);
    shmem_global_exit(kUnnoticed);
  }
  print_counts(s);
  const long wrong = sum_of_all(static_cast<long>(job.findings->wrong));
  if (s.me == 0)
    std::printf("soak_kernels: %llu rounds in %.1f s, %ld errors (seed %llu): %s\n",
                static_cast<unsigned long long>(round), passed(), wrong, static_cast<unsigned long long>(s.seed),
                wrong == 0 ? "passed" : "FAILED");
  job.failures = wrong != 0;
  return job.end();
}
