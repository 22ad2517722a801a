// SPDX-License-Identifier: BSD-3-Clause
// Into how many pieces a member's rows are cut: pure functions of what all members know alike.
#pragma once

#include <cstddef>

namespace railshmem::overlap {

enum class Way : unsigned char { gather, scatter };  ///< all-gather + product, product + reduce-scatter

struct Shape {
  int npes;
  int nodes;                 ///< of the team
  size_t m, n, k;            ///< m: rows of all members together
  size_t element;            ///< bytes of an element that crosses the link
  int streams = 0;           ///< on which products take turns, 1 or 2; 0: by shape
  bool own_context = false;  ///< between nodes the library computes in a CUDA context of its own
};

/// The rows of one member in pieces; the last one may be shorter.
struct Cut {
  bool whole;         ///< the collective and one product, one behind the other
  size_t piece_rows;  ///< rows of a piece
  size_t pieces;      ///< of each member's rows
};

/// What the shape suggests: pieces of each member's rows; 0 stands for whole.
size_t suggested_pieces(Way way, const Shape& shape) noexcept;

/// Whether the products of these pieces take turns on two streams; only inside a node.
bool take_turns(const Shape& shape, const Cut& cut) noexcept;

/// The rows of a member in about that many pieces; 0: whole. Long pieces are multiples of kTileRows.
Cut cut_rows(size_t rows, size_t pieces) noexcept;

inline constexpr size_t kTileRows = 128;   ///< of the tiles in which products on Hopper go
inline constexpr size_t kMostPieces = 64;  ///< a counter each
}  // namespace railshmem::overlap
