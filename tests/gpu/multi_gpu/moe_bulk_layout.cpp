// SPDX-License-Identifier: BSD-3-Clause
// Counts and numbers of tokens for a route against a plain reference: by the experts that tokens choose and by the
// members that they are said to go to, with and without the members' counts, call by call and from graphs.
//   moe_bulk_layout [ROUNDS]     rounds of each case (default: 6)
#include <shmem.h>
#include <shmemx_moe.h>

#include <cstdio>
#include <cstdlib>

#include "tests/gpu/multi_gpu/expect.h"
#include "tests/gpu/multi_gpu/moe_rig.h"
#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using namespace railshmem::multi;

/// What must come out for the tokens of one PE.
struct Counted {
  Counted(const Tokens& tokens, int topk, int local) : count(tokens.count) {
    to_members.resize(static_cast<size_t>(npes));
    to_experts.resize(static_cast<size_t>(npes * local));
    for (int t = 0; t < count; ++t) {
      std::vector<uint8_t> goes(static_cast<size_t>(npes));
      for (int k = 0; k < topk; ++k) {
        const int64_t expert = tokens.experts[static_cast<size_t>(t * topk + k)];
        if (expert < 0) continue;
        ++to_experts[static_cast<size_t>(expert)];
        goes[static_cast<size_t>(expert / local)] = 1;
      }
      for (size_t m = 0; m < goes.size(); ++m) numbers.push_back(goes[m] != 0 ? to_members[m]++ : -1);
      in_member.insert(in_member.end(), goes.begin(), goes.end());
    }
  }

  int count;
  std::vector<int32_t> numbers, to_members, to_experts;
  std::vector<uint8_t> in_member;
};

class Rig {
 public:
  Rig(const StreamDriver& driver, const MoeCase& one)
      : driver_(driver), case_(one), tokens_(static_cast<size_t>(one.max_tokens)), n_(static_cast<size_t>(npes)) {
    shmemx_moe_bulk_config_t config = SHMEMX_MOE_BULK_CONFIG_INITIALIZER;
    config.hidden = 8;
    config.max_tokens = 1;  // counts need no room for rows
    config.multiprocessors = one.multiprocessors;
    const size_t nbytes = shmemx_moe_bulk_workspace(SHMEM_TEAM_WORLD, &config);
    if (shmemx_moe_bulk_create(SHMEM_TEAM_WORLD, &config, memory<char>(nbytes), nbytes, &layout_.handle) != 0)
      shmem_global_exit(2);
    layout_.topk = one.topk;
    layout_.experts = one.local * npes;
    chosen_ = memory<int64_t>(tokens_ * static_cast<size_t>(one.topk));
    goes_ = memory<uint8_t>(tokens_ * n_), goes_named_ = memory<int32_t>(experts());
    layout_.numbers = memory<int32_t>(tokens_ * n_), layout_.in_member = memory<uint8_t>(tokens_ * n_);
    layout_.to_members = memory<int32_t>(n_), layout_.to_experts = memory<int32_t>(experts());
    begins_ = memory<int32_t>(n_ + 1), prefixes_ = memory<int32_t>(n_ * n_), received_ = memory<int32_t>(local());
    on_host_ = static_cast<uint64_t*>(driver.pinned((3 + local()) * sizeof(uint64_t)));
  }
  ~Rig() {
    shmem_barrier_all();
    if (shmemx_moe_bulk_destroy(layout_.handle) != 0) shmem_global_exit(2);
    for (auto at = owned_.rbegin(); at != owned_.rend(); ++at) shmem_free(*at);
    driver_.call("cuMemFreeHost", static_cast<void*>(on_host_));
  }
  Rig(const Rig&) = delete;

  void run(int rounds) {
    constexpr int kCaptured = 3;
    void* graph = nullptr;
    for (int round = 0; round < rounds; ++round) {
      const bool captured = round >= kCaptured && driver_.graphs();
      load(static_cast<uint32_t>(round), captured);
      by_goes_ = !captured && round % 2 == 1;
      if (captured && graph == nullptr) graph = driver_.capture([&] { give(true); });
      clear();
      captured ? driver_.launch(graph) : give(true);
      if (round == 2 && me == 0) give(false);  // not all PEs need make calls that are local
      driver_.synchronize();
      check("routing " + std::to_string(static_cast<int>(case_.routing)) + ", " + std::to_string(tokens_) +
            " tokens, round " + std::to_string(round));
    }
    shmem_barrier_all();
    if (graph != nullptr) driver_.call("cuGraphExecDestroy", graph);
  }

 private:
  size_t local() const { return static_cast<size_t>(case_.local); }
  size_t experts() const { return local() * n_; }
  template <class T>
  T* memory(size_t count) {
    void* const made = shmem_align(256, std::max<size_t>(count * sizeof(T), 1));
    if (made == nullptr) shmem_global_exit(2);
    owned_.push_back(made);
    return static_cast<T*>(made);
  }

  void give(bool of_all) {
    shmemx_moe_bulk_layout_t call = layout_;
    if (by_goes_) {
      call.goes = goes_, call.goes_named = goes_named_;
    } else {
      call.chosen = chosen_;
    }
    if (of_all) {
      call.begins = begins_, call.prefixes = prefixes_, call.received = received_, call.on_host = on_host_;
      call.ticket = 77;
    }
    if (shmemx_moe_bulk_layout_on_stream(&call, driver_.stream) != 0) shmem_global_exit(2);
  }
  void load(uint32_t round, bool all_tokens) {
    counted_.clear();
    for (int pe = 0; pe < npes; ++pe) {
      Tokens tokens(case_, npes, pe, round);
      // A graph has the number of tokens that it captured: those that are not there name nobody.
      if (all_tokens) tokens.experts.resize(tokens_ * static_cast<size_t>(case_.topk), -1);
      if (all_tokens) tokens.count = case_.max_tokens;
      counted_.emplace_back(tokens, case_.topk, case_.local);
      if (pe == me) driver_.upload(chosen_, tokens.experts.data(), tokens.experts.size() * sizeof(int64_t));
    }
    const Counted& mine = counted_[static_cast<size_t>(me)];
    layout_.tokens = mine.count;
    driver_.upload(goes_, mine.in_member.data(), mine.in_member.size());
    driver_.upload(goes_named_, mine.to_experts.data(), mine.to_experts.size() * sizeof(int32_t));
  }
  void clear() {
    const std::vector<int32_t> junk(tokens_ * n_ + experts(), 99);
    driver_.upload(layout_.numbers, junk.data(), tokens_ * n_ * sizeof(int32_t));
    driver_.upload(layout_.to_members, junk.data(), n_ * sizeof(int32_t));
    driver_.upload(layout_.to_experts, junk.data(), experts() * sizeof(int32_t));
    driver_.upload(layout_.in_member, junk.data(), tokens_ * n_);
    std::fill(on_host_, on_host_ + 3 + local(), 99u);
  }

  template <class T>
  std::vector<T> got(const T* from, size_t count) const {
    std::vector<T> values(count);
    driver_.download(values.data(), from, count * sizeof(T));
    return values;
  }
  void check(const std::string& name) const {
    const Counted& mine = counted_[static_cast<size_t>(me)];
    expect(got(layout_.numbers, mine.numbers.size()) == mine.numbers, name + ": numbers");
    expect(got(layout_.in_member, mine.in_member.size()) == mine.in_member, name + ": in_member");
    expect(got(layout_.to_members, n_) == mine.to_members, name + ": to_members");
    expect(got(layout_.to_experts, experts()) == mine.to_experts, name + ": to_experts");
    std::vector<int32_t> begins{0}, prefixes(n_ * n_), received(local());
    uint64_t most = 0;
    for (size_t s = 0; s < n_; ++s) {
      const Counted& theirs = counted_[s];
      begins.push_back(begins.back() + theirs.to_members[static_cast<size_t>(me)]);
      most = std::max(most, static_cast<uint64_t>(theirs.count));
      for (size_t m = 0; m < n_; ++m)
        prefixes[s * n_ + m] = theirs.to_members[m] + (s == 0 ? 0 : prefixes[(s - 1) * n_ + m]);
      for (size_t e = 0; e < local(); ++e) received[e] += theirs.to_experts[static_cast<size_t>(me) * local() + e];
    }
    expect(got(begins_, n_ + 1) == begins, name + ": begins");
    expect(got(prefixes_, n_ * n_) == prefixes, name + ": prefixes");
    expect(got(received_, local()) == received, name + ": received");
    std::vector<uint64_t> host{77, static_cast<uint64_t>(begins.back()), most};
    for (const int32_t count : received) host.push_back(static_cast<uint64_t>(count));
    expect(std::vector<uint64_t>(on_host_, on_host_ + host.size()) == host, name + ": counts on the host");
  }

  const StreamDriver& driver_;
  const MoeCase case_;
  const size_t tokens_, n_;
  std::vector<void*> owned_;
  shmemx_moe_bulk_layout_t layout_ = SHMEMX_MOE_BULK_LAYOUT_INITIALIZER;
  int64_t* chosen_;
  uint8_t* goes_;
  int32_t *goes_named_, *begins_, *prefixes_, *received_;
  uint64_t* on_host_;
  bool by_goes_ = false;
  std::vector<Counted> counted_;
};

MoeCase case_of(int local, int topk, int max_tokens, Routing routing, int multiprocessors = 0) {
  MoeCase one{};
  one.local = local, one.topk = topk, one.max_tokens = max_tokens, one.routing = routing;
  one.multiprocessors = multiprocessors;
  return one;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 6;
  shmem_init();
  if (shmemx_attach_device() != 0) return 1;
  me = shmem_my_pe();
  npes = shmem_n_pes();
  {
    const StreamDriver driver;
    const MoeCase cases[] = {
        case_of(3, 2, 9, Routing::random),      case_of(32, 8, 40, Routing::with_dropped, 3),
        case_of(2, 4, 70, Routing::twice),      case_of(1, 1, 33, Routing::none, 1),
        case_of(5, 3, 35, Routing::one_expert), case_of(16, 32, 5, Routing::skewed),
    };
    for (const MoeCase& one : cases) Rig(driver, one).run(rounds);
    // More tokens than one block, or all of them, have in hand. Threads of the host would take minutes.
    if (rounds > 20)
      for (const int tokens : {257, 4096, 20000}) Rig(driver, case_of(8, 8, tokens, Routing::with_dropped)).run(3);
  }
  shmem_barrier_all();
  const int failed = failures;
  if (failed == 0 && me == 0) std::printf("moe_bulk_layout: %d PEs, %d rounds of each case: all well\n", npes, rounds);
  shmem_finalize();
  return failed == 0 ? 0 : 1;
}
