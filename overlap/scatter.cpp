// SPDX-License-Identifier: BSD-3-Clause
// Product + reduce-scatter. The program's stream multiplies the others' rows first; copy engines push each piece to its
// owner while the next is computed. Own rows come last. A product of cuBLASLt adds what has come while it stores its
// results; a product of the program is followed by a kernel that adds up.
#include <algorithm>
#include <array>
#include <vector>

#include "overlap/handle.h"
#include "src/base/error.h"

namespace railshmem::overlap {
namespace {

class Scatter {
 public:
  Scatter(State& state, const Gemm& gemm, Stream stream)
      : state_(state),
        gemm_(gemm),
        stream_(stream),
        cut_(cut_of(state, gemm, stream)),
        part_(gemm.rows * gemm.asked.n * gemm.result_element),
        products_(state, gemm, stream) {}

  void run() {
    prepare();
    if (state_.n == 1) {
      products_.give(0, gemm_.asked.m, gemm_.asked.a, gemm_.asked.c);
    } else if (cut_.whole) {
      one_behind_the_other();
    } else if (state_.mapped) {
      push_and_add();
    } else {
      scatter_by_pieces();
    }
    products_.finish();
  }

 private:
  size_t others() const noexcept { return static_cast<size_t>(state_.n) - 1; }
  size_t row_nbytes() const noexcept { return gemm_.asked.n * gemm_.result_element; }
  std::byte* dest(size_t row) const noexcept { return static_cast<std::byte*>(gemm_.asked.c) + row * row_nbytes(); }
  size_t first_row(int member) const noexcept { return static_cast<size_t>(member) * gemm_.rows; }
  const std::byte* operand(int member, size_t row) const noexcept {
    return gemm_.row_of_a(gemm_.asked.a, first_row(member) + row);
  }
  /// Of a member's words: piece p that comes from this or that member.
  uint64_t* arrived(int in, int from, size_t p) const noexcept {
    return state_.workspace.of(in).arrived + static_cast<size_t>(from) * cut_.pieces + p;
  }
  /// Mapped: the first n - 1 parts of the workspace hold what leaves, the others what has come.
  std::byte* leaving(int i) const noexcept { return state_.workspace.parts() + (static_cast<size_t>(i) - 1) * part_; }
  std::byte* come(int owner, int from) const noexcept {
    const auto slot = static_cast<size_t>(from < owner ? from : from - 1);
    return state_.workspace.parts(owner) + (others() + slot) * part_;
  }
  /// Otherwise: a part for each member, by rank.
  std::byte* part(int member) const noexcept { return state_.workspace.parts() + static_cast<size_t>(member) * part_; }

  template <class Use>
  void each_piece(Use&& use) const {
    for (size_t p = 0; p < cut_.pieces; ++p)
      use(p, p * cut_.piece_rows, std::min(cut_.piece_rows, gemm_.rows - p * cut_.piece_rows));
  }

  /// Everything that can be wrong, before a word is written.
  void prepare() {
    const size_t needed = Workspace::nbytes(state_.n, part_ * static_cast<size_t>(state_.n));
    if (state_.workspace.given() < needed)
      throw Error(
          text("the handle's workspace has %zu bytes; %zu x %zu results of a team of %d need %zu "
               "(shmemx_overlap_workspace)",
               state_.workspace.given(), gemm_.asked.m, gemm_.asked.n, state_.n, needed));
    if (state_.n == 1) return products_.prepare(gemm_.asked.m, gemm_.asked.a, gemm_.asked.c);
    if (cut_.whole) return products_.prepare(gemm_.asked.m, gemm_.asked.a, part(0));
    for (int i = 1; i <= state_.n; ++i) {
      const int k = state_.behind(i);
      each_piece([&](size_t, size_t row, size_t nrows) {
        products_.prepare(nrows, operand(k, row), target(i, row), i == state_.n ? addend(row) : nullptr);
      });
    }
  }

  /// Where the product of a row of the i-th member in the ring goes.
  std::byte* target(int i, size_t row) const noexcept {
    if (!state_.mapped) return part(state_.behind(i)) + row * row_nbytes();
    return i == state_.n ? dest(row) : leaving(i) + row * row_nbytes();
  }

  shmemx_coll_t reduce_scatter() const noexcept {
    shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
    coll.team = state_.team;
    coll.collective = SHMEMX_COLL_REDUCESCATTER;
    coll.datatype = gemm_.asked.result_type;
    coll.op = SHMEMX_OP_SUM;
    coll.nelems = gemm_.rows * gemm_.asked.n;
    coll.source = state_.workspace.parts();
    coll.dest = gemm_.asked.c;
    return coll;
  }

  void one_behind_the_other() {
    products_.give(0, gemm_.asked.m, gemm_.asked.a, part(0));
    const shmemx_coll_t coll = reduce_scatter();
    if (shmemx_coll_on_stream(&coll, stream_) != 0) throw Error("the reduce-scatter was refused");
  }

  void push_and_add() {
    notify_come(state_, stream_);
    if (take_turns(shape_of(state_, gemm_), cut_)) products_.take_turns();
    for (int i = 1; i < state_.n; ++i) {
      const int k = state_.behind(i);
      const Stream lane = state_.lanes.copying(static_cast<size_t>(i) - 1);
      each_piece([&](size_t p, size_t row, size_t nrows) {
        const Stream product = products_.stream();
        products_.give(first_row(k) + row, nrows, operand(k, row), target(i, row));
        state_.lanes.follow(lane, product);
        if (p == 0) state_.watch.hold(lane, state_.come_mark(k), state_.workspace.mine().come + k);
        push(i, p, row, nrows, lane);
        if (i + 1 == state_.n) receive(p, row, nrows);
      });
    }
    each_piece([&](size_t p, size_t row, size_t nrows) {
      if (adds_in_product()) state_.lanes.follow_mark(products_.stream(), 1 + p);
      products_.give(first_row(state_.me) + row, nrows, operand(state_.me, row), dest(row), addend(row));
      if (adds_in_product()) return;
      state_.lanes.follow(state_.lanes.adding(), stream_);
      add_up(dest(row), row, nrows, Own::added);
    });
    products_.end_turns();
    state_.lanes.follow(stream_, state_.lanes.adding());
  }

  /// Own results need no kernel that adds them, if cuBLASLt makes them and all that they are added to is in one place.
  bool adds_in_product() const noexcept { return state_.mapped && state_.n > 1 && products_.can_add(); }
  /// What own rows are added to: the results of the others, or the sum of them.
  std::byte* addend(size_t row) const noexcept {
    return adds_in_product() ? come(state_.me, state_.me == 0 ? 1 : 0) + row * row_nbytes() : nullptr;
  }

  void push(int i, size_t p, size_t row, size_t nrows, Stream lane) {
    const int k = state_.behind(i);
    must(driver().copy_async(address_of(come(k, state_.me) + row * row_nbytes()), address_of(target(i, row)),
                             nrows * row_nbytes(), lane),
         "cuMemcpyAsync");
    notify(state_, arrived(k, state_.me, p), lane);
  }

  /// Waits for the piece of all others. This member's own piece leaves before: a graph does not promise that two
  /// branches run at once, and two members that each wait first would wait forever.
  void receive(size_t p, size_t row, size_t nrows) {
    const Stream adding = state_.lanes.adding();
    const size_t lanes = std::min(others(), Lanes::kCopying);
    for (size_t i = 0; i < lanes; ++i) state_.lanes.follow(adding, state_.lanes.copying(i));
    for (int k = 0; k < state_.n; ++k)
      if (k != state_.me) state_.watch.hold(adding, state_.later_mark(k), arrived(state_.me, k, p));
    if (adds_in_product() && others() > 1) add_up(addend(row), row, nrows, Own::left_out);
    state_.lanes.mark(adding, 1 + p);
  }

  /// Adds up the members' results of some own rows in the order of ranks. `to` is one of the operands.
  enum class Own : uint8_t { added, left_out };
  void add_up(std::byte* to, size_t row, size_t nrows, Own own) {
    SumCall call{};
    for (int k = 0; k < state_.n; ++k) {
      if (k != state_.me) call.operand[call.n++] = come(state_.me, k) + row * row_nbytes();
      if (k == state_.me && own == Own::added) call.operand[call.n++] = dest(row);
    }
    call.dest = to;
    call.nelems = nrows * gemm_.asked.n;
    call.element = gemm_.summed;
    state_.sums.give(call, state_.lanes.adding());
  }

  /// Between nodes the library's reduce-scatter takes pieces when their words are set, and raises `done` from 0 to 1.
  void scatter_by_pieces() {
    const Words& words = state_.workspace.mine();
    const Stream lane = state_.lanes.copying(0);
    state_.lanes.follow(lane, stream_);
    std::vector<WordOp> clear;
    for (int i = 1; i <= state_.n; ++i) {
      const int k = state_.behind(i);
      each_piece([&](size_t p, size_t row, size_t nrows) {
        products_.give(first_row(k) + row, nrows, operand(k, row), target(i, row));
        uint64_t* const ready = words.ready + static_cast<size_t>(k) * cut_.pieces + p;
        std::array computed{write_word(ready, 1)};
        give_words(computed, stream_);
        clear.push_back(write_word(ready, 0));
      });
    }
    // Given last, though it begins first: nothing that was given waits for something that was not.
    const shmemx_coll_t coll = reduce_scatter();
    if (shmemx_reducescatter_pieces_on_stream(&coll, cut_.piece_rows * gemm_.asked.n, words.ready, words.done, lane) !=
        0)
      throw Error("the reduce-scatter by pieces was refused");
    state_.lanes.follow(stream_, lane);
    for (size_t p = 0; p < cut_.pieces; ++p) clear.push_back(write_word(words.done + p, 0));
    give_words(clear, stream_);
  }

  State& state_;
  const Gemm& gemm_;
  const Stream stream_;
  const Cut cut_;
  const size_t part_;  ///< bytes of a member's results
  CallProducts products_;
};

}  // namespace

void multiply_and_scatter(State& state, const Gemm& gemm, Stream stream) {
  Scatter(state, gemm, stream).run();
}

}  // namespace railshmem::overlap
