// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/gathering.h"

#include <algorithm>

#include "overlap/arrival.h"
#include "src/base/error.h"

namespace railshmem::overlap {

Gathering::Gathering(State& with, const Gemm& asked, Stream on)
    : state(with),
      gemm(asked),
      stream(on),
      cut(cut_of(with, asked, on)),
      block_nbytes(bytes_of(asked.rows)),
      gathered_(static_cast<std::byte*>(asked.asked.gathered)),
      products_(with, asked, on) {}

Gathering::Piece Gathering::piece(int member, size_t lane, size_t number) const noexcept {
  const size_t row = number * cut.piece_rows;
  return {member, lane, number, row, std::min(cut.piece_rows, gemm.rows - row), number == 0, number + 1 == cut.pieces};
}

std::vector<Gathering::Piece> Gathering::coming() const {
  std::vector<Piece> all;
  if (!state.mapped) {
    for (const auto& [member, number] : order_of_arrival(state.node_of, state.me, cut.pieces))
      all.push_back(piece(member, 0, number));
    return all;
  }
  for (int i = 1; i < state.n; ++i)
    for (size_t p = 0; p < cut.pieces; ++p) all.push_back(piece(state.behind(i), static_cast<size_t>(i) - 1, p));
  return all;
}

std::vector<Gathering::Piece> Gathering::leaving() const {
  std::vector<Piece> all;
  for (int i = 1; i < state.n; ++i)
    for (size_t p = 0; p < cut.pieces; ++p)
      all.push_back(piece(state.behind(state.n - i), static_cast<size_t>(i) - 1, p));
  return all;
}

std::byte* Gathering::at_member(const char* field, const void* here, int k) const {
  void* const found = shmem_ptr(here, state.workspace.pe_of(k));
  if (found == nullptr)
    throw Error(
        text("%s %p of PE %d is not reached from here; allocate it with shmem_malloc, so that it has one address on "
             "all members",
             field, here, state.workspace.pe_of(k)));
  return static_cast<std::byte*>(found);
}

void Gathering::prepare() {
  if (cut.whole) return products_.prepare(gemm.asked.m, gathered_, gemm.asked.c);
  products_.prepare(gemm.rows, gemm.asked.a, result(first_row(state.me)));
  for (const Piece& piece : coming())
    products_.prepare(piece.nrows, gemm.row_of_a(block(piece.member), piece.row),
                      result(first_row(piece.member) + piece.row));
}

void Gathering::multiply_own() {
  const size_t own = first_row(state.me);
  products_.give(own, gemm.rows, gemm.asked.a, result(own));
}

void Gathering::multiply(const Piece& piece) {
  const size_t row = first_row(piece.member) + piece.row;
  products_.give(row, piece.nrows, gemm.row_of_a(block(piece.member), piece.row), result(row));
}

void Gathering::keep_own(Stream lane) const {
  if (!in_place())
    must(driver().copy_async(address_of(block(state.me)), address_of(gemm.asked.a), block_nbytes, lane),
         "cuMemcpyAsync");
}

}  // namespace railshmem::overlap
