// SPDX-License-Identifier: BSD-3-Clause
// All-gather + product. The program's stream multiplies own rows at once, and others' piece by piece, each when it is
// here.
#include <algorithm>
#include <array>
#include <vector>

#include "overlap/handle.h"
#include "src/base/error.h"

namespace railshmem::overlap {
namespace {

class Gather {
 public:
  Gather(State& state, const Gemm& gemm, Stream stream)
      : state_(state),
        gemm_(gemm),
        stream_(stream),
        cut_(cut_of(state, gemm, stream)),
        block_(gemm.rows * gemm.asked.k * gemm.element),
        gathered_(static_cast<std::byte*>(gemm.asked.gathered)),
        products_(state, gemm, stream) {}

  void run() {
    prepare();
    if (cut_.whole) {
      one_behind_the_other();
    } else if (state_.mapped) {
      pull_and_multiply();
    } else {
      gather_by_pieces();
    }
    products_.finish();
  }

 private:
  std::byte* block(int member) const noexcept { return gathered_ + static_cast<size_t>(member) * block_; }
  std::byte* result(size_t row) const noexcept {
    return static_cast<std::byte*>(gemm_.asked.c) + row * gemm_.ldc * gemm_.result_element;
  }
  bool in_place() const noexcept { return gemm_.asked.a == block(state_.me); }
  size_t first_row(int member) const noexcept { return static_cast<size_t>(member) * gemm_.rows; }
  uint64_t* arrived(int member, size_t piece) const noexcept {
    return state_.workspace.mine().arrived + static_cast<size_t>(member) * cut_.pieces + piece;
  }
  /// A piece of another member, the i-th in the ring behind this one.
  struct Piece {
    int member;
    size_t lane, number, row, nrows;  ///< first of the member's rows
    bool last;                        ///< of the member
  };
  std::vector<Piece> pieces() const {
    std::vector<Piece> all;
    for (int i = 1; i < state_.n; ++i)
      for (size_t p = 0; p < cut_.pieces; ++p)
        all.push_back({state_.behind(i), static_cast<size_t>(i) - 1, p, p * cut_.piece_rows,
                       std::min(cut_.piece_rows, gemm_.rows - p * cut_.piece_rows), p + 1 == cut_.pieces});
    return all;
  }

  /// Everything that can be wrong, before a word is written.
  void prepare() {
    if (cut_.whole) return products_.prepare(gemm_.asked.m, gathered_, gemm_.asked.c);
    const void* const own = gemm_.asked.a;
    products_.prepare(gemm_.rows, own, result(first_row(state_.me)));
    for (const Piece& piece : pieces()) {
      if (state_.mapped) source_of(piece.member);
      products_.prepare(piece.nrows, gemm_.row_of_a(block(piece.member), piece.row), result_of(piece));
    }
  }

  /// Where member k's rows are, seen from here.
  const std::byte* source_of(int k) const {
    const void* const there = in_place() ? block(k) : gemm_.asked.a;
    const void* const found = shmem_ptr(there, state_.workspace.pe_of(k));
    if (found == nullptr)
      throw Error(
          text("%s %p of PE %d is not reached from here; allocate it with shmem_malloc, so that it has one address on "
               "all members",
               in_place() ? "gathered" : "a", there, state_.workspace.pe_of(k)));
    return static_cast<const std::byte*>(found);
  }

  void one_behind_the_other() {
    shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
    coll.team = state_.team;
    coll.nelems = block_;
    coll.source = gemm_.asked.a;
    coll.dest = gathered_;
    if (shmemx_coll_on_stream(&coll, stream_) != 0) throw Error("the all-gather was refused");
    products_.give(0, gemm_.asked.m, gathered_, gemm_.asked.c);
  }

  /// Copy engines fetch the others' rows, those of the next member first. The copy of a piece is given before the
  /// product of the one before it, so that engines never wait for the CPU.
  void pull_and_multiply() {
    const std::vector<Piece> all = pieces();
    tell_come(state_, stream_);
    for (size_t i = 0; i < Lanes::kCopying; ++i) state_.lanes.follow(state_.lanes.copying(i), stream_);
    if (!all.empty()) pull(all[0]);
    multiply_own();
    for (size_t i = 0; i < all.size(); ++i) {
      state_.lanes.follow_mark(stream_);
      if (i + 1 < all.size()) pull(all[i + 1]);
      multiply(all[i]);
    }
    if (!in_place())
      must(
          driver().copy_async(address_of(block(state_.me)), address_of(gemm_.asked.a), block_, state_.lanes.copying(0)),
          "cuMemcpyAsync");
    for (size_t i = 0; i < Lanes::kCopying; ++i) state_.lanes.follow(stream_, state_.lanes.copying(i));
    await_readers();
  }

  void pull(const Piece& piece) {
    const int k = piece.member;
    const Stream lane = state_.lanes.copying(piece.lane);
    if (piece.number == 0) state_.watch.hold(lane, state_.come_mark(k), state_.workspace.mine().come + k);
    const size_t row_nbytes = gemm_.asked.k * gemm_.element, at = piece.row * row_nbytes;
    must(driver().copy_async(address_of(block(k) + at), address_of(source_of(k) + at), piece.nrows * row_nbytes, lane),
         "cuMemcpyAsync");
    state_.lanes.mark(lane);
    if (!piece.last) return;
    tell(state_, state_.workspace.of(k).taken + state_.me, lane);
  }

  /// The program may overwrite its rows behind the call.
  void await_readers() {
    std::vector<WordOp> ops;
    for (int i = 1; i < state_.n; ++i) {
      const int k = state_.behind(i);
      const auto wait = state_.watch.hold_ops(state_.later_mark(k), state_.workspace.mine().taken + k);
      ops.insert(ops.end(), wait.begin(), wait.end());
    }
    give_words(ops, stream_);
  }

  /// Between nodes the library's all-gather brings the pieces and raises the words, from 0 to 1.
  void gather_by_pieces() {
    const Stream lane = state_.lanes.copying(0);
    state_.lanes.follow(lane, stream_);
    const size_t piece_nbytes = cut_.piece_rows * gemm_.asked.k * gemm_.element;
    if (shmemx_fcollectmem_pieces_on_stream(state_.team, gathered_, gemm_.asked.a, block_, piece_nbytes,
                                            state_.workspace.mine().arrived, lane) != 0)
      throw Error("the all-gather by pieces was refused");
    multiply_own();
    for (const Piece& piece : pieces()) {
      std::array ops{await_word(arrived(piece.member, piece.number), 1),
                     write_word(arrived(piece.member, piece.number), 0)};
      give_words(ops, stream_);
      multiply(piece);
    }
    state_.lanes.follow(stream_, lane);
    std::vector<WordOp> own;
    for (size_t p = 0; p < cut_.pieces; ++p) own.push_back(write_word(arrived(state_.me, p), 0));
    give_words(own, stream_);
  }

  std::byte* result_of(const Piece& piece) const noexcept { return result(first_row(piece.member) + piece.row); }
  void multiply_own() {
    const size_t own = first_row(state_.me);
    products_.give(own, gemm_.rows, gemm_.asked.a, result(own));
  }
  void multiply(const Piece& piece) {
    products_.give(first_row(piece.member) + piece.row, piece.nrows, gemm_.row_of_a(block(piece.member), piece.row),
                   result_of(piece));
  }

  State& state_;
  const Gemm& gemm_;
  const Stream stream_;
  const Cut cut_;
  const size_t block_;  ///< bytes of a member's rows
  std::byte* const gathered_;
  CallProducts products_;
};

}  // namespace

void gather_and_multiply(State& state, const Gemm& gemm, Stream stream) {
  Gather(state, gemm, stream).run();
}

}  // namespace railshmem::overlap
