// SPDX-License-Identifier: BSD-3-Clause
// What the kernels of collectives are given: members on a node that map each other's scratch memory, and buffers.
#pragma once

#include <cstdint>
#include <type_traits>

#include "include/shmem/detail/device_control.h"
#include "include/shmem/detail/reduce_kind.h"

namespace railshmem::cuda {

/// Members of a node that a kernel serves at most.
inline constexpr int kMostMembers = 64;
inline constexpr uint32_t kCollThreads = 512;  ///< of a block, at most
/// Bytes of a vector that are sent, combined and stored together.
inline constexpr uint32_t kUnit = 16;
/// Units of one thread in an exchange, at most. A packet carries 12 bytes, so four packets carry them.
inline constexpr uint32_t kUnitsOfThread = 3;
/// Blocks from this length on go in chunks through scratch memory where a kernel finds that some member does not reach
/// some buffer; shorter ones go by packets.
inline constexpr uint64_t kLongBlock = uint64_t{8} << 20;

/// Where things lie in the scratch memory of each member, in bytes from its start. Blocks are numbered within a kernel;
/// block b of every member's kernel talks with block b of the others only. So a block's places and numbers are its own,
/// whatever the number of blocks of a call. Offsets fit into 32 bits, in which a GPU computes fastest.
class ScratchLayout {
 public:
  static constexpr uint32_t kMostBlocks = 128;
  static constexpr uint32_t kTokens = 2;  ///< packets of a meeting from each member
  static constexpr uint32_t kPacketsOfThread = kUnitsOfThread + 1;
  /// Chunks of a member on their way to each block of another one, at most.
  static constexpr uint32_t kSlots = 2;
  /// Packets carry the lower half of their exchange's number. Exchanges whose numbers are multiples of this one renew
  /// the places of packets: no place keeps a packet until its number could come again.
  static constexpr uint64_t kRenewal = uint64_t{1} << 31;
  /// Numbers from here on say that the team has gone. No real exchange gets there.
  static constexpr uint64_t kClosed = uint64_t{1} << 63;

  RAILSHMEM_HD explicit ScratchLayout(int members) : members_(static_cast<uint32_t>(members)) {}

  /// Blocks that exchange packets at most: their places for all members take 32 MiB.
  RAILSHMEM_HD uint32_t packet_blocks() const {
    const uint32_t blocks = 256 / members_;
    return blocks > kMostBlocks ? kMostBlocks : blocks;
  }
  /// The number of the last exchange or meeting of a block: uint64_t. Only this member's own kernels use it.
  RAILSHMEM_HD uint32_t number(uint32_t block) const { return block * static_cast<uint32_t>(sizeof(uint64_t)); }
  /// The number of the last chunk that a block has sent: uint64_t. Only this member's own kernels use it.
  RAILSHMEM_HD uint32_t chunk_number(uint32_t block) const {
    return 1024 + block * static_cast<uint32_t>(sizeof(uint64_t));
  }
  /// The PE of member k: int32_t. For messages.
  RAILSHMEM_HD uint32_t pe(int member) const {
    return 2048 + static_cast<uint32_t>(member) * static_cast<uint32_t>(sizeof(int32_t));
  }
  /// What this member's kernels leave for the collective's next kernel: Heard.
  RAILSHMEM_HD uint32_t heard() const { return 2560; }
  /// A word that stays 0: uint64_t.
  RAILSHMEM_HD uint32_t never() const { return 3584; }
  /// The number of the call that raises counters of pieces: uint64_t.
  RAILSHMEM_HD uint32_t call() const { return 3592; }
  /// kTokens packets of a member for meeting `number` of a block.
  RAILSHMEM_HD uint32_t tokens(uint64_t number, uint32_t block, int from) const {
    const uint32_t row = (block * 2 + odd(number)) * members_ + static_cast<uint32_t>(from);
    return kHead + row * kTokenBytes;
  }
  /// The packets of a member for exchange `number` of a block: kPacketsOfThread rows of one for each thread. `area` is
  /// 0, or 1 for the second half of an exchange.
  RAILSHMEM_HD uint32_t packets(uint32_t area, uint64_t number, uint32_t block, int from) const {
    const uint32_t row = ((block * 2 + area) * 2 + odd(number)) * members_ + static_cast<uint32_t>(from);
    return kPackets + row * kBlockBytes;
  }
  /// Where a member says which of its chunks has come: uint64_t.
  RAILSHMEM_HD uint32_t arrived(uint64_t number, uint32_t block, int from) const {
    return words(block) + (static_cast<uint32_t>(number % kSlots) * members_ + static_cast<uint32_t>(from)) * kWord;
  }
  /// Where a member says which of this member's chunks it has taken: uint64_t.
  RAILSHMEM_HD uint32_t taken(uint32_t block, int by) const {
    return words(block) + (kSlots * members_ + static_cast<uint32_t>(by)) * kWord;
  }
  /// A member's chunk for a block of member `to`, in the memory of that member.
  RAILSHMEM_HD uint32_t chunk(uint64_t number, uint32_t block, int from, int to) const {
    const int others = from < to ? from : from - 1;  // nobody sends to itself
    return zeroed() + (block * kSlots + static_cast<uint32_t>(number % kSlots)) * kSlotBytes +
           static_cast<uint32_t>(others) * chunk_nbytes();
  }
  RAILSHMEM_HD uint32_t chunk_nbytes() const { return kSlotBytes / (members_ > 1 ? members_ - 1 : 1) / 512 * 512; }
  /// What is behind this need not be zero at first.
  RAILSHMEM_HD uint32_t zeroed() const { return words(kMostBlocks); }
  RAILSHMEM_HD uint32_t nbytes() const { return zeroed() + kMostBlocks * kSlots * kSlotBytes; }

 private:
  static constexpr uint32_t kHead = 4096;
  static constexpr uint32_t kTokenBytes = kTokens * static_cast<uint32_t>(sizeof(Packet));
  static constexpr uint32_t kBlockBytes = kPacketsOfThread * kCollThreads * static_cast<uint32_t>(sizeof(Packet));
  static constexpr uint32_t kPackets = kHead + 2 * kMostBlocks * kMostMembers * kTokenBytes;
  static constexpr uint32_t kSlotBytes = uint32_t{64} << 10;  ///< for chunks of all other members together
  static constexpr uint32_t kWord = sizeof(uint64_t);
  /// A block's words about chunks.
  RAILSHMEM_HD uint32_t words(uint32_t block) const {
    const uint32_t lines = ((kSlots + 1) * members_ * kWord + 127) / 128;
    return packets(0, 0, packet_blocks(), 0) + block * lines * 128;
  }
  RAILSHMEM_HD static uint32_t odd(uint64_t number) { return static_cast<uint32_t>(number) & 1; }
  uint32_t members_;
};

/// The members of a team on this node.
struct CollMembers {
  unsigned char* scratch;  ///< of the first member; the others' follow at `stride`
  uint64_t stride;
  int32_t n;
  int32_t me;
  uint32_t packet_blocks;  ///< ScratchLayout's
  uint32_t chunk;          ///< bytes; ScratchLayout's chunk_nbytes(), or fewer
};

/// Blocks at one distance from each other, or at one place (step 0). A kernel's parameters take time to load, so short
/// collectives have few.
template <class T>
struct EvenBlocks {
  T* base;
  uint64_t step;
  RAILSHMEM_HD T* operator[](int k) const {
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(base) + static_cast<uint32_t>(k) * step);
  }
};
/// Blocks anywhere.
template <class T>
struct ListedBlocks {
  T* at[kMostMembers];
  RAILSHMEM_HD T* operator[](int k) const { return at[k]; }
};

/// Moves blocks of equal size between all members: block k of this member's source goes to member k, and the block
/// from member k becomes block k of dest. All-gather and all-to-all.
template <template <class> class Blocks>
struct MoveCallOf {
  CollMembers members;
  uint64_t nbytes;  ///< of a block
  Blocks<const void> source;
  Blocks<void> dest;
};
using EvenMoveCall = MoveCallOf<EvenBlocks>;
using MoveCall = MoveCallOf<ListedBlocks>;

/// Moves blocks of any sizes. Broadcast, and all-to-all with counts.
struct MoveSizesCall {
  MoveCall move;                       ///< its nbytes is the largest block of all members; ~0: the members find out
  uint64_t send_nbytes[kMostMembers];  ///< for member k
  uint64_t receive_nbytes[kMostMembers];
};

/// Reduces: operand k of this member is its part of the result of member k. Reduce-scatter, and all-reduce in one step
/// (each member has all of the vector as its part) or in two (a part each, then everybody gets all parts).
template <template <class> class Blocks>
struct CombineCallOf {
  CollMembers members;
  ReduceOp op;
  TypeKind kind;
  Scaling scaling;
  uint8_t two_steps;  ///< 1: the results of all members come to dest, where part k begins k * nbytes into it
  double factor;
  uint64_t nbytes;  ///< of a part
  uint64_t whole;   ///< two_steps: bytes of the vector; the last parts may be shorter, or empty
  void* dest;
  Blocks<const void> source;  ///< operand k
};
using EvenCombineCall = CombineCallOf<EvenBlocks>;
using CombineCall = CombineCallOf<ListedBlocks>;
/// Where the members find this member's buffers, as addresses that mean something to them. Each member tells each other
/// one, when its stream has come to the call.
struct Whereabouts {
  /// Beside an address of `source`: every member that needs buffers of this member reaches them.
  static constexpr uint64_t kForAll = uint64_t{1} << 63;

  uint64_t source[kMostMembers];  ///< to tell member k: what it reads of this member
  uint64_t dest[kMostMembers];    ///< to tell member k: where it writes
};

/// A move or a combination that goes straight between the members' buffers. Where some member does not reach some
/// buffer, it goes in chunks through scratch memory, or by packets (kLongBlock).
struct DirectMoveCall {
  MoveCall move;
  Whereabouts where;
};
struct DirectCombineCall {
  CombineCall combine;
  Whereabouts where;
};

/// A move by copy engines, between two kernels. They fetch from where this member takes the others' blocks to lie:
/// where its own lie in its heap.
struct EngineMoveCall {
  MoveCall move;
  /// Says where this member's blocks lie in its heap: members whose blocks lie alike have one number. 0: elsewhere.
  /// Where members have different numbers, or 0, the kernel behind the copies does everything.
  uint64_t place;
  const uint64_t* arrived;  ///< counters of pieces, all equal before the call; may be null
  int32_t root;             ///< the only member that sends; -1: all send
};

/// A reduce-scatter that begins on a piece when the counters of all members say that their piece is ready. Sources and
/// `ready` lie in the heap, at equal offsets on all members.
struct PieceCombineCall {
  CollMembers members;
  ReduceOp op;
  TypeKind kind;
  Scaling scaling;
  double factor;
  uint64_t nbytes;                      ///< of this member's part
  uint64_t piece;                       ///< bytes; the last one may be shorter
  ListedBlocks<const void> source;      ///< operand of member k
  const uint64_t* ready[kMostMembers];  ///< of member k, for the pieces of this member's part
  void* dest;
  uint64_t* done;  ///< a counter for each piece of the result, raised by one; the call's number is what it becomes
};

/// Copies the own block of a move beside the engines.
struct OwnBlockCall {
  void* dest;
  const void* source;
  uint64_t nbytes;
};

/// What the kernel before the copies found, for the one behind them.
struct Heard {
  uint32_t differs;  ///< not 0: the copies may have fetched from wrong places, or nothing
  uint32_t failed;   ///< not 0: some member did not come
};

static_assert(std::is_trivially_copyable_v<MoveSizesCall> && std::is_trivially_copyable_v<CombineCall>);
static_assert(sizeof(MoveSizesCall) <= 4096 && sizeof(DirectMoveCall) <= 4096 && sizeof(DirectCombineCall) <= 4096 &&
                  sizeof(EngineMoveCall) <= 4096 && sizeof(PieceCombineCall) <= 4096,
              "what every driver takes as parameters");

}  // namespace railshmem::cuda
