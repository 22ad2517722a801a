// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/team_meeting.h"

#include "src/base/align.h"
#include "src/rma/atomic.h"
#include "src/rma/ordering.h"
#include "src/rma/put_get.h"
#include "src/rma/waiter.h"

namespace railshmem {
namespace {

constexpr size_t kLine = 64;

constexpr int kArrivalBits = 32;

/// The first count of a desk: the meeting's number, in the bits above the arrivals of all rounds. So the count only
/// grows, and a PE that still waits for an old count when the desk is used again sees a larger one.
uint64_t nobody_at(uint64_t number) noexcept {
  return number << kArrivalBits;
}

/// A line for the count, and two sets of notes: the fastest member can be one round ahead of the slowest, but not two.
size_t desk_nbytes(int npes) noexcept {
  return kLine + 2 * static_cast<size_t>(npes) * sizeof(TeamNote);
}

}  // namespace

size_t TeamDesks::nbytes(int npes) noexcept {
  return align_up(kDesks * desk_nbytes(npes), size_t{4096});
}

uint64_t TeamDesks::open() noexcept {
  const uint64_t number = opened_.fetch_add(1, std::memory_order_relaxed) + 1;
  auto* const count =
      reinterpret_cast<uint64_t*>(state_.segment[0].base + offset_ + number % kDesks * desk_nbytes(state_.npes));
  // release: a PE that gets the id finds the desk empty.
  __atomic_store_n(count, nobody_at(number), __ATOMIC_RELEASE);
  return number << kPeBits | static_cast<uint64_t>(state_.me);
}

TeamMeeting::TeamMeeting(TeamDesks& desks, Context& context, const char* function, uint64_t id, int size,
                         int index) noexcept
    : state_(desks.state_),
      context_(context),
      function_(function),
      host_(TeamDesks::host_of(id)),
      number_(id >> TeamDesks::kPeBits),
      offset_(desks.offset_ + number_ % TeamDesks::kDesks * desk_nbytes(state_.npes)),
      size_(size),
      index_(index) {}

uint64_t* TeamMeeting::arrivals() const noexcept {
  return reinterpret_cast<uint64_t*>(state_.segment[0].base + offset_);
}

uint64_t TeamMeeting::count() const noexcept {
  return amo<uint64_t>(state_, context_, function_, AmoOp::fetch, arrivals(), uint64_t{0}, uint64_t{0}, host_);
}

TeamNote* TeamMeeting::note(uint64_t set, int index) const noexcept {
  const size_t place = set * static_cast<size_t>(state_.npes) + static_cast<size_t>(index);
  return reinterpret_cast<TeamNote*>(state_.segment[0].base + offset_ + kLine) + place;
}

std::vector<TeamNote> TeamMeeting::exchange(const TeamNote& mine) {
  const uint64_t set = ++round_ % 2;
  const auto all = static_cast<size_t>(size_);
  put(state_, context_, function_, note(set, index_), &mine, sizeof mine, host_);
  quiet(state_, context_);
  amo_plain<uint64_t>(state_, context_, function_, AmoOp::add, arrivals(), 1, host_);
  const uint64_t expected = nobody_at(number_) + round_ * all;
  wait_for(state_, {function_}, [&] { return count() >= expected; });
  std::vector<TeamNote> notes(all);
  get(state_, context_, function_, notes.data(), note(set, 0), all * sizeof(TeamNote), host_);
  // acquire: the notes before the count, or some could be of a later meeting that this count does not show.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (count() >= nobody_at(number_ + 1)) notes.clear();
  return notes;
}

}  // namespace railshmem
