// SPDX-License-Identifier: BSD-3-Clause
// The C names.
#include <shmemx_overlap.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "overlap/guarded.h"
#include "overlap/handle.h"
#include "overlap/nodes.h"
#include "overlap/together.h"
#include "src/base/env.h"
#include "src/base/error.h"

using namespace railshmem;
using namespace railshmem::overlap;

namespace {

/// SHMEM_OVERLAP: "", "whole" or a number of pieces.
int pieces_of(const std::string& setting) {
  if (setting.empty()) return 0;
  if (setting == "whole") return SHMEMX_PIECES_WHOLE;
  char* end = nullptr;
  const long pieces = std::strtol(setting.c_str(), &end, 10);
  if (*end != '\0' || pieces < 1 || pieces > SHMEMX_PIECES_MOST)
    throw Error(text("SHMEM_OVERLAP is '%s'; accepted: whole, or a number of pieces from 1 to %d", setting.c_str(),
                     SHMEMX_PIECES_MOST));
  return static_cast<int>(pieces);
}

int streams_of(size_t setting) {
  if (setting > LtProducts::kStreams)
    throw Error(text("SHMEM_OVERLAP_STREAMS is %zu; accepted: 1, 2, or 0 (by shape)", setting));
  return static_cast<int>(setting);
}

void check_team(shmem_team_t team) {
  if (shmem_team_n_pes(team) < 1)
    throw Error(text("team %ld does not exist on this PE", static_cast<long>(reinterpret_cast<intptr_t>(team))));
}

int members_of(shmem_team_t team) {
  check_team(team);
  const int n = shmem_team_n_pes(team);
  if (n > kMostMembers)
    throw Error(text("the team has %d members; overlapped products are for at most %d", n, kMostMembers));
  return n;
}

std::vector<int> pes_twice(const Workspace& workspace, int n) {
  std::vector<int> pes;
  for (int i = 0; i < 2 * n; ++i) pes.push_back(workspace.pe_of(i % n));
  return pes;
}

bool computes_in_own_context(const Env& env) noexcept {
  return env.gpu_context == GpuContextMode::own;
}

std::unique_ptr<State> make(shmem_team_t team, void* memory, size_t nbytes) {
  void* context = nullptr;
  must(driver().get_context(&context), "cuCtxGetCurrent");
  if (context == nullptr) throw Error("no GPU is current in this thread; call cudaSetDevice with this PE's GPU before");
  const Env env = Env::parse();
  shmemx_topology_t where{};
  where.size = sizeof where;
  if (shmemx_topology_get(team, &where) != 0) throw Error("the team's nodes are not known");
  const int n = members_of(team), me = shmem_team_my_pe(team);
  const bool mapped = n == 1 || (where.nnodes == 1 && where.mapped != 0);
  Workspace workspace(team, me, n, mapped, memory, nbytes);
  const std::vector<int> watched = pes_twice(workspace, n);
  const LtProducts::Rooms rooms{Room{workspace.products(0), Workspace::kProducts},
                                Room{workspace.products(1), Workspace::kProducts}};
  static_assert(LtProducts::kStreams == Workspace::kProductStreams);
  // NOLINTNEXTLINE(modernize-make-unique): its parts cannot be moved, so they are made in place
  return std::unique_ptr<State>(
      new State{team,
                me,
                n,
                where.nnodes,
                mapped,
                pieces_of(env.overlap),
                streams_of(env.overlap_streams),
                computes_in_own_context(env),
                env.overlap_protocol,
                std::move(workspace),
                {},
                {watched, env.wait_timeout_s},
                {},
                {rooms, env.overlap_search ? LtProducts::Choice::search : LtProducts::Choice::heuristic}});
}

/// The second step of making a handle, when all members have taken the first one. Throws Error after the exchange.
void meet(State& state) {
  const Stream stream = state.lanes.adding();
  if (!state.mapped) state.node_of = nodes_of_members(state.team, state.n, state.workspace, stream);
  must(driver().fill_async(address_of(state.workspace.words()), 0, Workspace::words_nbytes(state.n), stream),
       "cuMemsetD8Async");
  std::array one{write_word(state.workspace.mine().one, 1)};
  give_words(one, stream);
  must(driver().stream_synchronize(stream), "cuStreamSynchronize");
}

int call(const char* function, Way way, const shmemx_gemm_t* asked, Stream stream) {
  return guarded(function, [&] {
    const shmemx_gemm_t whole = complete(asked);
    if (whole.handle == nullptr) throw Error("handle is NULL; make one with shmemx_overlap_create");
    State& state = *whole.handle;
    const Gemm gemm = checked(way, &whole, state.n);
    way == Way::gather ? gather_and_multiply(state, gemm, stream) : multiply_and_scatter(state, gemm, stream);
  });
}

int pieces(const char* function, Way way, int npes, int nodes, size_t m, size_t n, size_t k, size_t element) {
  int found = 0;
  guarded(function, [&] {
    const bool own_context = computes_in_own_context(Env::parse());
    const size_t suggested = suggested_pieces(way, {npes, nodes, m, n, k, element, 0, own_context});
    found = suggested == 0 ? SHMEMX_PIECES_WHOLE : static_cast<int>(suggested);
  });
  return found;
}

}  // namespace

extern "C" {

size_t shmemx_overlap_workspace(shmem_team_t team, size_t partial_nbytes) {
  size_t nbytes = 0;
  guarded("shmemx_overlap_workspace", [&] { nbytes = Workspace::nbytes(members_of(team), partial_nbytes); });
  return nbytes;
}

int shmemx_overlap_create(shmem_team_t team, void* workspace, size_t nbytes, shmemx_overlap_t* handle) {
  return guarded("shmemx_overlap_create", [&] {
    check_team(team);
    std::unique_ptr<State> made;
    together(team, [&] {
      if (handle == nullptr) throw Error("handle is NULL; pass the address of a shmemx_overlap_t");
      made = make(team, workspace, nbytes);
      if (!made->mapped) write_node(team, made->workspace, made->lanes.adding());
    });
    together(team, [&] { meet(*made); });
    *handle = made.release();
  });
}

int shmemx_overlap_destroy(shmemx_overlap_t handle) {
  return guarded("shmemx_overlap_destroy", [&] {
    if (handle == nullptr) throw Error("handle is NULL; destroy a handle of shmemx_overlap_create, once");
    delete handle;
  });
}

int shmemx_ag_gemm_on_stream(const shmemx_gemm_t* gemm, shmemx_stream_t stream) {
  return call("shmemx_ag_gemm_on_stream", Way::gather, gemm, stream);
}

int shmemx_gemm_rs_on_stream(const shmemx_gemm_t* gemm, shmemx_stream_t stream) {
  return call("shmemx_gemm_rs_on_stream", Way::scatter, gemm, stream);
}

int shmemx_ag_gemm_pieces(int npes, int nodes, size_t m, size_t n, size_t k, size_t element_nbytes) {
  return pieces("shmemx_ag_gemm_pieces", Way::gather, npes, nodes, m, n, k, element_nbytes);
}

int shmemx_gemm_rs_pieces(int npes, int nodes, size_t m, size_t n, size_t k, size_t element_nbytes) {
  return pieces("shmemx_gemm_rs_pieces", Way::scatter, npes, nodes, m, n, k, element_nbytes);
}

}  // extern "C"
