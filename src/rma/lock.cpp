// SPDX-License-Identifier: BSD-3-Clause
#include "src/rma/lock.h"

#include <sched.h>

#include "src/base/log.h"
#include "src/rma/atomic.h"
#include "src/rma/lock_turns.h"
#include "src/rma/ordering.h"
#include "src/rma/waiter.h"

namespace railshmem {
namespace {

/// One call's view of a lock. All updates of other PEs' halves are AMOs, executed by the CPU of the half's owner's
/// node.
class Lock {
 public:
  Lock(PeState& state, const char* function, long* lock) noexcept
      : state_(state), function_(function), word_(reinterpret_cast<LockWord*>(lock)), me_(as_link(state.me)) {
    uintptr_t offset = 0;
    if (!find_segment(state, lock, sizeof *lock, &offset)) [[unlikely]]
      locate(state, function, lock, sizeof *lock, state.me);  // says why and ends the job
    if (reinterpret_cast<uintptr_t>(lock) % sizeof *lock != 0) [[unlikely]]
      die_misaligned(function, lock, sizeof *lock, state.me);
    // The offset, which is equal on all PEs, chooses the home PE of a lock (Fibonacci hashing).
    home_ = static_cast<int>((offset / sizeof *lock * 0x9e3779b97f4a7c15u >> 32) % static_cast<unsigned>(state.npes));
  }

  /// acquire: pairs with the update by the PE before; what that PE did under the lock is visible here.
  uint32_t place() const noexcept { return __atomic_load_n(&word_->place, __ATOMIC_ACQUIRE); }
  bool held() const noexcept { return place() & kLockHeld; }
  uint32_t* place_address() const noexcept { return &word_->place; }

  /// Joins the queue; returns the link of the PE before, 0 if none exists.
  uint32_t join() noexcept { return checked(at_home(AmoOp::swap, me_, 0)); }
  bool take_if_free() noexcept { return checked(at_home(AmoOp::compare_swap, me_, 0)) == 0; }
  bool free_if_last() noexcept { return at_home(AmoOp::compare_swap, 0, me_) == me_; }

  void set_held() noexcept { update_of(me_, kLockHeld); }
  void set_next_of(uint32_t link) noexcept { update_of(link, me_); }
  void pass_to(uint32_t link) noexcept { update_of(link, kLockHeld); }
  /// Leaves the queue. relaxed: only this PE reads what is left of the word.
  void forget() noexcept { __atomic_fetch_and(&word_->place, kLockClaimed, __ATOMIC_RELAXED); }

  void wait_until_held(uint32_t before) noexcept {
    wait_for(state_, {function_, as_pe(before)}, [&] { return held(); });
  }
  uint32_t wait_for_next() noexcept {
    wait_for(state_, {function_}, [&] { return (place() & kLockNext) != 0; });
    return place() & kLockNext;
  }

 private:
  static uint32_t as_link(int pe) noexcept { return static_cast<uint32_t>(pe) + 1; }
  static int as_pe(uint32_t link) noexcept { return static_cast<int>(link) - 1; }

  uint32_t at_home(AmoOp op, uint32_t value, uint32_t compare) noexcept {
    return amo<uint32_t>(state_, state_.default_context, function_, op, &word_->tail, value, compare, home_);
  }
  /// The bits are not set yet, or the word is no lock.
  void update_of(uint32_t link, uint32_t bits) noexcept {
    amo<uint32_t>(state_, state_.default_context, function_, AmoOp::bit_or, &word_->place, bits, 0u, as_pe(link));
  }
  uint32_t checked(uint32_t tail) const noexcept {
    if (tail > static_cast<uint32_t>(state_.npes)) [[unlikely]]
      die("%s: the lock at %p holds 0x%x on PE %d, which no lock operation wrote; set the word to 0 on every PE before "
          "its first use and leave it to the lock functions then",
          function_, static_cast<void*>(word_), tail, home_);
    return tail;
  }

  PeState& state_;
  const char* const function_;
  LockWord* const word_;
  const uint32_t me_;
  int home_ = 0;
};

/// A program that polls test_lock must drive the network. It must also let the holder have the CPU: where PEs share
/// CPUs, and where a PE has several threads, which may outnumber its CPUs.
void give_way(PeState& state) noexcept {
  if (state.network) net_progress(*state.network);
  if (state.spin.share_cpus || state.lock_turns) sched_yield();
}

}  // namespace

void set_lock(PeState& state, const char* function, long* address) noexcept {
  Lock lock(state, function, address);
  if (state.lock_turns)
    state.lock_turns->enter(function, lock.place_address());
  else if (lock.held()) [[unlikely]]
    die("%s: PE %d holds the lock at %p already and would wait for itself; clear it first, locks are not recursive",
        function, state.me, static_cast<void*>(address));
  const uint32_t before = lock.join();
  if (before == 0) return lock.set_held();
  lock.set_next_of(before);
  lock.wait_until_held(before);
}

bool test_lock(PeState& state, const char* function, long* address) noexcept {
  Lock lock(state, function, address);
  if (state.lock_turns && !state.lock_turns->try_enter(lock.place_address())) {
    give_way(state);
    return false;
  }
  if (lock.take_if_free()) {
    lock.set_held();
    return true;
  }
  if (state.lock_turns) state.lock_turns->leave(lock.place_address());
  give_way(state);
  return false;
}

void clear_lock(PeState& state, const char* function, long* address) noexcept {
  Lock lock(state, function, address);
  const uint32_t place = lock.place();
  if (!(place & kLockHeld)) [[unlikely]]
    die("%s: PE %d does not hold the lock at %p; only who took it with shmem_set_lock or shmem_test_lock may clear it",
        function, state.me, static_cast<void*>(address));
  quiet(state, state.default_context);
  uint32_t next = place & kLockNext;
  const bool freed = next == 0 && lock.free_if_last();
  if (!freed && next == 0) next = lock.wait_for_next();
  lock.forget();
  if (!freed) lock.pass_to(next);
  if (state.lock_turns) state.lock_turns->leave(lock.place_address());
}

}  // namespace railshmem
