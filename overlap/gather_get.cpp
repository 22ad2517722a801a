// SPDX-License-Identifier: BSD-3-Clause
// All-gather + product inside a node by fetching: copy engines bring the others' rows, those of the next member first.
#include "overlap/gathering.h"

namespace railshmem::overlap {
namespace {

using Piece = Gathering::Piece;

/// Where member k's rows are, seen from here.
const std::byte* source_of(const Gathering& call, int k) {
  return call.in_place() ? call.at_member("gathered", call.block(k), k) : call.at_member("a", call.gemm.asked.a, k);
}

void pull(const Gathering& call, const Piece& piece) {
  const State& state = call.state;
  const int k = piece.member;
  const Stream lane = state.lanes.copying(piece.lane);
  if (piece.first) state.watch.hold(lane, state.come_mark(k), state.workspace.mine().come + k);
  const size_t at = call.bytes_of(piece.row);
  must(driver().copy_async(address_of(call.block(k) + at), address_of(source_of(call, k) + at),
                           call.bytes_of(piece.nrows), lane),
       "cuMemcpyAsync");
  state.lanes.mark(lane);
  if (piece.last) notify(state, state.workspace.of(k).taken + state.me, lane);
}

/// The program may overwrite its rows behind the call.
void await_readers(const Gathering& call) {
  const State& state = call.state;
  std::vector<WordOp> ops;
  for (int i = 1; i < state.n; ++i) {
    const int k = state.behind(i);
    const auto wait = state.watch.hold_ops(state.later_mark(k), state.workspace.mine().taken + k);
    ops.insert(ops.end(), wait.begin(), wait.end());
  }
  give_words(ops, call.stream);
}

}  // namespace

/// The copy of a piece is given before the product of the one before it, so that engines never wait for the CPU.
void get_and_multiply(Gathering& call) {
  const std::vector<Piece> coming = call.coming();
  for (const Piece& piece : coming) source_of(call, piece.member);
  const Lanes& lanes = call.state.lanes;
  notify_come(call.state, call.stream);
  for (size_t i = 0; i < Lanes::kCopying; ++i) lanes.follow(lanes.copying(i), call.stream);
  call.take_turns();
  if (!coming.empty()) pull(call, coming[0]);
  call.multiply_own();
  for (size_t i = 0; i < coming.size(); ++i) {
    lanes.follow_mark(call.next_stream());
    if (i + 1 < coming.size()) pull(call, coming[i + 1]);
    call.multiply(coming[i]);
  }
  call.end_turns();
  call.keep_own(lanes.copying(0));
  for (size_t i = 0; i < Lanes::kCopying; ++i) lanes.follow(call.stream, lanes.copying(i));
  await_readers(call);
}

}  // namespace railshmem::overlap
