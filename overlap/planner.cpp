// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/planner.h"

#include <algorithm>

namespace railshmem::overlap {
namespace {

// Of an H100 or H200. Where another GPU differs the number of pieces is less than the best, and the result the same.
constexpr double kFlops = 650e12;    // of a product in bf16
constexpr double kLink = 370e9;      // bytes a second from GPU to GPU by one copy engine
constexpr double kNetwork = 45e9;    // bytes a second of a rail of 400 Gbit/s
constexpr size_t kTile = 128 * 256;  // elements of the result that a block computes
constexpr size_t kWave = 132;        // blocks that a GPU runs at once
constexpr double kMeeting = 8e-6;    // seconds until a peer's first bytes move
constexpr double kLaunch = 3e-6;     // seconds between two products
constexpr size_t kMostOfScatter = 8;
// Seconds of a product from which on products take turns on two streams. Shorter ones get in each other's way: their
// blocks share the GPU for most of their time, with different rows in the cache (docs/decisions/0066).
constexpr double kLongProduct = 300e-6;
// Pieces of product + reduce-scatter then: more of them begin to travel sooner, and their ends cost nothing.
constexpr size_t kPiecesInTurn = 4;

size_t tiles(size_t rows, size_t n) noexcept {
  return (rows * n + kTile - 1) / kTile;
}

size_t waves(size_t rows, size_t n) noexcept {
  return (tiles(rows, n) + kWave - 1) / kWave;
}

/// The most pieces that are still `length` waves long each.
size_t most_pieces(size_t rows, size_t n, size_t length) noexcept {
  return std::clamp<size_t>(tiles(rows, n) / (length * kWave), 1, kMostPieces);
}

double product_seconds(const Shape& shape, size_t rows) noexcept {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(shape.n) * static_cast<double>(shape.k) / kFlops;
}

double bytes_of_member(const Shape& shape, size_t columns) noexcept {
  const size_t rows = shape.m / static_cast<size_t>(shape.npes);
  return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(shape.element);
}

/// Seconds that product + reduce-scatter of one node takes in so many pieces: whole waves of blocks one behind the
/// other, and the own rows' product of a piece begins when the last member's has come.
double scatter_seconds(const Shape& shape, size_t pieces) noexcept {
  const auto members = static_cast<size_t>(shape.npes);
  const Cut cut = cut_rows(shape.m / members, pieces);
  const double wave = 2.0 * kTile * kWave * static_cast<double>(shape.k) / kFlops;
  const double product = static_cast<double>(waves(cut.piece_rows, shape.n)) * wave + kLaunch;
  const double copy = static_cast<double>(cut.piece_rows * shape.n * shape.element) / kLink;
  double computed = static_cast<double>((members - 2) * cut.pieces) * product;  // all but the last member's
  double own = computed + static_cast<double>(cut.pieces) * product, come = 0;
  for (size_t p = 0; p < cut.pieces; ++p) {
    computed += product;
    come = std::max(come, computed + kMeeting) + copy;
    own = std::max(own, come) + product;
  }
  return own;
}

size_t pieces_of_scatter(const Shape& shape) noexcept {
  const Cut in_turn = cut_rows(shape.m / static_cast<size_t>(shape.npes), kPiecesInTurn);
  if (shape.streams == 0 && take_turns(shape, in_turn)) return kPiecesInTurn;
  size_t best = 1;
  for (size_t pieces = 2; pieces <= kMostOfScatter; ++pieces)
    if (scatter_seconds(shape, pieces) < scatter_seconds(shape, best)) best = pieces;
  return best;
}

}  // namespace

size_t suggested_pieces(Way way, const Shape& shape) noexcept {
  if (shape.npes < 2) return 1;
  const size_t rows = shape.m / static_cast<size_t>(shape.npes);
  // A product of less than a wave takes as long as one of a wave. Cut products that are more waves than the whole one
  // cost more than the bytes; and the sums of a scatter get in the way of short products.
  const bool short_of_a_wave = tiles(rows, shape.n) < kWave;
  const bool more_waves = waves(shape.m, shape.n) < static_cast<size_t>(shape.npes);
  if (rows == 0 || (short_of_a_wave && (more_waves || way == Way::scatter))) return 0;
  // Each chunk's sum waits for a time slice of 2 ms there; one behind the other there is no such wait.
  if (way == Way::scatter && shape.nodes > 1 && shape.own_context) return 0;
  const double product = product_seconds(shape, rows);
  const size_t columns = way == Way::gather ? shape.k : shape.n;
  const double copy = bytes_of_member(shape, columns) / (shape.nodes > 1 ? kNetwork : kLink);
  if (product < kMeeting) return 0;
  if (way == Way::scatter)
    return shape.nodes > 1 ? std::min(kMostOfScatter, most_pieces(rows, shape.n, 4)) : pieces_of_scatter(shape);
  // Exposed time of the gather = arrival of the first piece - time of the product of the local rows.
  if (kMeeting + copy <= product) return 1;
  const double pieces = copy / std::max(product - kMeeting, kMeeting);
  return std::min(static_cast<size_t>(std::min(pieces, static_cast<double>(kMostPieces))) + 1,
                  most_pieces(rows, shape.n, 2));
}

bool take_turns(const Shape& shape, const Cut& cut) noexcept {
  if (shape.npes < 2 || shape.nodes > 1 || cut.whole) return false;
  if (shape.streams != 0) return shape.streams == 2;
  return tiles(cut.piece_rows, shape.n) >= kWave && product_seconds(shape, cut.piece_rows) >= kLongProduct;
}

Cut cut_rows(size_t rows, size_t pieces) noexcept {
  if (pieces == 0 || rows == 0) return {true, rows, 1};
  const size_t wanted = std::min({pieces, rows, kMostPieces});
  size_t piece = (rows + wanted - 1) / wanted;
  if (piece >= kTileRows) piece = (piece + kTileRows - 1) / kTileRows * kTileRows;
  piece = std::min(piece, rows);
  return {false, piece, (rows + piece - 1) / piece};
}

}  // namespace railshmem::overlap
