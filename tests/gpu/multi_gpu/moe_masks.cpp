// SPDX-License-Identifier: BSD-3-Clause
// Dispatch and combine that go on without members: masked by the program, between the calls, by waits that get too
// long, and back again. The payload says rank and token, counts are those of all members' routings, sums are bit for
// bit, and a round that is done again has the hash that it had. At least 2 PEs.
//   moe_masks                all of this
//   moe_masks killed WHERE   under oshrun --survive: the last PE is killed before a call, in a dispatch, between the
//                            calls, in a combine, or at any moment of a row of calls (before, dispatch, between,
//                            combine, busy; with late_ in front: late weights), or after it was stopped for long
//                            (stopped), and the others go on
#include <shmem.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/gpu/multi_gpu/expect.h"
#include "tests/gpu/multi_gpu/moe_calls.h"
#include "tests/gpu/multi_gpu/moe_rig.h"
#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using namespace railshmem::multi;

constexpr int kMaskMs = 2500;
constexpr unsigned kAwhileUs = 400'000;  ///< until the call of a PE waits for others
constexpr int kMarked = 8;               ///< channels with the token's number; the others have the rank's

bool in(uint64_t members, int member) {
  return (members >> member & 1) != 0;
}

class Rig {
 public:
  /// mask_after_ms: 0 where only the program masks. mask_of: another rig, whose mask this one shares; it also gets a
  /// workspace that is 0.
  Rig(const StreamDriver& driver, const MoeCase& one, int mask_after_ms, const Rig* mask_of = nullptr)
      : driver_(driver), case_(one), capacity_(static_cast<size_t>(npes * one.max_tokens)) {
    shmemx_moe_config_t config = SHMEMX_MOE_CONFIG_INITIALIZER;
    config.experts = one.local * npes;
    config.topk = one.topk;
    config.hidden = one.hidden;
    config.max_tokens = one.max_tokens;
    config.type = one.type;
    config.dispatch_type = one.dispatch_type;
    config.multiprocessors = one.multiprocessors;
    config.late_weights = one.late_weights ? 1 : 0;
    config.maskable = 1;
    config.mask_after_ms = mask_after_ms;
    const size_t nbytes = shmemx_moe_workspace(SHMEM_TEAM_WORLD, &config);
    must(nbytes == 0);
    void* const workspace = taken(nbytes);
    if (mask_of != nullptr) {
      config.mask_of = mask_of->handle_;
      config.zeroed = 1;
      driver_.upload(workspace, std::vector<char>(nbytes).data(), nbytes);
      shmem_barrier_all();
    }
    must(shmemx_moe_create(SHMEM_TEAM_WORLD, &config, workspace, nbytes, &handle_));
    dispatch_.handle = combine_.handle = handle_;
    dispatch_.hook = combine_.hook = one.hook ? 1 : 0;
    dispatch_.tokens = one.max_tokens;
    dispatch_.x = taken(tokens() * hidden() * 2);
    dispatch_.experts = static_cast<const int64_t*>(taken(tokens() * topk() * sizeof(int64_t)));
    const auto* const weights = static_cast<const float*>(taken(tokens() * topk() * sizeof(float)));
    (one.late_weights ? combine_.weights : dispatch_.weights) = weights;
    weights_ = weights;
    dispatch_.rows = taken(local() * capacity_ * hidden() * 2);
    dispatch_.scales = taken(local() * capacity_ * (hidden() / 128 + 1) * sizeof(float));
    dispatch_.counts = static_cast<int32_t*>(taken(pairs() * sizeof(int32_t)));
    dispatch_.sources = static_cast<int32_t*>(taken(local() * capacity_ * sizeof(int32_t)));
    combine_.rows = taken(local() * capacity_ * hidden() * 2);
    combine_.out = taken(tokens() * hidden() * 2);
    masked_ = static_cast<int32_t*>(taken(static_cast<size_t>(npes) * sizeof(int32_t)));
  }
  ~Rig() {
    shmem_barrier_all();
    if (graph_ != nullptr) driver_.call("cuGraphExecDestroy", graph_);
    must(shmemx_moe_destroy(handle_));
    for (size_t i = memory_.size(); i > 0; --i) shmem_free(memory_[i - 1]);
  }
  Rig(const Rig&) = delete;

  /// A graph of both calls, made before anybody is masked. Its experts' results are the rows themselves, as they are
  /// with the routing `cancelling` anyhow.
  void capture() {
    if (!driver_.graphs() || case_.routing != Routing::cancelling) return;
    void* const results = const_cast<void*>(combine_.rows);
    graph_ = driver_.capture([&] {
      combine_.rows = dispatch_.rows;
      give(dispatch_, driver_.stream);
      give(combine_, driver_.stream);
      combine_.rows = results;
    });
  }
  /// Masks all of the members but this one.
  void mask(uint64_t members) const { mask(members, driver_); }
  void mask(uint64_t members, const StreamDriver& in_stream) const {
    for (int m = 0; m < npes; ++m)
      if (in(members, m) && m != me) must(shmemx_moe_mask_on_stream(handle_, m, in_stream.stream));
    in_stream.synchronize();
  }
  /// All members come back: all meet before and after.
  void unmask(int member = -1) const {
    driver_.synchronize();
    shmem_barrier_all();
    if (member != me) must(shmemx_moe_unmask_on_stream(handle_, member, driver_.stream));
    driver_.synchronize();
    shmem_barrier_all();
    expect_masked(0, "after all came back");
  }
  void meet(uint64_t absent) const {
    shmem_barrier_all();
    if (in(absent, me)) return;
    must(shmemx_moe_meet_on_stream(handle_, driver_.stream));
    driver_.synchronize();
    expect_masked(absent, "after a meeting");
  }

  /// Members of `absent` stay away from both calls, those of `leaving` from the combine; with mask_leaving the others
  /// mask these between the calls. Returns a hash of all that came.
  uint64_t round(uint32_t round, uint64_t absent, uint64_t leaving = 0, bool mask_leaving = false) {
    load(round);
    shmem_barrier_all();
    uint64_t hash = 0;
    const std::string name = "round " + std::to_string(round) + (case_.late_weights ? ", late weights" : "") +
                             (case_.hook ? ", by halves" : "");
    if (!in(absent, me)) {
      give(dispatch_, driver_.stream);
      driver_.synchronize();
      hash = experts(absent, name);
      expect_masked(absent, name + ", behind dispatch");
    }
    shmem_barrier_all();
    if (mask_leaving && !in(absent | leaving, me)) mask(leaving);
    const uint64_t gone = absent | leaving;
    if (in(gone, me)) return 0;
    for (int i = 0; i < (case_.late_weights ? 2 : 1); ++i) give(combine_, driver_.stream);
    driver_.synchronize();
    check_out(gone, name, hash);
    expect_masked(gone, name + ", behind combine");
    return hash;
  }
  /// The last PE is killed; its waits in a call have begun by then. The others check their results and go on without
  /// it, and without the host's barriers.
  void lose_last(const std::string& where) {
    const int last = npes - 1;
    const uint64_t dead = uint64_t{1} << last;
    const bool in_dispatch = where == "dispatch", in_combine = where == "combine", before = where == "before";
    load(2);
    shmem_barrier_all();
    if (me == last && before) die();
    if (me != last && in_dispatch) usleep(2 * kAwhileUs);
    give(dispatch_, driver_.stream);
    if (me == last && in_dispatch) die();
    driver_.synchronize();
    const std::string name = "killed: " + where;
    uint64_t hash = experts(before ? dead : 0, name);
    if (!before && !in_dispatch) shmem_barrier_all();
    if (me == last && !in_combine) die();
    if (me != last && in_combine) usleep(2 * kAwhileUs);
    give(combine_, driver_.stream);
    if (me == last) die();
    driver_.synchronize();
    // A member that was in its combine has sent its sums, unless it waited for weights.
    check_out(in_combine && !case_.late_weights ? 0 : dead, name, hash);
    rounds_without(dead, name + ", later");
  }
  /// The last PE is stopped, and takes no puts, until it is killed. PE 0 waits for what it has put there, PE 1 has put
  /// nothing and waits for PE 0, which says that it waits.
  void lose_stopped() {
    const int last = npes - 1;
    const uint64_t dead = uint64_t{1} << last;
    auto* const pid = static_cast<int*>(shmem_malloc(sizeof(int)));
    if (me == last) shmem_int_p(pid, static_cast<int>(getpid()), 0);
    load(2);
    shmem_barrier_all();
    if (me == last) {
      usleep(kAwhileUs);
      raise(SIGSTOP);
    }
    usleep(2 * kAwhileUs);
    if (me == 1) mask(dead);
    std::thread killer;
    if (me == 0)
      killer = std::thread([victim = shmem_int_g(pid, 0)] {
        usleep(1000 * 3 * kMaskMs);
        if (victim > 0) kill(victim, SIGKILL);
      });
    rounds_without(dead, "killed: stopped");
    if (me == 0) killer.join();
  }
  /// All PEs make one call after the other, and the last one is killed meanwhile. Those that go on check the last
  /// rounds.
  void lose_last_in_a_row() {
    const int last = npes - 1;
    constexpr uint32_t kRounds = 60, kChecked = 5, kKilled = 20;
    constexpr unsigned kMostUs = 20'000;  // a round takes some milliseconds
    shmem_barrier_all();
    for (uint32_t round = 0; round < kRounds; ++round) {
      const bool checked = round + kChecked >= kRounds;
      if (me == last && round == kKilled)
        std::thread([] {
          usleep(static_cast<unsigned>(getpid()) * 7919 % kMostUs);
          raise(SIGKILL);
        }).detach();
      if (me == last && checked) die();
      if (checked || round == 0) load(round);
      give(dispatch_, driver_.stream);
      driver_.synchronize();
      uint64_t hash = 0;
      if (checked) hash = experts(uint64_t{1} << last, "killed: busy");
      give(combine_, driver_.stream);
      driver_.synchronize();
      if (checked) check_out(uint64_t{1} << last, "killed: busy", hash);
    }
  }
  /// Both calls, in whose waits another stream masks members that stay away.
  void mask_in_waits(uint64_t absent, const StreamDriver& other) {
    load(9);
    shmem_barrier_all();
    if (in(absent, me)) return;
    uint64_t hash = 0;
    give(dispatch_, driver_.stream);
    mask(absent, other);
    driver_.synchronize();
    experts(absent, "masked while a dispatch waits");
    give(combine_, driver_.stream);
    driver_.synchronize();
    check_out(absent, "masked while a dispatch waits", hash);
  }
  /// The captured calls again.
  void launch(uint32_t round, uint64_t absent) {
    if (graph_ == nullptr) return;
    load(round);
    shmem_barrier_all();
    if (in(absent, me)) return;
    driver_.launch(graph_);
    driver_.synchronize();
    uint64_t hash = 0;
    check_out(absent, "graph " + std::to_string(round), hash);
  }

 private:
  /// Without the host's barriers.
  void rounds_without(uint64_t dead, const std::string& name) {
    for (uint32_t round = 3; round < 6; ++round) {
      load(round);
      give(dispatch_, driver_.stream);
      driver_.synchronize();
      uint64_t hash = experts(dead, name);
      expect_masked(dead, name);
      give(combine_, driver_.stream);
      driver_.synchronize();
      check_out(dead, name, hash);
    }
  }
  /// Not at once: between nodes a barrier ends before its last messages have left this PE.
  [[noreturn]] static void die() {
    usleep(kAwhileUs);
    raise(SIGKILL);
    std::abort();
  }
  size_t local() const { return static_cast<size_t>(case_.local); }
  size_t hidden() const { return static_cast<size_t>(case_.hidden); }
  size_t tokens() const { return static_cast<size_t>(case_.max_tokens); }
  size_t topk() const { return static_cast<size_t>(case_.topk); }
  size_t pairs() const { return local() * static_cast<size_t>(npes); }
  void* taken(size_t nbytes) {
    memory_.push_back(shmem_align(256, nbytes));
    if (memory_.back() == nullptr) shmem_global_exit(2);
    return memory_.back();
  }

  void load(uint32_t round) {
    sent_.clear();
    for (int pe = 0; pe < npes; ++pe) {
      Tokens& tokens = sent_.emplace_back(case_, npes, pe, 64 * round);
      tokens.count = case_.max_tokens;
      tokens.experts.resize(this->tokens() * topk(), -1);
      tokens.weights.resize(this->tokens() * topk(), 1.0F);
      tokens.x.resize(this->tokens() * hidden());
      for (size_t i = 0; i < tokens.x.size(); ++i) {
        const size_t channel = i % hidden(), token = i / hidden();
        const float value = channel + kMarked < hidden() ? static_cast<float>(pe + 1) : static_cast<float>(token);
        tokens.x[i] = rounded(value, case_.type);
      }
    }
    const Tokens& mine = sent_[static_cast<size_t>(me)];
    driver_.upload(const_cast<void*>(dispatch_.x), mine.x.data(), mine.x.size() * 2);
    driver_.upload(const_cast<int64_t*>(dispatch_.experts), mine.experts.data(), mine.experts.size() * sizeof(int64_t));
    driver_.upload(const_cast<float*>(weights_), mine.weights.data(), mine.weights.size() * sizeof(float));
  }

  /// Compares what has come with what must come, and makes the experts' results of it. Returns its hash.
  uint64_t experts(uint64_t masked, const std::string& name) {
    const size_t row_nbytes = hidden() * (case_.dispatch_type == case_.type ? 2 : 1);
    std::vector<uint8_t> rows(local() * capacity_ * row_nbytes);
    std::vector<int32_t> counts(pairs()), sources(local() * capacity_);
    driver_.download(rows.data(), dispatch_.rows, rows.size());
    driver_.download(counts.data(), dispatch_.counts, counts.size() * sizeof(int32_t));
    driver_.download(sources.data(), dispatch_.sources, sources.size() * sizeof(int32_t));
    std::vector<uint16_t> results(local() * capacity_ * hidden());
    uint64_t hash = 0;
    for (size_t e = 0; e < local(); ++e) {
      const int64_t expert = static_cast<int64_t>(e) + case_.local * me;
      size_t at = e * capacity_;
      for (int source = 0; source < npes; ++source) {
        const Tokens& theirs = sent_[static_cast<size_t>(source)];
        int32_t count = 0;
        for (int t = 0; t < theirs.count && !in(masked, source); ++t)
          for (int k = 0; k < case_.topk; ++k) {
            if (expert_of(theirs, case_.topk, t, k) != expert) continue;
            ++count;
            const Row right = row_of(case_, &theirs.x[static_cast<size_t>(t) * hidden()]);
            expect(std::equal(right.bytes.begin(), right.bytes.end(), &rows[at * row_nbytes]), name + ": a row");
            expect(sources[at] == t, name + ": the source of a row");
            const std::vector<uint16_t> result = expert_result(case_, expert, right);
            std::copy(result.begin(), result.end(), results.begin() + static_cast<std::ptrdiff_t>(at * hidden()));
            hash_in(hash, &rows[at * row_nbytes], row_nbytes);
            ++at;
          }
        expect(counts[e * static_cast<size_t>(npes) + static_cast<size_t>(source)] == count,
               name + ": the count of PE " + std::to_string(source));
      }
    }
    driver_.upload(const_cast<void*>(combine_.rows), results.data(), results.size() * 2);
    return hash;
  }
  void check_out(uint64_t masked, const std::string& name, uint64_t& hash) const {
    const Tokens& mine = sent_[static_cast<size_t>(me)];
    std::vector<uint16_t> out(tokens() * hidden());
    driver_.download(out.data(), combine_.out, out.size() * 2);
    for (int t = 0; t < mine.count; ++t) {
      const std::vector<uint16_t> right = combined(case_, npes, mine, t, masked);
      expect(std::equal(right.begin(), right.end(), &out[static_cast<size_t>(t) * hidden()]),
             name + ": the sum of token " + std::to_string(t));
    }
    hash_in(hash, out.data(), out.size() * 2);
  }
  static void hash_in(uint64_t& hash, const void* data, size_t nbytes) {
    for (size_t i = 0; i < nbytes; ++i) hash = (hash ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3u;
  }
  void expect_masked(uint64_t right, const std::string& when) const {
    std::vector<int32_t> masked(static_cast<size_t>(npes), -1);
    must(shmemx_moe_masked_on_stream(handle_, masked_, driver_.stream));
    driver_.synchronize();
    driver_.download(masked.data(), masked_, masked.size() * sizeof(int32_t));
    for (int m = 0; m < npes; ++m)
      expect(masked[static_cast<size_t>(m)] == (in(right, m) ? 1 : 0), when + ": the mask of PE " + std::to_string(m));
  }

  const StreamDriver& driver_;
  const MoeCase case_;
  const size_t capacity_;
  std::vector<void*> memory_;
  shmemx_moe_t handle_ = nullptr;
  shmemx_moe_dispatch_t dispatch_ = SHMEMX_MOE_DISPATCH_INITIALIZER;
  shmemx_moe_combine_t combine_ = SHMEMX_MOE_COMBINE_INITIALIZER;
  const float* weights_ = nullptr;
  int32_t* masked_ = nullptr;
  void* graph_ = nullptr;
  std::vector<Tokens> sent_;
};

/// The program masks. The last PE is masked from the start, the first one between dispatch and combine.
void by_program(const StreamDriver& driver, const MoeCase& one) {
  Rig rig(driver, one, 0);
  rig.capture();
  const uint64_t last = uint64_t{1} << (npes - 1), first = 1;
  const uint64_t all_there = rig.round(1, 0);
  rig.launch(2, 0);
  if (!in(last, me)) rig.mask(last);
  const uint64_t masked = rig.round(1, last);
  expect(rig.round(1, last) == masked, "the hash of a round with a masked PE");
  rig.launch(3, last);
  rig.unmask(npes - 1 == me ? -1 : npes - 1);
  expect(rig.round(1, 0) == all_there, "the hash of a round of all PEs");
  rig.launch(4, 0);
  rig.round(5, 0, first, true);
  rig.round(6, first);
  rig.unmask();
  rig.launch(7, 0);
  rig.round(8, 0);
  if (one.multiprocessors == 0) return;  // a kernel of another stream may find no place
  const StreamDriver other;
  rig.mask_in_waits(last, other);
  rig.unmask();
  rig.round(8, 0);
}

/// Waits mask: a PE that stays away from a dispatch, then one that stays away from a combine.
void by_waits(const StreamDriver& driver, const MoeCase& one) {
  Rig rig(driver, one, kMaskMs);
  const uint64_t last = uint64_t{1} << (npes - 1), first = npes > 2 ? 1 : 0;
  const uint64_t all_there = rig.round(1, 0);
  rig.round(2, last);
  rig.round(3, last, first);
  rig.round(4, last | first);
  rig.unmask();
  expect(rig.round(1, 0) == all_there, "the hash of a round of all PEs, behind waits that masked");
  rig.round(5, 0, last);
  rig.unmask();
  rig.meet(last);
  rig.unmask();
  rig.meet(0);
  rig.round(6, 0);
}

/// Two handles share a mask: a PE that stays away is awaited once.
void shared(const StreamDriver& driver, const MoeCase& one) {
  Rig keeper(driver, one, kMaskMs), other(driver, one, kMaskMs, &keeper);
  const uint64_t last = uint64_t{1} << (npes - 1);
  const uint64_t all_there = other.round(1, 0);
  keeper.round(2, last);
  const auto began = std::chrono::steady_clock::now();
  other.round(3, last);
  expect(std::chrono::steady_clock::now() - began < std::chrono::milliseconds(kMaskMs),
         "the second handle waited again");
  keeper.unmask();
  other.unmask();
  keeper.round(4, 0);
  expect(other.round(1, 0) == all_there, "the hash of a round with a shared mask");
}

/// Ends the process: nothing that needs all PEs can follow, as shmem_finalize would.
[[noreturn]] void lose_last(const StreamDriver& driver, const std::string& where) {
  constexpr int kHalf = SHMEMX_DATATYPE_HALF;
  const bool late = where.starts_with("late_");
  Rig rig(driver, {kHalf, kHalf, 2, 4, 32, 5, Routing::random, true, false, 0, late}, kMaskMs);
  rig.round(1, 0);
  if (where == "stopped")
    rig.lose_stopped();
  else if (where.ends_with("busy"))
    rig.lose_last_in_a_row();
  else
    rig.lose_last(late ? where.substr(5) : where);
  if (failures == 0) std::printf("moe_masks: PE %d goes on without PE %d, killed: %s\n", me, npes - 1, where.c_str());
  std::exit(failures == 0 ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  shmem_init();
  if (shmemx_attach_device() != 0) return 1;
  me = shmem_my_pe();
  npes = shmem_n_pes();
  {
    const StreamDriver driver;
    constexpr int kBfloat16 = SHMEMX_DATATYPE_BFLOAT16, kHalf = SHMEMX_DATATYPE_HALF;
    constexpr int kFloat8 = SHMEMX_DATATYPE_FLOAT8_E4M3;
    if (argc > 2) lose_last(driver, argv[2]);
    by_program(driver, {kBfloat16, kBfloat16, 2, 3, 32, 5, Routing::cancelling, true, false, 16});
    by_program(driver, {kHalf, kHalf, 2, 3, 32, 5, Routing::cancelling, true, true, 0, true});
    by_program(driver, {kBfloat16, kFloat8, 1, 2, 128, 4, Routing::with_dropped, true, false, 0, true});
    by_waits(driver, {kBfloat16, kBfloat16, 2, 4, 32, 5, Routing::random, true, true});
    by_waits(driver, {kHalf, kHalf, 1, 2, 32, 5, Routing::random, true, false, 0, true});
    shared(driver, {kHalf, kHalf, 1, 2, 32, 5, Routing::random, true, false, 0, true});
  }
  shmem_barrier_all();
  const int failed = failures;
  if (failed == 0 && me == 0) std::printf("moe_masks: %d PEs: all well\n", npes);
  shmem_finalize();
  return failed == 0 ? 0 : 1;
}
