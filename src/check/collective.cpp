// SPDX-License-Identifier: BSD-3-Clause
#include "src/check/collective.h"

#include <cstdio>
#include <cstring>
#include <mutex>

#include "src/base/cpu.h"
#include "src/base/log.h"
#include "src/base/process.h"
#include "src/collective/collectives.h"
#include "src/collective/control_block.h"
#include "src/collective/link.h"

namespace railshmem::check {
namespace {

static_assert(sizeof(CallRecord) <= TeamAreaLayout::kRecordBytes && sizeof(CallRecord) <= sizeof(ControlBlock::latest));

template <size_t N>
void copy_text(std::array<char, N>& to, const char* from) noexcept {
  std::snprintf(to.data(), N, "%s", from);
}

CallRecord fetch(Team& team, const char* function, const std::byte* record, int rank) noexcept {
  CallRecord out;
  get(team.state, team.context, function, &out, record, sizeof out, team.pes.pe(rank));
  return out;
}

/// The newest collective call of a PE, on whatever team.
std::byte* latest_call(const PeState& state) noexcept {
  return reinterpret_cast<std::byte*>(state.segment[0].base) + offsetof(ControlBlock, latest);
}

/// Threads may be in collectives of two teams at once.
void show_latest(const PeState& state, const CallRecord& mine) noexcept {
  const std::lock_guard lock(g_process.latest_collective);
  std::memcpy(latest_call(state), &mine, sizeof mine);
}

[[noreturn]] void die_different(Team& team, const CallRecord& mine, const CallRecord& theirs, int rank) noexcept {
  die("collective call %llu on team %d differs between PEs: PE %d called %s(%s) at %s; PE %d called %s(%s) at %s; all "
      "members of a team must make the same calls in the same order with the same arguments",
      static_cast<unsigned long long>(mine.number), team.slot, team.state.me, mine.function.data(),
      mine.arguments.data(), mine.site.data(), team.pes.pe(rank), theirs.function.data(), theirs.arguments.data(),
      theirs.site.data());
}

[[noreturn]] void die_alone(Team& team, const CallRecord& mine, int rank, double seconds) noexcept {
  const CallRecord latest = fetch(team, mine.function.data(), latest_call(team.state), rank);
  char what[512] = "it has made no collective call yet";
  if (latest.number > 0)
    std::snprintf(what, sizeof what, "its latest one is %s(%s), call %llu on team %d, at %s", latest.function.data(),
                  latest.arguments.data(), static_cast<unsigned long long>(latest.number), latest.team,
                  latest.site.data());
  die("%s(%s), call %llu on team %d, at %s: PE %d has not made this call within %.1f s; %s; raise SHMEM_TIMEOUT if it "
      "is only late",
      mine.function.data(), mine.arguments.data(), static_cast<unsigned long long>(mine.number), team.slot,
      mine.site.data(), team.pes.pe(rank), seconds, what);
}

void await_record(Team& team, const CallRecord& mine, int rank) noexcept {
  const std::byte* flag = team.mine(team.area.record_flag());
  const double limit_s = team.state.spin.timeout_s;
  const uint64_t began = now_ns();
  wait_for(team.state, {mine.function.data(), team.pes.pe(rank), true}, [&] {
    if (reached(flag, mine.number)) return true;
    const double waited = static_cast<double>(now_ns() - began) * 1e-9;
    if (limit_s > 0 && waited > limit_s) die_alone(team, mine, rank, waited);
    return false;
  });
}

}  // namespace

void must_agree(Team& team, const CollectiveCall& call) noexcept {
  CallRecord mine;
  mine.number = ++team.checks;
  mine.team = team.slot;
  copy_text(mine.function, call.function());
  copy_text(mine.arguments, call.arguments());
  mine.site = find_call_site();
  show_latest(team.state, mine);
  if (team.size() == 1) return;
  std::byte* const shown = team.mine(team.area.record());
  std::memcpy(shown, &mine, sizeof mine);
  const int next = (team.rank + 1) % team.size();
  const int previous = (team.rank + team.size() - 1) % team.size();
  raise(team, previous, team.area.record_flag(), mine.number);
  await_record(team, mine, next);
  const CallRecord theirs = fetch(team, mine.function.data(), shown, next);
  if (theirs.function != mine.function || theirs.arguments != mine.arguments) die_different(team, mine, theirs, next);
  sync(team, call.function());
}

void check_collective(Team& team, CollectiveCall& call, const Buffer& dest, const Buffer& source,
                      InPlace in_place) noexcept {
  check_operands(team.state, call.function(), dest, source, in_place);
  // With nothing to move any address will do.
  if (dest.nbytes > 0) call.address(dest.argument, dest.address);
  if (source.nbytes > 0) call.address(source.argument, source.address);
  must_agree(team, call);
}

}  // namespace railshmem::check
