// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/device/context.cuh"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "perftest/harness/pattern.h"

namespace railshmem::perf::gpu {
namespace {

int target_of(const Options& options, int npes) {
  const int target = options.peer.value_or(npes / 2);
  if (target >= npes)
    throw std::runtime_error("--peer " + std::to_string(target) + " is no PE of this job of " + std::to_string(npes));
  return target;
}

std::string text(uint64_t value) {
  return std::to_string(value);
}

}  // namespace

Stream make_stream() {
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

Event make_event() {
  cudaEvent_t event = nullptr;
  CUDA_CHECK(cudaEventCreate(&event));
  return Event(event);
}

Symmetric::Symmetric(size_t nbytes) : nbytes_(nbytes), address_(job::allocate(nbytes)) {
  if (address_ == nullptr)
    throw std::runtime_error("no " + text(nbytes) + " bytes of symmetric GPU memory; set " + job::heap_variable() +
                             " higher or use smaller messages");
  clear();
}

void Symmetric::clear() const {
  CUDA_CHECK(cudaMemset(address_, 0, nbytes_));
  CUDA_CHECK(cudaDeviceSynchronize());  // the stream of kernels does not wait for the one of this
}

Context::Context(const Options& run_options)
    : options(run_options),
      pe(job::pe()),
      npes(job::npes()),
      target(target_of(run_options, npes)),
      stream_(make_stream()),
      votes_(2 * sizeof(uint64_t)) {}

void Context::begin(const Bench& next, Scope by) {
  bench = &next;
  scope = by;
  sizes = sweep(options.common, next.sizes);
  if (progress) progress->begin(next.name, sizes.size());
  if (next.part == Part::two_sided && target == 0)
    throw std::runtime_error(std::string(next.name) + " needs two PEs; start it with mpirun -n 2 or oshrun -n 2");
  if (by == Scope::warp && options.threads && *options.threads < kWarpThreads)
    throw std::runtime_error("--threads " + text(*options.threads) + " are no warp; give at least 32");
}

bool Context::acts() const {
  switch (bench->part) {
    case Part::one_sided:
      return first();
    case Part::two_sided:
      return first() || is_target();
    case Part::all:
      break;
  }
  return true;
}

uint64_t Context::largest() const {
  return *std::max_element(sizes.begin(), sizes.end());
}

void* Context::need_at(void* symmetric, int other) const {
  void* const there = job::mapped(symmetric, other);
  if (there == nullptr)
    throw std::runtime_error(std::string(bench->name) + " needs a peer reached by load and store; PE " +
                             std::to_string(other) + " is not");
  return there;
}

unsigned Context::scope_threads() const {
  return scope == Scope::block ? threads(kMostThreads) : most_threads(scope);
}

void Context::check_fits(const Fitting& asked) const {
  int device = 0, multiprocessors = 0, blocks = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, asked.kernel, static_cast<int>(asked.block), 0));
  const auto most = static_cast<unsigned>(blocks * multiprocessors);
  if (asked.grid <= most) return;
  throw std::runtime_error(std::string(bench->name) + ": " + text(asked.grid) + " blocks of " + text(asked.block) +
                           " threads cannot run at once, " + text(most) + " can; lower --ctas or --threads");
}

void Context::finish() {
  using Clock = std::chrono::steady_clock;
  // The kernel's own deadline comes first; this is for kernels that wait inside the library.
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.timeout + 5));
  for (;;) {
    const cudaError_t state = cudaStreamQuery(stream());
    if (state == cudaSuccess) return;
    if (state != cudaErrorNotReady) check(state, "kernel");
    if (Clock::now() > deadline)
      throw std::runtime_error(std::string("a kernel of ") + (bench ? bench->name : "the start") + " by " +
                               name_of(scope) + " has not ended; --timeout " + std::to_string(options.timeout) +
                               " s and 5 s more have passed");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void Context::barrier() {
  finish();
  CUDA_CHECK(cudaStreamSynchronize(nullptr));  // copies and fills of the host; kernels run on another stream
  job::barrier();
}

Row Context::row(const char* metric, const char* unit, uint64_t bytes, unsigned grid, unsigned block) const {
  Row row;
  row.bench = bench->name;
  row.pes = bench->part == Part::all ? npes : target == 0 ? 1 : 2;
  row.scope = name_of(scope);
  row.ctas = grid;
  row.threads = block;
  row.bytes = bytes;
  row.metric = metric;
  row.unit = unit;
  return row;
}

void Context::add(Row row) {
  if (progress) progress->row(row.bytes);
  if (first()) rows_.push_back(std::move(row));
}

void Context::fill(char* gpu, uint64_t nbytes, int sender) const {
  std::vector<char> bytes(nbytes);
  fill_pattern(bytes.data(), nbytes, sender, 0);
  CUDA_CHECK(cudaMemcpy(gpu, bytes.data(), nbytes, cudaMemcpyDefault));
}

bool Context::matches(const char* gpu, uint64_t nbytes, int sender) {
  std::vector<char> bytes(nbytes);
  CUDA_CHECK(cudaMemcpy(bytes.data(), gpu, nbytes, cudaMemcpyDefault));
  const std::optional<size_t> wrong = find_mismatch(bytes.data(), nbytes, sender, 0);
  if (!wrong) return true;
  fprintf(stderr, "shmem_gpu_perf: PE %d: %s by %s, %s bytes from PE %d: byte %zu is 0x%02x, expected 0x%02x\n", pe,
          bench->name, name_of(scope), text(nbytes).c_str(), sender, *wrong, static_cast<uint8_t>(bytes[*wrong]),
          pattern_byte(sender, 0, *wrong));
  return false;
}

bool Context::all(bool mine) {
  auto* const vote = votes_.as<uint64_t>();
  const uint64_t word = mine ? 1 : 2;
  CUDA_CHECK(cudaMemcpy(vote, &word, sizeof word, cudaMemcpyDefault));
  barrier();
  bool result = true;
  for (int i = 0; i < npes; ++i) {
    uint64_t theirs = 0;
    const void* from = job::mapped(vote, i);
    if (from == nullptr) {
      job::get(vote + 1, vote, sizeof theirs, i);
      from = vote + 1;
    }
    CUDA_CHECK(cudaMemcpy(&theirs, from, sizeof theirs, cudaMemcpyDefault));
    result = result && theirs == 1;
  }
  job::barrier();  // nobody votes anew before all have read
  return result;
}

bool Context::agree(bool well) {
  const bool result = all(well);
  all_valid_ = all_valid_ && result;
  return result;
}

}  // namespace railshmem::perf::gpu
