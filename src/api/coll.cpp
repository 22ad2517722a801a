// SPDX-License-Identifier: BSD-3-Clause
// shmemx_coll_on_stream: checks the arguments, and makes a collective of the library's from them.
#include "shmem/coll.h"

#include <algorithm>
#include <cstring>

#include "src/api/job.h"
#include "src/api/team_call.h"
#include "src/base/error.h"
#include "src/base/guard.h"
#include "src/check/collective.h"
#include "src/collective/operand.h"
#include "src/rma/probe.h"
#include "src/stream/executor/executors.h"
#include "src/stream/node_collectives.h"
#include "src/stream/stream_side.h"

using namespace railshmem;

namespace {

constexpr const char* kNames[] = {"all-gather", "reduce-scatter",         "all-reduce",
                                  "all-to-all", "all-to-all with counts", "broadcast"};

size_t element_of(int datatype) {
  switch (datatype) {
    case SHMEMX_DATATYPE_INT8:
    case SHMEMX_DATATYPE_UINT8:
    case SHMEMX_DATATYPE_FLOAT8_E4M3:
    case SHMEMX_DATATYPE_FLOAT8_E5M2:
      return 1;
    case SHMEMX_DATATYPE_INT16:
    case SHMEMX_DATATYPE_UINT16:
    case SHMEMX_DATATYPE_HALF:
    case SHMEMX_DATATYPE_BFLOAT16:
      return 2;
    case SHMEMX_DATATYPE_INT32:
    case SHMEMX_DATATYPE_UINT32:
    case SHMEMX_DATATYPE_FLOAT:
      return 4;
    case SHMEMX_DATATYPE_INT64:
    case SHMEMX_DATATYPE_UINT64:
    case SHMEMX_DATATYPE_DOUBLE:
    case SHMEMX_DATATYPE_COMPLEX_FLOAT:
      return 8;
    case SHMEMX_DATATYPE_COMPLEX_DOUBLE:
      return 16;
    default:
      throw Error(text("datatype %d is invalid; use a SHMEMX_DATATYPE_* constant", datatype));
  }
}
static_assert(static_cast<int>(TypeKind::f8e5m2) == SHMEMX_DATATYPE_FLOAT8_E5M2 &&
                  static_cast<int>(TypeKind::f64) == SHMEMX_DATATYPE_DOUBLE,
              "the numbers of types are equal");
static_assert(static_cast<int>(ReduceOp::prod) == SHMEMX_OP_PROD && static_cast<int>(ReduceOp::max) == SHMEMX_OP_MAX,
              "the numbers of operations are equal");

/// Sets the operation, if the type has it.
void set_op(Coll& coll, const shmemx_coll_t& asked) {
  const int op = asked.op;
  if (op < SHMEMX_OP_AND || op > SHMEMX_OP_PREMUL_SUM)
    throw Error(text("op %d is invalid; use a SHMEMX_OP_* constant", op));
  const bool integer = asked.datatype <= SHMEMX_DATATYPE_UINT64;
  const bool complex =
      asked.datatype == SHMEMX_DATATYPE_COMPLEX_FLOAT || asked.datatype == SHMEMX_DATATYPE_COMPLEX_DOUBLE;
  const bool scales = op == SHMEMX_OP_AVG || op == SHMEMX_OP_PREMUL_SUM;
  if (scales && integer)
    throw Error(
        text("op %d (average or pre-multiplied sum) takes floating-point and complex types; use SHMEMX_OP_SUM", op));
  if (op <= SHMEMX_OP_XOR && !integer) throw Error(text("op %d works on bits, and takes integer types only", op));
  if (complex && (op == SHMEMX_OP_MAX || op == SHMEMX_OP_MIN))
    throw Error(text("op %d is a maximum or minimum, which complex numbers do not have", op));
  coll.op = scales ? ReduceOp::sum : static_cast<ReduceOp>(op);
  if (op == SHMEMX_OP_AVG) coll.scaling = Scaling::average;
  if (op == SHMEMX_OP_PREMUL_SUM) {
    coll.scaling = Scaling::factor;
    coll.factor = asked.factor;
  }
}

/// Kernels must reach all blocks that are not empty.
template <class Address, class Size>
void check_blocks(const char* what, const char* list, const Coll& coll, Address&& address, Size&& size) {
  for (int k = 0; k < coll.team.size(); ++k) {
    if (size(k) == 0 || address(k) != nullptr) continue;
    throw Error(text("%s is NULL, and so is block %d of %s", what, k, list));
  }
}

void check_kernels_reach(const char* what, const void* address, StreamSide& side) {
  if (address && !side.kernels_reach(address))
    throw Error(
        text("%s %p is in plain host memory, which kernels do not reach; pass memory of this PE's GPU "
             "(shmem_malloc, cudaMalloc)",
             what, address));
}

/// SHMEM_CHECK: ends the job where members make different calls.
void must_agree(const Coll& coll, long long piece_nbytes = 0) {
  if (!checking(coll.team.state)) return;
  check::CollectiveCall call(coll.team.state, coll.function);
  call.number("collective", static_cast<long long>(coll.kind)).number("type", static_cast<long long>(coll.type));
  if (coll.reduces())
    call.number("op", static_cast<long long>(coll.op)).number("scaling", static_cast<long long>(coll.scaling));
  if (coll.kind != CollKind::alltoallv) call.number("bytes", static_cast<long long>(coll.nbytes));
  if (coll.kind == CollKind::broadcast) call.number("root", coll.root);
  call.number("max_blocks", coll.max_blocks).number("flags", coll.spares_sms ? SHMEMX_COLL_SPARE_SMS : 0);
  if (piece_nbytes != 0) call.number("piece", piece_nbytes);
  check::must_agree(coll.team, call);
}

size_t times(size_t a, size_t b) {
  size_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw Error(text("nelems %zu is too large", a));
  return product;
}

/// An all-reduce or a broadcast in place has one buffer; one that begins elsewhere in the other buffer makes no sense.
void check_overlap(const Coll& coll) {
  if (coll.kind != CollKind::allreduce && coll.kind != CollKind::alltoall) return;
  if (coll.sources || coll.dests || coll.source == coll.dest) return;
  const size_t nbytes =
      coll.kind == CollKind::alltoall ? coll.nbytes * static_cast<size_t>(coll.team.size()) : coll.nbytes;
  const auto source = reinterpret_cast<uintptr_t>(coll.source), dest = reinterpret_cast<uintptr_t>(coll.dest);
  if (dest - source < nbytes || source - dest < nbytes)
    throw Error(
        text("source %p and dest %p overlap in a part of their %zu bytes; pass equal addresses (in place) or "
             "arrays apart",
             coll.source, coll.dest, nbytes));
}

void check_counts(const Coll& coll) {
  if (!coll.source_counts || !coll.source_offsets || !coll.dest_counts || !coll.dest_offsets)
    throw Error("an all-to-all with counts needs source_counts, source_offsets, dest_counts and dest_offsets");
}

Coll checked(const char* function, const shmemx_coll_t* asked) {
  if (!asked || asked->size != sizeof *asked)
    throw Error("coll is NULL or its size is not set; begin with SHMEMX_COLL_INITIALIZER");
  if (asked->collective < SHMEMX_COLL_ALLGATHER || asked->collective > SHMEMX_COLL_BROADCAST)
    throw Error(text("collective %d is invalid; use a SHMEMX_COLL_* constant", asked->collective));
  Team& team = must_find_team(function, asked->team);
  if ((asked->flags & ~SHMEMX_COLL_SPARE_SMS) != 0)
    throw Error(text("flags are %d; they must be 0 or SHMEMX_COLL_SPARE_SMS", asked->flags));
  if (asked->max_blocks < 0) throw Error(text("max_blocks is %d; it must be 0 or more", asked->max_blocks));
  Coll coll{function, static_cast<CollKind>(asked->collective), team};
  coll.element = element_of(asked->datatype);
  coll.type = static_cast<TypeKind>(asked->datatype);
  if (coll.reduces()) set_op(coll, *asked);
  coll.max_blocks = static_cast<uint32_t>(asked->max_blocks);
  coll.spares_sms = (asked->flags & SHMEMX_COLL_SPARE_SMS) != 0;
  if (coll.kind == CollKind::broadcast && (asked->root < 0 || asked->root >= team.size()))
    throw Error(text("root is %d; the team has ranks 0 to %d", asked->root, team.size() - 1));
  coll.root = asked->root;
  coll.nbytes = times(asked->nelems, coll.element);
  coll.source = asked->source;
  coll.dest = asked->dest;
  if (coll.deals()) coll.sources = asked->sources;
  if (coll.collects()) coll.dests = asked->dests;
  if ((asked->sources && !coll.sources) || (asked->dests && !coll.dests))
    throw Error(
        text("%s has no list form of that side; sources is for reduce-scatter and all-to-all, dests for "
             "all-gather and all-to-all",
             kNames[asked->collective]));
  if (coll.kind == CollKind::alltoallv) {
    coll.source_counts = asked->source_counts;
    coll.source_offsets = asked->source_offsets;
    coll.dest_counts = asked->dest_counts;
    coll.dest_offsets = asked->dest_offsets;
    check_counts(coll);
  } else {
    times(coll.nbytes, static_cast<size_t>(team.size()));
  }
  return coll;
}

void check_buffers(const Coll& coll, StreamSide& side) {
  check_blocks(
      "source", "sources", coll, [&](int k) { return coll.source_for(k); }, [&](int k) { return coll.sends(k); });
  check_blocks(
      "dest", "dests", coll, [&](int k) { return coll.dest_from(k); }, [&](int k) { return coll.receives(k); });
  for (int k = 0; k < coll.team.size(); ++k) {
    if ((k == 0 || coll.sources) && coll.sends(k) > 0) check_kernels_reach("source", coll.source_for(k), side);
    if ((k == 0 || coll.dests) && coll.receives(k) > 0) check_kernels_reach("dest", coll.dest_from(k), side);
  }
  check_overlap(coll);
}

void check_piece(const Coll& coll, size_t nbytes) {
  if (nbytes == 0 || nbytes % coll.element != 0)
    throw Error(text("a piece has %zu bytes; it must have at least one element of %zu bytes, and whole ones", nbytes,
                     coll.element));
}

/// What members on several nodes must find at one address.
void check_heap(const Coll& coll, const char* what, const void* address, size_t nbytes) {
  if (!Operand(coll.team.state, address, nbytes).on_device(coll.team.state))
    throw Error(text("%s %p does not lie in the heap of GPU memory with its %zu bytes; allocate it with shmem_malloc",
                     what, address, nbytes));
}

void check_counters(const char* what, const uint64_t* counters) {
  if (!counters || reinterpret_cast<uintptr_t>(counters) % sizeof(uint64_t) != 0)
    throw Error(text("%s is %p; it must be the address of words of 8 bytes in device memory", what,
                     static_cast<const void*>(counters)));
}

/// Of the blocks of all members.
size_t all_nbytes(const Coll& coll) {
  return coll.nbytes * static_cast<size_t>(coll.team.size());
}
/// Of a counter for each piece of each block.
size_t counters_nbytes(const Coll& coll, size_t piece_nbytes) {
  const size_t pieces = (coll.nbytes + piece_nbytes - 1) / piece_nbytes;
  return times(pieces * sizeof(uint64_t), static_cast<size_t>(coll.team.size()));
}

bool is_empty(const Coll& coll) {
  return coll.kind != CollKind::alltoallv && coll.nbytes == 0;
}

/// Plans of this job's GPUs. Throws Error if none exist.
NodeCollectives& plans_of(const Coll& coll) {
  World& world = job::world(coll.function);
  if (!world.streams()) throw Error(world.why_no_streams());
  return *world.gpu()->node_collectives();
}

/// What runs the collective of a team whose members do not all map each other's memory; null for others.
Executors* far_runner_of(const Coll& coll) {
  return plans_of(coll).serves(coll.team) ? nullptr : job::world(coll.function).gpu()->executors();
}

}  // namespace

extern "C" {

int shmemx_coll_on_stream(const shmemx_coll_t* asked, shmemx_stream_t stream) {
  constexpr const char* kFunction = "shmemx_coll_on_stream";
  return guard(kFunction, [&] {
    const Coll coll = checked(kFunction, asked);
    Executors* const far = far_runner_of(coll);
    must_agree(coll);
    if (is_empty(coll)) return;
    check_buffers(coll, *job::world(kFunction).streams());
    if (far) return far->give(coll, Buffers::any, reinterpret_cast<cuda::Stream>(stream));
    plans_of(coll).give(coll, reinterpret_cast<cuda::Stream>(stream));
  });
}

size_t shmemx_coll_explain(const shmemx_coll_t* asked, char* buffer, size_t nbytes) {
  constexpr const char* kFunction = "shmemx_coll_explain";
  size_t needed = 0;
  guard(kFunction, [&] {
    const Coll coll = checked(kFunction, asked);
    const std::string line =
        far_runner_of(coll) ? Executors::explain(coll) : explain(question_of(coll), plans_of(coll).plan_of(coll));
    needed = line.size() + 1;
    if (!buffer || nbytes == 0) return;
    const size_t copied = std::min(nbytes - 1, line.size());
    std::memcpy(buffer, line.data(), copied);
    buffer[copied] = '\0';
  });
  return needed;
}

int shmemx_fcollectmem_pieces_on_stream(shmem_team_t team, void* dest, const void* source, size_t nbytes,
                                        size_t piece_nbytes, uint64_t* arrived, shmemx_stream_t stream) {
  constexpr const char* kFunction = "shmemx_fcollectmem_pieces_on_stream";
  return guard(kFunction, [&] {
    shmemx_coll_t asked = SHMEMX_COLL_INITIALIZER;
    asked.team = team;
    asked.nelems = nbytes;
    asked.source = source;
    asked.dest = dest;
    const Coll coll = checked(kFunction, &asked);
    Executors* const far = far_runner_of(coll);
    must_agree(coll, static_cast<long long>(piece_nbytes));
    if (is_empty(coll)) return;
    check_piece(coll, piece_nbytes);
    check_counters("arrived", arrived);
    check_buffers(coll, *job::world(kFunction).streams());
    const auto on = reinterpret_cast<cuda::Stream>(stream);
    if (!far) return plans_of(coll).gather_pieces(coll, piece_nbytes, arrived, on);
    check_heap(coll, "dest", dest, all_nbytes(coll));
    check_heap(coll, "arrived", arrived, counters_nbytes(coll, piece_nbytes));
    far->give(coll, PieceCounters{piece_nbytes, arrived, nullptr}, on);
  });
}

int shmemx_reducescatter_pieces_on_stream(const shmemx_coll_t* asked, size_t piece_nelems, const uint64_t* ready,
                                          uint64_t* done, shmemx_stream_t stream) {
  constexpr const char* kFunction = "shmemx_reducescatter_pieces_on_stream";
  return guard(kFunction, [&] {
    const Coll coll = checked(kFunction, asked);
    if (coll.kind != CollKind::reducescatter || coll.sources)
      throw Error("coll must be a SHMEMX_COLL_REDUCESCATTER with one source, not a list");
    Executors* const far = far_runner_of(coll);
    must_agree(coll, static_cast<long long>(piece_nelems));
    if (is_empty(coll)) return;
    const size_t piece_nbytes = times(piece_nelems, coll.element);
    check_piece(coll, piece_nbytes);
    check_counters("ready", ready);
    check_counters("done", done);
    check_buffers(coll, *job::world(kFunction).streams());
    const auto on = reinterpret_cast<cuda::Stream>(stream);
    if (!far) return plans_of(coll).combine_pieces(coll, piece_nbytes, ready, done, on);
    check_heap(coll, "source", coll.source, all_nbytes(coll));
    check_heap(coll, "ready", ready, counters_nbytes(coll, piece_nbytes));
    far->give(coll, PieceCounters{piece_nbytes, done, ready}, on);
  });
}
}
