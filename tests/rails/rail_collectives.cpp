// SPDX-License-Identifier: BSD-3-Clause
//
// Long collectives over rails that come and go, every word compared: all-gather, all-reduce, reduce-scatter,
// all-to-all. rail_collectives [--on-stream] [--words 262144] --until FILE. --on-stream: each in the order of a stream,
// of a GPU's memory. PE 0 prints "round <time of day> <number>" after each round of the four. The PEs stop in the round
// after the file is there. Exit status 0 = all was right.
#include <optional>
#include <vector>

#include "tests/gpu/multi_gpu/stream_driver.h"
#include "traffic.h"

namespace {

using namespace rails;
using railshmem::multi::StreamDriver;
using Words = std::vector<uint64_t>;

enum Kind : uint64_t { kGather, kReduce, kDeal, kExchange, kKinds };
constexpr const char* kNames[] = {"all-gather", "all-reduce", "reduce-scatter", "all-to-all"};

/// Word i that PE `from` gives in a round, to PE `to` where each gets another block.
uint64_t word(uint64_t kind, uint64_t round, int from, int to, size_t i) {
  return stamp_of(round * kKinds + kind, static_cast<uint64_t>(from), static_cast<uint64_t>(to)) + i * kStride;
}

class Program {
 public:
  Program(size_t words, bool on_stream) : n_(words) {
    const size_t all = n_ * static_cast<size_t>(npes_) * sizeof(uint64_t);
    source_ = static_cast<uint64_t*>(shmem_malloc(all));
    dest_ = static_cast<uint64_t*>(shmem_malloc(all));
    go_on_ = static_cast<uint64_t*>(shmem_calloc(1, sizeof(uint64_t)));
    if (!source_ || !dest_ || !go_on_) shmem_global_exit(1);
    if (on_stream) driver_.emplace();
  }
  Program(const Program&) = delete;
  ~Program() {
    for (uint64_t* at : {source_, dest_, go_on_}) shmem_free(at);
  }

  int run(const char* until) {
    for (uint64_t round = 0; wrong_ < 10; ++round) {
      for (uint64_t kind = 0; kind < kKinds; ++kind) once(static_cast<Kind>(kind), round);
      if (me_ == 0) printf("round %.3f %llu\n", seconds_now(), static_cast<unsigned long long>(round));
      fflush(stdout);
      shmem_barrier_all();
      if (me_ == 0 && access(until, F_OK) != 0)
        for (int pe = 0; pe < npes_; ++pe) shmem_uint64_p(go_on_, round + 1, pe);
      shmem_barrier_all();
      if (shmem_uint64_g(go_on_, me_) != round + 1) break;
    }
    printf("PE %d: %s\n", me_, wrong_ == 0 ? "right" : "WRONG");
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  void once(Kind kind, uint64_t round) {
    const bool dealt = kind == kDeal || kind == kExchange;
    Words given;
    for (int to = 0; to < (dealt ? npes_ : 1); ++to)
      for (size_t i = 0; i < n_; ++i) given.push_back(word(kind, round, me_, to, i));
    shmem_putmem(source_, given.data(), given.size() * sizeof(uint64_t), me_);
    shmem_barrier_all();
    if (driver_) {
      give(kind);
      driver_->synchronize();
    } else {
      call(kind);
    }
    compare(kind, round);
  }

  void call(Kind kind) {
    if (kind == kGather) shmem_uint64_fcollect(SHMEM_TEAM_WORLD, dest_, source_, n_);
    if (kind == kReduce) shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, dest_, source_, n_);
    if (kind == kDeal) shmemx_uint64_sum_reducescatter(SHMEM_TEAM_WORLD, dest_, source_, n_);
    if (kind == kExchange) shmem_uint64_alltoall(SHMEM_TEAM_WORLD, dest_, source_, n_);
  }
  void give(Kind kind) {
    shmemx_stream_t stream = driver_->stream;
    if (kind == kGather) shmemx_uint64_fcollect_on_stream(SHMEM_TEAM_WORLD, dest_, source_, n_, stream);
    if (kind == kReduce) shmemx_uint64_sum_reduce_on_stream(SHMEM_TEAM_WORLD, dest_, source_, n_, stream);
    if (kind == kDeal) shmemx_uint64_sum_reducescatter_on_stream(SHMEM_TEAM_WORLD, dest_, source_, n_, stream);
    if (kind == kExchange) shmemx_uint64_alltoall_on_stream(SHMEM_TEAM_WORLD, dest_, source_, n_, stream);
  }

  /// Word i of what came from `from`; from all where the words are added up.
  uint64_t wanted(Kind kind, uint64_t round, int from, size_t i) const {
    if (kind == kGather) return word(kind, round, from, 0, i);
    if (kind == kExchange) return word(kind, round, from, me_, i);
    uint64_t sum = 0;
    for (int pe = 0; pe < npes_; ++pe) sum += word(kind, round, pe, kind == kDeal ? me_ : 0, i);
    return sum;
  }
  void compare(Kind kind, uint64_t round) {
    const int blocks = kind == kGather || kind == kExchange ? npes_ : 1;
    Words seen(n_ * static_cast<size_t>(blocks));
    shmem_getmem(seen.data(), dest_, seen.size() * sizeof(uint64_t), me_);
    for (int from = 0; from < blocks; ++from)
      for (size_t i = 0; i < n_; ++i) {
        if (seen[static_cast<size_t>(from) * n_ + i] == wanted(kind, round, from, i)) continue;
        printf("PE %d: WRONG: word %zu of block %d of the %s of round %llu\n", me_, i, from, kNames[kind],
               static_cast<unsigned long long>(round));
        ++wrong_;
        return;
      }
  }

  const int me_ = shmem_my_pe(), npes_ = shmem_n_pes();
  const size_t n_;
  uint64_t *source_ = nullptr, *dest_ = nullptr, *go_on_ = nullptr;
  std::optional<StreamDriver> driver_;
  int wrong_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  size_t words = 1 << 18;
  bool on_stream = false;
  const char* until = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--on-stream") == 0)
      on_stream = true;
    else if (i + 1 < argc && strcmp(argv[i], "--words") == 0)
      words = strtoull(argv[++i], nullptr, 10);
    else if (i + 1 < argc && strcmp(argv[i], "--until") == 0)
      until = argv[++i];
    else
      words = 0;
  }
  if (words == 0 || until == nullptr) {
    fprintf(stderr, "usage: rail_collectives [--on-stream] [--words N] --until FILE\n");
    return 2;
  }
  shmem_init();
  if (on_stream && shmemx_attach_device() != 0) shmem_global_exit(1);
  const int status = Program(words, on_stream).run(until);
  shmem_finalize();
  return status;
}
