// SPDX-License-Identifier: BSD-3-Clause
// What both calls do alike.
#include "overlap/handle.h"
#include "src/base/error.h"

namespace railshmem::overlap {

void CallProducts::prepare(size_t nrows, const void* a, const void* c, const void* addend) {
  if (gemm_.asked.product == nullptr) state_.products.prepare(gemm_, nrows, a, c, addend, stream_);
}

void CallProducts::give(size_t first_row, size_t nrows, const void* a, void* c, const void* addend) noexcept {
  if (!failure_.empty()) return;
  try {
    if (gemm_.asked.product == nullptr) {
      state_.products.give(gemm_, nrows, a, c, addend, stream(), second_ ? 1 : 0);
      second_ = in_turn_ && !second_;
      return;
    }
    const int status = gemm_.asked.product(gemm_.asked.argument, first_row, nrows, a, c, stream_);
    if (status != 0)
      failure_ = text("the program's product of rows %zu to %zu returned %d", first_row, first_row + nrows - 1, status);
  } catch (const std::exception& e) {
    failure_ = e.what();
  }
}

void CallProducts::take_turns() {
  if (gemm_.asked.product != nullptr) return;
  in_turn_ = true;
  state_.lanes.follow(state_.lanes.multiplying(), stream_);
}

void CallProducts::end_turns() const {
  if (in_turn_) state_.lanes.follow(stream_, state_.lanes.multiplying());
}

void CallProducts::finish() const {
  if (!failure_.empty()) throw Error(failure_ + "; the result of this call is undefined");
}

void notify(const State& state, uint64_t* word, Stream stream) {
  must(driver().copy_async(address_of(word), address_of(state.workspace.mine().one), sizeof *word, stream),
       "cuMemcpyAsync of a word");
}

void notify_come(const State& state, Stream stream) {
  for (int i = 1; i < state.n; ++i) notify(state, state.workspace.of(state.behind(i)).come + state.me, stream);
}

Cut cut_of(const State& state, const Gemm& gemm, Stream stream) {
  const shmemx_gemm_t& asked = gemm.asked;
  // Between nodes the collective's branch and that of the products wait for each other by words. A graph does not
  // promise that two branches run at once.
  if (!state.mapped && is_captured(stream)) return cut_rows(gemm.rows, 0);
  const int forced = asked.pieces != 0 ? asked.pieces : state.pieces;
  if (forced != 0) return cut_rows(gemm.rows, forced == SHMEMX_PIECES_WHOLE ? 0 : static_cast<size_t>(forced));
  return cut_rows(gemm.rows, suggested_pieces(gemm.way, shape_of(state, gemm)));
}

Shape shape_of(const State& state, const Gemm& gemm) noexcept {
  const size_t element = gemm.way == Way::gather ? gemm.element : gemm.result_element;
  return {state.n, state.nodes, gemm.asked.m, gemm.asked.n, gemm.asked.k, element, state.streams, state.own_context};
}

}  // namespace railshmem::overlap
