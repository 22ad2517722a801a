// SPDX-License-Identifier: BSD-3-Clause
// All-gather + product inside a node by pushing: each member's copy engines bring its rows to the others, to the one
// that multiplies them first before all, and set a word behind each piece.
#include "overlap/gathering.h"

namespace railshmem::overlap {
namespace {

using Piece = Gathering::Piece;

/// Own rows into the place that they have in the receiver's operand, when the receiver says that it may be written.
void push(const Gathering& call, const Piece& piece) {
  const State& state = call.state;
  const int to = piece.member;
  const Stream lane = state.lanes.copying(piece.lane);
  if (piece.first) state.watch.hold(lane, state.come_mark(to), state.workspace.mine().come + to);
  const size_t at = call.bytes_of(piece.row);
  std::byte* const place = call.at_member("gathered", call.block(state.me), to);
  must(
      driver().copy_async(address_of(place + at), address_of(call.gemm.asked.a) + at, call.bytes_of(piece.nrows), lane),
      "cuMemcpyAsync");
  notify(state, call.arrived(to, state.me, piece.number), lane);
}

}  // namespace

/// All own pieces are given before the stream waits for another member's: were these waits and the copies in one queue
/// of the hardware, two members would wait for each other forever. Only the first copy is given before the product of
/// own rows, which so begins without waiting for the CPU.
void put_and_multiply(Gathering& call) {
  const State& state = call.state;
  const std::vector<Piece> leaving = call.leaving();
  for (const Piece& piece : leaving) call.at_member("gathered", call.block(state.me), piece.member);
  const Lanes& lanes = state.lanes;
  notify_come(state, call.stream);
  for (size_t i = 0; i < Lanes::kCopying; ++i) lanes.follow(lanes.copying(i), call.stream);
  if (!leaving.empty()) push(call, leaving[0]);
  call.multiply_own();
  for (size_t i = 1; i < leaving.size(); ++i) push(call, leaving[i]);
  call.keep_own(lanes.copying(0));
  for (const Piece& piece : call.coming()) {
    state.watch.hold(call.stream, state.later_mark(piece.member), call.arrived(state.me, piece.member, piece.number));
    call.multiply(piece);
  }
  // The program may overwrite its rows behind the call: they have left.
  for (size_t i = 0; i < Lanes::kCopying; ++i) lanes.follow(call.stream, lanes.copying(i));
}

}  // namespace railshmem::overlap
