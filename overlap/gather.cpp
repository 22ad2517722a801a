// SPDX-License-Identifier: BSD-3-Clause
// All-gather + product. The program's stream multiplies own rows at once, and others' piece by piece, each when it is
// here.
#include <array>
#include <vector>

#include "overlap/gathering.h"
#include "src/base/error.h"

namespace railshmem::overlap {
namespace {

void one_behind_the_other(Gathering& call) {
  shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
  coll.team = call.state.team;
  coll.nelems = call.block_nbytes;
  coll.source = call.gemm.asked.a;
  coll.dest = call.gemm.asked.gathered;
  if (shmemx_coll_on_stream(&coll, call.stream) != 0) throw Error("the all-gather was refused");
  call.multiply_whole();
}

/// What the call asks for, over SHMEM_OVERLAP_PROTOCOL. Rows are fetched unless one of them says otherwise.
bool pushes(const Gathering& call) {
  const shmemx_gemm_t& asked = call.gemm.asked;
  if (asked.protocol != 0) return asked.protocol == SHMEMX_PROTOCOL_PUT;
  return call.state.protocol == GatherProtocol::put;
}

/// Between nodes the library's all-gather brings the pieces and raises the words, from 0 to 1.
void gather_between_nodes(Gathering& call) {
  const State& state = call.state;
  const Stream lane = state.lanes.copying(0);
  state.lanes.follow(lane, call.stream);
  const auto arrived = [&](int member, size_t piece) { return call.arrived(state.me, member, piece); };
  if (shmemx_fcollectmem_pieces_on_stream(state.team, call.block(0), call.gemm.asked.a, call.block_nbytes,
                                          call.bytes_of(call.cut.piece_rows), arrived(0, 0), lane) != 0)
    throw Error("the all-gather by pieces was refused");
  call.multiply_own();
  for (const Gathering::Piece& piece : call.coming()) {
    std::array ops{await_word(arrived(piece.member, piece.number), 1),
                   write_word(arrived(piece.member, piece.number), 0)};
    give_words(ops, call.stream);
    call.multiply(piece);
  }
  state.lanes.follow(call.stream, lane);
  std::vector<WordOp> own;
  for (size_t p = 0; p < call.cut.pieces; ++p) own.push_back(write_word(arrived(state.me, p), 0));
  give_words(own, call.stream);
}

}  // namespace

void gather_and_multiply(State& state, const Gemm& gemm, Stream stream) {
  Gathering call(state, gemm, stream);
  call.prepare();
  if (call.cut.whole) {
    one_behind_the_other(call);
  } else if (!state.mapped) {
    gather_between_nodes(call);
  } else if (pushes(call)) {
    put_and_multiply(call);
  } else {
    get_and_multiply(call);
  }
  call.finish();
}

}  // namespace railshmem::overlap
