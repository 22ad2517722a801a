// SPDX-License-Identifier: BSD-3-Clause
//
// Everything at once between all PEs, for a while: messages with signals, atomics, gets and puts, in phases between
// which all counts are compared. Whatever happens to rails meanwhile, all must come out exactly.
// rail_soak [--seconds 10] [--seed 1] [--gets 1] (0: none but of words). Every PE says what it did; exit status 0 = all
// was right.
#include "soak_counters.h"
#include "soak_memory.h"
#include "soak_messages.h"

namespace {

using namespace rails;

constexpr double kPhaseSeconds = 1;

/// The longest time in which this PE completed nothing: what an application sees of a rail that dies.
class Pauses {
 public:
  void step_done() {
    const double now = seconds_now();
    if (now - last_ > longest_) longest_ = now - last_;
    last_ = now;
  }
  double longest() const { return longest_; }

 private:
  double last_ = seconds_now();
  double longest_ = 0;
};

class Soak {
 public:
  Soak(uint64_t seed, bool gets)
      : gets_(gets),
        random_(stamp_of(seed, static_cast<uint64_t>(shmem_my_pe()), 0)),
        messages_(seed, mistakes_),
        counters_(seed, mistakes_),
        memory_(seed, mistakes_),
        stop_(symmetric<long>(1)) {}

  void run(double seconds) {
    const double end = seconds_now() + seconds;
    do {
      phase();
      if (shmem_my_pe() == 0 && seconds_now() >= end)
        for (int pe = 0; pe < shmem_n_pes(); ++pe) shmem_long_p(stop_, 1, pe);
      settle();
    } while (!shmem_long_test(stop_, SHMEM_CMP_EQ, 1));
  }

  int conclude() const {
    printf("rail_soak: PE %d: %s: %lu messages sent, %lu received, %lu atomics, %lu transfers, longest pause %.3f s\n",
           shmem_my_pe(), mistakes_.count() ? "WRONG" : "right", messages_.sent(), messages_.received(),
           counters_.steps(), memory_.steps(), pauses_.longest());
    return mistakes_.count() ? 1 : 0;
  }

 private:
  void phase() {
    const double end = seconds_now() + kPhaseSeconds;
    while (seconds_now() < end) {
      messages_.receive(random_);
      const int pe = other();
      switch (random_.below(4)) {
        case 0:
          if (gets_)
            memory_.step(random_, pe);
          else
            memory_.step_of_words(random_, pe);
          break;
        case 1:
          counters_.step(random_, pe);
          break;
        default:
          messages_.send(random_, pe);
      }
      pauses_.step_done();
    }
  }

  /// All that was posted has arrived: everything is compared, then all go on together.
  void settle() {
    shmem_barrier_all();
    messages_.settle(random_);
    counters_.tell();
    shmem_barrier_all();
    messages_.check();
    counters_.check();
    shmem_barrier_all();
    pauses_.step_done();
  }

  /// Mostly a PE that is far away: PEs of one host come one after the other.
  int other() {
    const int me = shmem_my_pe(), npes = shmem_n_pes();
    if (npes < 2) return me;
    if (random_.one_in(4)) return (me + 1 + static_cast<int>(random_.below(static_cast<uint64_t>(npes - 1)))) % npes;
    const int half = (npes + 1) / 2, mine = me / half;
    const int first = mine == 0 ? half : 0, count = mine == 0 ? npes - half : half;
    return first + static_cast<int>(random_.below(static_cast<uint64_t>(count)));
  }

  const bool gets_;
  Mistakes mistakes_;
  Random random_;
  Messages messages_;
  Counters counters_;
  Memory memory_;
  long* stop_;
  Pauses pauses_;
};

}  // namespace

int main(int argc, char** argv) {
  const double seconds = option(argc, argv, "--seconds", 10);
  const auto seed = static_cast<uint64_t>(option(argc, argv, "--seed", 1));
  limit_seconds(seconds);
  shmem_init();
  Soak soak(seed, option(argc, argv, "--gets", 1) != 0);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    printf("rail_soak: started\n");  // from now on rails may die
    fflush(stdout);
  }
  soak.run(seconds);
  const int status = soak.conclude();
  shmem_finalize();
  return status;
}
