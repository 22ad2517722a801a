// SPDX-License-Identifier: BSD-3-Clause
//
// A job that ends while its rails go silent: rounds of every kind of operation, then shmem_finalize.
// rail_finish [--rounds 20] [--pause-ms 10] [--bytes 524288] [--marked 1]. Every PE prints "started" when its rails
// have carried something and "right" before it finalizes; exit status 0 = all was right. --bytes: of the long put, at
// most 524288. --marked: its data is the text RAILDATA again and again, so that a relay can find it.
#include "traffic.h"

namespace {

using namespace rails;

constexpr size_t kShort = 400, kLong = size_t{512} << 10;  // one write, and one that is striped
constexpr char kMark[] = "RAILDATA";

class Rounds {
 public:
  Rounds(size_t bytes, bool marked)
      : bytes_(bytes < kLong ? bytes : kLong),
        marked_(marked),
        short_(symmetric<char>(kShort)),
        long_(symmetric<char>(kLong)),
        counter_(symmetric<uint64_t>(1)) {
    fill(mine_, sizeof mine_, stamp_of(static_cast<uint64_t>(me_), 1, 1));
    shmem_barrier_all();  // peers get it at once
  }

  void run(uint64_t round) {
    const int peer = (me_ + 1) % npes_;
    make(source_, stamp_of(static_cast<uint64_t>(me_), 2, round));
    shmem_putmem_nbi(short_, source_, kShort, peer);
    shmem_putmem_nbi(long_, source_, bytes_, peer);
    shmem_uint64_atomic_add(counter_, round, peer);
    shmem_quiet();
    static char got[kShort];
    shmem_getmem(got, mine_, kShort, peer);
    if (broken_at(got, kShort, stamp_of(static_cast<uint64_t>(peer), 1, 1)) != kShort)
      mistakes_.add("round %lu: the get from PE %d", static_cast<unsigned long>(round), peer);
    added_ += round;
    shmem_barrier_all();
    const auto left = static_cast<uint64_t>((me_ + npes_ - 1) % npes_);
    static char expected[kLong];
    make(expected, stamp_of(left, 2, round));
    if (memcmp(short_, expected, kShort) != 0 || memcmp(long_, expected, bytes_) != 0)
      mistakes_.add("round %lu: the puts of PE %lu", static_cast<unsigned long>(round),
                    static_cast<unsigned long>(left));
    if (*counter_ != added_) mistakes_.add("round %lu: the counter", static_cast<unsigned long>(round));
    shmem_barrier_all();
  }
  bool right() const { return mistakes_.count() == 0; }

 private:
  void make(char* at, uint64_t stamp) const {
    if (!marked_) return fill(at, kLong, stamp);
    for (size_t i = 0; i < kLong; ++i) at[i] = kMark[i % (sizeof kMark - 1)];
  }

  static inline char mine_[kShort];  // symmetric, like all static objects
  static inline char source_[kLong];
  const int me_ = shmem_my_pe();
  const int npes_ = shmem_n_pes();
  const size_t bytes_;
  const bool marked_;
  char* short_;
  char* long_;
  uint64_t* counter_;
  uint64_t added_ = 0;
  Mistakes mistakes_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto rounds = static_cast<uint64_t>(option(argc, argv, "--rounds", 20));
  const auto pause_us = static_cast<useconds_t>(1000 * option(argc, argv, "--pause-ms", 10));
  limit_seconds(60);
  shmem_init();
  Rounds job(static_cast<size_t>(option(argc, argv, "--bytes", kLong)), option(argc, argv, "--marked", 0) != 0);
  job.run(1);
  printf("rail_finish: started\n");
  fflush(stdout);
  for (uint64_t round = 2; round <= rounds; ++round) {
    usleep(pause_us);
    job.run(round);
  }
  const bool right = job.right();
  printf("rail_finish: PE %d: %s\n", shmem_my_pe(), right ? "right" : "WRONG");
  fflush(stdout);
  shmem_finalize();
  return right ? 0 : 1;
}
