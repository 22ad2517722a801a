// SPDX-License-Identifier: BSD-3-Clause
// floor_exchange_engine, floor_exchange_kernel, floor_exchange_read: every PE's block goes to every other, all PEs at
// once, without a library and without a meeting. bytes: the full vector, as of an all-gather; PEs do not copy their own
// block. floor_launch and floor_launch_in_graph (on_stream.cu) are the floors under the shortest collectives.
#include "perftest/device/coll/calls.cuh"
#include "perftest/device/coll/exchange.cuh"
#include "perftest/device/copy_vectors.cuh"

namespace railshmem::perf::gpu::coll::floors {
namespace {

constexpr unsigned kMostPeers = 63;  // PEs of one node; keeps the kernel's parameters below 1 KiB
constexpr unsigned kThreads = 512;

struct Moves {
  struct Move {
    char* to;
    const char* from;
  } moves[kMostPeers];
  uint32_t n;
  uint64_t nbytes;  ///< of each, a multiple of 16
};

__global__ void __launch_bounds__(kThreads) exchange_kernel(const __grid_constant__ Moves all) {
  const Slice part = slice_of(all.nbytes, blockIdx.x, gridDim.x);
#pragma unroll 1
  for (uint32_t i = 0; i < all.n; ++i)
    copy_vectors(reinterpret_cast<uint4*>(all.moves[i].to + part.offset),
                 reinterpret_cast<const uint4*>(all.moves[i].from + part.offset), part.nbytes / sizeof(uint4),
                 threadIdx.x, blockDim.x);
}

enum class Way : uint8_t { write, read };

Moves moves_of(const Exchange& exchange, Way way, uint64_t nbytes) {
  Moves all{};
  all.nbytes = nbytes;
  for (const Exchange::Peer& peer : exchange.peers()) {
    const uint64_t mine = static_cast<uint64_t>(exchange.pe()) * nbytes;
    const uint64_t theirs = static_cast<uint64_t>(peer.pe) * nbytes;
    all.moves[all.n++] = way == Way::write ? Moves::Move{peer.vector + mine, exchange.block()}
                                           : Moves::Move{exchange.vector() + theirs, peer.block};
  }
  return all;
}

/// Adds the row of one way to move blocks of a vector of `size` bytes.
template <class Move>
void add_row(Context& context, uint64_t size, unsigned grid, Move&& move) {
  const Shape shape = shape_of(Kind::allgather, Dtype::uint8, size, context.npes);
  Row row = context.row("latency", "us", shape.bytes, grid, grid == 0 ? 0 : kThreads);
  row.variant = {order_of(context.options), name_of(Memory::heap), "", false};
  time_calls(context, row, bus_factor(Kind::allgather, context.npes), [&] { move(shape.block_bytes); });
  context.add(std::move(row));
}

void run_engine(Context& context) {
  const Exchange exchange(context, context.largest() + 16 * static_cast<uint64_t>(context.npes));
  for (const uint64_t size : context.sizes)
    add_row(context, size, 0, [&](uint64_t nbytes) { exchange.enqueue_copies(nbytes, context.stream()); });
}

/// Runs with --ctas blocks; without --ctas with several numbers, of which the best is the floor.
void run_kernel(Context& context, Way way) {
  if (context.npes > static_cast<int>(kMostPeers) + 1)
    throw std::runtime_error(std::string(context.bench->name) + " is for at most 64 PEs");
  const Exchange exchange(context, context.largest() + 16 * static_cast<uint64_t>(context.npes));
  const std::vector<unsigned> grids =
      context.options.ctas ? std::vector<unsigned>{*context.options.ctas} : std::vector<unsigned>{16, 64, 132};
  for (const unsigned grid : grids)
    for (const uint64_t size : context.sizes)
      add_row(context, size, grid, [&](uint64_t nbytes) {
        exchange_kernel<<<grid, kThreads, 0, context.stream()>>>(moves_of(exchange, way, nbytes));
        CUDA_CHECK(cudaGetLastError());
      });
}

constexpr Range kSizes{uint64_t{8} << 10, uint64_t{1} << 30};
const std::vector<Scope> kHost{Scope::thread};
const Register floors[] = {
    Register({"floor_exchange_engine", "every PE's block to every other by copy engines, all at once", Part::all,
              kSizes, kHost, false, run_engine}),
    Register({"floor_exchange_kernel", "every PE's block to every other by a raw kernel that writes", Part::all, kSizes,
              kHost, false, [](Context& context) { run_kernel(context, Way::write); }}),
    Register({"floor_exchange_read", "every PE's block to every other by a raw kernel that reads", Part::all, kSizes,
              kHost, false, [](Context& context) { run_kernel(context, Way::read); }}),
};

}  // namespace
}  // namespace railshmem::perf::gpu::coll::floors
