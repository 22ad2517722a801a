// SPDX-License-Identifier: BSD-3-Clause
// One call of all-gather + product: where rows and results lie, and the products of pieces.
#pragma once

#include <vector>

#include "overlap/handle.h"

namespace railshmem::overlap {

class Gathering {
 public:
  Gathering(State& state, const Gemm& gemm, Stream stream);

  /// Another member's rows that are multiplied at once, or own rows on their way to another member.
  struct Piece {
    int member;         ///< whose rows these are, or who gets them
    size_t lane;        ///< stream that copies
    size_t number;      ///< among the pieces of a member
    size_t row, nrows;  ///< row: the first one, counted in the part of the rows' owner
    bool first, last;   ///< of the member
  };
  /// All pieces of the others, in the order in which they are multiplied: inside a node those of the member behind this
  /// one first, between nodes as they arrive.
  std::vector<Piece> coming() const;
  /// Own pieces to all others, in the order in which these multiply them: to the member before this one first.
  std::vector<Piece> leaving() const;

  std::byte* block(int member) const noexcept { return gathered_ + static_cast<size_t>(member) * block_nbytes; }
  bool in_place() const noexcept { return gemm.asked.a == block(state.me); }
  size_t bytes_of(size_t rows) const noexcept { return rows * gemm.asked.k * gemm.element; }
  /// The word in member `in`'s memory for a piece of member `from`.
  uint64_t* arrived(int in, int from, size_t number) const noexcept {
    return state.workspace.of(in).arrived + static_cast<size_t>(from) * cut.pieces + number;
  }
  /// Where member k has what is at `here` on this one. Throws Error that names the field where k is not reached.
  std::byte* at_member(const char* field, const void* here, int k) const;

  /// Finds the algorithms of all products. Throws Error where one is missing; nothing has happened yet.
  void prepare();
  void multiply_whole() { products_.give(0, gemm.asked.m, gathered_, gemm.asked.c); }
  void multiply_own();
  void multiply(const Piece& piece);
  /// Lets the products take turns on two streams where they are long enough; behind the last one end_turns().
  void take_turns() {
    if (overlap::take_turns(shape_of(state, gemm), cut)) products_.take_turns();
  }
  void end_turns() const { products_.end_turns(); }
  /// Where the next product goes.
  Stream next_stream() const noexcept { return products_.stream(); }
  /// Puts own rows into `gathered`, where they do not lie there.
  void keep_own(Stream lane) const;
  /// Throws Error where a product failed.
  void finish() const { products_.finish(); }

  State& state;
  const Gemm& gemm;
  const Stream stream;
  const Cut cut;
  const size_t block_nbytes;  ///< of a member's rows

 private:
  Piece piece(int member, size_t lane, size_t number) const noexcept;
  size_t first_row(int member) const noexcept { return static_cast<size_t>(member) * gemm.rows; }
  std::byte* result(size_t row) const noexcept {
    return static_cast<std::byte*>(gemm.asked.c) + row * gemm.ldc * gemm.result_element;
  }

  std::byte* const gathered_;
  CallProducts products_;
};

// The two protocols inside a node. Each begins behind what the stream was given, and ends on it. Throw Error where a
// member is not reached; then nothing has happened yet.

/// Each member fetches the others' rows.
void get_and_multiply(Gathering& call);
/// Each member pushes its rows to the others.
void put_and_multiply(Gathering& call);

}  // namespace railshmem::overlap
