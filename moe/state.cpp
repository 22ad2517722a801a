// SPDX-License-Identifier: BSD-3-Clause
#include "moe/state.h"

#include <shmem.h>

#include <algorithm>

#include "moe/checks.h"
#include "moe/kernels/few_far.h"
#include "moe/members.h"
#include "src/base/error.h"

namespace railshmem::moe {
namespace {

/// Blocks for so many tokens. All run at once, because some wait for others: on each multiprocessor at least one, and
/// up to as many as have no more threads than its blocks of the most threads, but four, for all of whose shared memory
/// there is room; or one on each of those that the program allows. More blocks than there is work for take longer to
/// begin.
template <class Call>
unsigned blocks_for(const shmemx_moe_config_t& config, const Call& call, unsigned threads) {
  constexpr unsigned kEach = 4;  // blocks that a token keeps busy
  const unsigned multiprocessors = multiprocessors_here();
  const unsigned most = std::min(Call::kBlocks * Call::kMostThreads / threads, 4u) * multiprocessors;
  const unsigned some = std::clamp(kEach * call.tokens, multiprocessors, most);
  return config.multiprocessors == 0 ? some : std::min(static_cast<unsigned>(config.multiprocessors), some);
}

/// Whole warps for so much work, of which all threads have equally much.
unsigned threads_for(unsigned work, unsigned most) {
  const unsigned turns = (work + most - 1) / most;
  return ((work + turns - 1) / turns + 31) / 32 * 32;
}
/// Of dispatch: a pair of a row, or an entry, for each thread. Of combine: as many units of 16 bytes.
unsigned dispatch_threads_of(const Shape& shape) {
  return threads_for(Layout(shape).row_pairs() + shape.entries(), DispatchCall::kMostThreads);
}
unsigned combine_threads_of(const Shape& shape) {
  return threads_for(static_cast<unsigned>(shape.hidden) / 8, CombineCall::kMostThreads);
}

/// Those that map each other's memory are the team's on this node.
void check_memory(const Members& members, const shmemx_topology_t& where) {
  const auto here = std::count_if(members.memory, members.memory + where.npes, [](auto* at) { return at != nullptr; });
  if (here != where.node_npes)
    throw Error(
        text("the workspace is mapped from %d of the team's %d members on this node; allocate it with "
             "shmem_malloc",
             static_cast<int>(here), where.node_npes));
}

}  // namespace

}  // namespace railshmem::moe

using namespace railshmem;
using namespace railshmem::moe;

shmemx_moe::shmemx_moe(shmem_team_t team, const shmemx_topology_t& where, const shmemx_moe_config_t& config,
                       void* workspace, size_t nbytes)
    : config_(config),
      kernels_(config, where.npes, where.nnodes),
      dispatch_threads_(dispatch_threads_of(shape_of(config, where.npes))),
      combine_threads_(combine_threads_of(shape_of(config, where.npes))) {
  const Shape shape = shape_of(config, where.npes);
  dispatch_.members =
      moe::members_of(team, shape, workspace, nbytes, workspace_of(shape, where.nnodes), "shmemx_moe_workspace");
  if (where.nnodes > 1) check_memory(dispatch_.members, where);
  if (config.zeroed == 0) {
    clear_words(workspace, Layout(shape).words_nbytes());
    const FarFewLayout far(shape);
    if (where.nnodes > 1) clear_words(static_cast<unsigned char*>(workspace) + far.words(), far.far_words_nbytes());
  }
  if (config.maskable != 0) take_mask();
  combine_.members = dispatch_.members;
}

void shmemx_moe::give(const DispatchCall& call, Stream stream) const {
  kernels_.give(call, blocks_for(config_, call, dispatch_threads_), dispatch_threads_, stream);
}
void shmemx_moe::give(const CombineCall& call, Stream stream) const {
  kernels_.give(call, blocks_for(config_, call, combine_threads_), combine_threads_, stream);
}

void shmemx_moe::refuse_beside_half_a_call() const {
  if (stage_ == Stage::dispatch_sent || stage_ == Stage::combine_sent)
    throw Error("the call before was given with hook = 1; complete it first (shmemx_moe_complete_on_stream)");
}

void shmemx_moe::refuse_combine_at_the_wrong_time() const {
  refuse_beside_half_a_call();
  if (stage_ == Stage::idle) throw Error("no dispatch came before; a combine follows its dispatch");
  if (stage_ == Stage::combined && config_.late_weights == 0)
    throw Error("the dispatch before has its combine; a handle with late_weights combines several times");
  if (combines_ > kMostRepeats)
    throw Error(text("the dispatch before has been combined %u times; dispatch again", combines_));
}

void shmemx_moe::dispatch(const shmemx_moe_dispatch_t& asked, Stream stream) {
  check_buffers(asked, config_);
  refuse_beside_half_a_call();
  const bool captured = overlap::is_captured(stream);
  DispatchCall call = dispatch_;
  call.halves = asked.hook != 0 ? kSend : kSend | kReceive;
  call.tokens = static_cast<uint32_t>(asked.tokens);
  call.x = asked.x;
  call.experts = asked.experts;
  call.weights = asked.weights;
  call.rows = asked.rows;
  call.scales = asked.scales;
  call.counts = asked.counts;
  call.totals = asked.totals;
  call.ranges = asked.ranges;
  call.sources = asked.sources;
  call.x_scales = asked.x_scales;
  give(call, stream);
  dispatch_ = call;
  combines_ = 0;
  captured_ = captured;
  stage_ = asked.hook != 0 ? Stage::dispatch_sent : Stage::dispatched;
}

void shmemx_moe::combine(const shmemx_moe_combine_t& asked, Stream stream) {
  refuse_combine_at_the_wrong_time();
  check_buffers(asked, config_, static_cast<int>(dispatch_.tokens));
  if (overlap::is_captured(stream) != captured_)
    throw Error("a graph must capture a combine together with its dispatch: one of the two was captured");
  CombineCall call = combine_;
  call.halves = asked.hook != 0 ? kSend : kSend | kReceive;
  call.tokens = dispatch_.tokens;
  call.rows = asked.rows;
  call.out = asked.out;
  call.weights = asked.weights;
  call.repeat = combines_;
  give(call, stream);
  combine_ = call;
  ++combines_;
  stage_ = asked.hook != 0 ? Stage::combine_sent : Stage::combined;
}

void shmemx_moe::complete(Stream stream) {
  if (stage_ != Stage::dispatch_sent && stage_ != Stage::combine_sent)
    throw Error("nothing is to be completed; the last call was not given with hook = 1, or is complete");
  if (overlap::is_captured(stream) != captured_)
    throw Error("a graph must capture both halves of a call: one of the two was captured");
  if (stage_ == Stage::dispatch_sent) {
    dispatch_.halves = kReceive;
    give(dispatch_, stream);
    stage_ = Stage::dispatched;
  } else {
    combine_.halves = kReceive;
    give(combine_, stream);
    stage_ = Stage::combined;
  }
}
