// SPDX-License-Identifier: BSD-3-Clause
// More captured collectives than a limit of the driver allows, by 2 PEs on the fake driver, whose limits are set from
// outside. The collectives of all graphs are right, and what a destroyed graph gives back is used again.
//   capture_limits blocks    a peer can open 3 blocks of cudaMalloc   (RAILSHMEM_FAKE_BLOCKS=3): others go through
//   scratch capture_limits objects   graphs can hold 3 objects                (RAILSHMEM_FAKE_OBJECTS=3): others go
//   through scratch capture_limits teams     no GPU memory is left for more teams     (RAILSHMEM_FAKE_MEMORY): the call
//   is refused
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/gpu/multi_gpu/registered_rig.h"

namespace {

using namespace railshmem;
using namespace railshmem::multi;
using test::Allocator;
using test::ProgramMemory;

constexpr size_t kBlock = 100'000;
constexpr int kGraphs = 6;

/// A graph with one all-gather on memory of its own, that nobody registered.
class CapturedGather {
 public:
  CapturedGather(Rig& rig, shmem_team_t team, int seed)
      : rig_(rig), seed_(seed), memory_(rig.memory(Allocator::block, (1 + static_cast<size_t>(rig.npes)) * kBlock)) {
    shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
    coll.team = team;
    coll.nelems = kBlock;
    coll.source = memory_.at();
    coll.dest = memory_.at(kBlock);
    graph_ = rig.streams.capture([&] { status_ = shmemx_coll_on_stream(&coll, rig.streams.stream); });
  }
  CapturedGather(const CapturedGather&) = delete;
  ~CapturedGather() { rig_.streams.call("cuGraphExecDestroy", graph_); }

  bool given() const { return status_ == 0; }
  void run(int round) {
    rig_.write(memory_.at(), rig_.pattern(rig_.me + 20 * round + seed_, kBlock));
    rig_.streams.launch(graph_);
    rig_.streams.synchronize();
    for (int pe = 0; pe < rig_.npes; ++pe)
      rig_.expect(rig_.read(memory_.at(kBlock * static_cast<size_t>(1 + pe)), kBlock) ==
                      rig_.pattern(pe + 20 * round + seed_, kBlock),
                  "gathered at each replay");
  }
  /// Where the other PE receives. All PEs call it together.
  uint64_t peer_receives_at() const {
    return rig_.all_gather(cuda::address_of(memory_.at(kBlock)))[static_cast<size_t>(1 - rig_.me)];
  }

 private:
  Rig& rig_;
  const int seed_;
  const ProgramMemory memory_;
  void* graph_ = nullptr;
  int status_ = -1;
};
using Gathers = std::vector<std::unique_ptr<CapturedGather>>;

/// Whether this PE maps what the other PE receives in at an address.
bool is_mapped(const Rig& rig, uint64_t at) {
  return rig.buffers.mapped(1 - rig.me, at, kBlock) != nullptr;
}

/// Captures kGraphs graphs and runs all of them twice. Returns where those receive that go from buffer to buffer.
std::vector<uint64_t> capture_many(Rig& rig, Gathers& gathers) {
  std::vector<uint64_t> direct;
  for (int i = 0; i < kGraphs; ++i) {
    gathers.push_back(std::make_unique<CapturedGather>(rig, SHMEM_TEAM_WORLD, i));
    rig.expect(gathers.back()->given(), "captured");
    const uint64_t at = gathers.back()->peer_receives_at();
    if (is_mapped(rig, at)) direct.push_back(at);
  }
  for (int round = 0; round < 2; ++round)
    for (auto& gather : gathers) gather->run(round);
  return direct;
}

/// Both limits leave room for `most` graphs that go from buffer to buffer.
void beyond(Rig& rig, const char* what, size_t most) {
  for (int again = 0; again < 2; ++again) {
    rig.step("%d graphs with more %s than there are, time %d", kGraphs, what, again + 1);
    Gathers gathers;
    const std::vector<uint64_t> direct = capture_many(rig, gathers);
    rig.expect(direct.size() == most, "as many as possible go from buffer to buffer, also after others were destroyed");
    rig.barrier();
    gathers.clear();
    // The driver tells of a graph's end some time later, and a call that may wait for the GPU closes the memory then.
    rig.expect(rig.comes_true([&] {
      rig.close_freed();
      return std::none_of(direct.begin(), direct.end(), [&](uint64_t at) { return is_mapped(rig, at); });
    }),
               "the peer's memory is closed when its graph has gone");
    rig.barrier();
  }
}

/// Teams until their collectives find no memory. The members see the refusal alike, and go on.
void teams(Rig& rig) {
  rig.step("teams without memory for their collectives");
  constexpr int kMost = 20;
  std::vector<shmem_team_t> made;
  Gathers gathers;
  bool refused = false;
  while (!refused && made.size() < kMost) {
    shmem_team_t& team = made.emplace_back(SHMEM_TEAM_INVALID);
    rig.expect(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, rig.npes, nullptr, 0, &team) == 0, "split");
    gathers.push_back(std::make_unique<CapturedGather>(rig, team, static_cast<int>(made.size())));
    refused = !gathers.back()->given();
  }
  rig.expect(refused && gathers.size() > 2, "refused, but not at once");
  rig.expect(!refused || rig.all_gather(made.size())[0] == made.size(), "all members are refused the same call");
  gathers.pop_back();
  for (int round = 0; round < 2; ++round)
    for (auto& gather : gathers) gather->run(round);
  rig.step("teams when others have gone");
  gathers.clear();
  for (size_t i = 0; i + 1 < made.size(); ++i) shmem_team_destroy(made[i]);
  // The driver tells of the end of graphs some time later. All members are refused alike, so they try equally often.
  std::unique_ptr<CapturedGather> last;
  rig.expect(rig.comes_true([&] { return (last = std::make_unique<CapturedGather>(rig, made.back(), 77))->given(); }),
             "the memory of destroyed teams is used again");
  last->run(0);
  rig.barrier();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  shmem_init();
  if (shmemx_attach_device() != 0) shmem_global_exit(2);
  int failures = 0;
  {
    Rig rig;
    if (mode == "blocks") beyond(rig, "blocks", 3);
    if (mode == "objects") beyond(rig, "objects", 1);
    if (mode == "teams") teams(rig);
    failures = rig.failures;
    if (rig.me == 0) std::printf("%s capture limits, %s\n", failures == 0 ? "ok    " : "FAILED", mode.c_str());
  }
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
