// SPDX-License-Identifier: BSD-3-Clause
// Few tokens between nodes: where things lie in the symmetric memory of a handle. A member packs the tokens for each
// member on another node into rows of an outbox, in any order: a token's slot there is its place also where it lands,
// and that of its sums on their way back.
#pragma once

#include "moe/kernels/call.h"
#include "moe/kernels/chunks.h"

namespace railshmem::moe {

/// Of a team over several nodes. Rows have room for a packed token: its channels with their scales, its entries, and
/// its number. Sets, and when they may be written again, are those of Layout. An outbox may be written again when the
/// kernel has ended that put it, because that waits for its puts.
///
/// `box`: which member on another node, see FarFewPart::box().
class FarFewLayout : public Layout {
 public:
  explicit FarFewLayout(const Shape& shape)
      : Layout(shape),
        row_nbytes_(aligned(number_in_row() + 8)),
        chunk_rows_(Chunks::rows(row_nbytes_, shape.max_tokens)),
        sums_chunk_rows_(Chunks::rows(sum_nbytes(), shape.max_tokens)),
        chunks_(1 + most() / (chunk_rows_ < sums_chunk_rows_ ? chunk_rows_ : sums_chunk_rows_)),
        words_(aligned(Layout::nbytes())),
        sent_at_(words_ + 128 + 64 * boxes()),
        filled_at_(sent_at_ + 8 * boxes()),
        signals_at_(filled_at_ + 8 * boxes() * chunks_),
        weights_words_at_(signals_at_ + 24 * members() * chunks_),
        slots_at_(aligned(weights_words_at_ + 8 * members())),
        counts_at_(aligned(slots_at_ + 4 * boxes() * most())),
        packed_weights_at_(counts_at_ + aligned(8 * boxes() * static_cast<uint64_t>(shape.local()))),
        outboxes_at_(packed_weights_at_ + aligned(weights_nbytes() * boxes() * most())),
        outbox_nbytes_(aligned((row_nbytes_ > sum_nbytes() ? row_nbytes_ : sum_nbytes()) * most())) {}

  RAILSHMEM_HD uint64_t row_nbytes() const { return row_nbytes_; }
  /// Where entries and the token's number lie in a packed row.
  RAILSHMEM_HD uint64_t entries_in_row() const { return (travelling_nbytes() + kUnit - 1) / kUnit * kUnit; }
  RAILSHMEM_HD uint64_t number_in_row() const { return entries_in_row() + 8 * uint64_t{shape_.entries()}; }
  RAILSHMEM_HD uint64_t sum_nbytes() const { return 4 * static_cast<uint64_t>(shape_.hidden); }
  /// Rows, or sums, of a chunk that is full.
  RAILSHMEM_HD uint32_t chunk_rows() const { return chunk_rows_; }
  RAILSHMEM_HD uint32_t sums_chunk_rows() const { return sums_chunk_rows_; }

  /// Rows of a source on another node lie where packets of one on this node would; those take more bytes.
  RAILSHMEM_HD uint64_t row(uint64_t epoch, int32_t s, uint32_t t) const {
    return packets(epoch, s, 0) + row_nbytes_ * uint64_t{t};
  }

  /// Blocks that have packed their tokens, and those that have packed late weights.
  RAILSHMEM_HD uint64_t packed() const { return words_; }
  RAILSHMEM_HD uint64_t weighed() const { return words_ + 64; }
  /// Slots that are taken in a dispatch, and those that were in the last one.
  RAILSHMEM_HD uint64_t taken(uint32_t box) const { return words_ + 128 + 64 * uint64_t{box}; }
  RAILSHMEM_HD uint64_t sent(uint32_t box) const { return sent_at_ + 8 * uint64_t{box}; }
  /// Rows or sums of a chunk that are packed.
  RAILSHMEM_HD uint64_t filled(uint32_t box, uint32_t chunk) const { return filled_at_ + 8 * (box * chunks_ + chunk); }
  /// ChunkWord of member m's rows: two sets, as rows have.
  RAILSHMEM_HD uint64_t rows_word(uint64_t epoch, int32_t m, uint32_t chunk) const {
    return signals_at_ + 8 * ((set(epoch) + uint64_t(m)) * chunks_ + chunk);
  }
  /// That of its sums.
  RAILSHMEM_HD uint64_t sums_word(int32_t m, uint32_t chunk) const {
    return signals_at_ + 8 * ((2 * members() + uint64_t(m)) * chunks_ + chunk);
  }
  /// Number of the combine whose weights of source s are here.
  RAILSHMEM_HD uint64_t weights_word(int32_t s) const { return weights_words_at_ + 8 * uint64_t(s); }
  /// The words, which begin as 0.
  RAILSHMEM_HD uint64_t words() const { return words_; }
  RAILSHMEM_HD uint64_t far_words_nbytes() const { return slots_at_ - words_; }

  /// Slot of this member's token t.
  RAILSHMEM_HD uint64_t slot_of(uint32_t box, uint32_t t) const { return slots_at_ + 4 * in_box(box, t); }
  /// What is on its way: counts by local expert, late weights, and rows or sums.
  RAILSHMEM_HD uint64_t packed_count(uint32_t box, int32_t e) const {
    return counts_at_ + 8 * (box * uint64_t(shape_.local()) + uint64_t(e));
  }
  RAILSHMEM_HD uint64_t packed_weights(uint32_t box, uint32_t slot) const {
    return packed_weights_at_ + weights_nbytes() * in_box(box, slot);
  }
  RAILSHMEM_HD uint64_t packed_row(uint32_t box, uint32_t slot) const { return outbox(box) + row_nbytes_ * slot; }
  RAILSHMEM_HD uint64_t packed_sums(uint32_t box, uint32_t slot) const { return outbox(box) + sum_nbytes() * slot; }
  RAILSHMEM_HD uint64_t nbytes() const { return outbox(static_cast<uint32_t>(boxes())); }

 private:
  RAILSHMEM_HD uint64_t members() const { return static_cast<uint64_t>(shape_.n); }
  RAILSHMEM_HD uint64_t boxes() const { return members() - 1; }
  RAILSHMEM_HD uint64_t most() const { return static_cast<uint64_t>(shape_.max_tokens); }
  RAILSHMEM_HD uint64_t in_box(uint32_t box, uint32_t t) const { return box * most() + t; }
  /// Rows and sums take turns: a kernel waits for its puts before it ends.
  RAILSHMEM_HD uint64_t outbox(uint32_t box) const { return outboxes_at_ + outbox_nbytes_ * box; }

  // Kernels find these in their arguments: computed there, they would take registers that the kernels do not have.
  const uint64_t row_nbytes_;
  const uint32_t chunk_rows_, sums_chunk_rows_;
  const uint64_t chunks_;  ///< of a member at most. The last one is not full, be it empty
  const uint64_t words_, sent_at_, filled_at_, signals_at_, weights_words_at_, slots_at_, counts_at_,
      packed_weights_at_, outboxes_at_, outbox_nbytes_;
};

/// A call of a team over several nodes. Members on other nodes have no memory here.
template <class Call>
struct FarFewCall {
  static constexpr unsigned kMostThreads = Call::kMostThreads, kBlocks = Call::kBlocks;

  Call near;
  FarFewLayout places;
};

}  // namespace railshmem::moe
