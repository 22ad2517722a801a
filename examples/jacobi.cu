// SPDX-License-Identifier: BSD-3-Clause
//
// Jacobi iterations on a grid that is cut into bands of rows, one for each PE. One launch is one step: its first two
// blocks make the two outer rows of the band and put them into the neighbours' halo rows, with a signal, while all
// other blocks make the rows between. So the exchange costs no time of its own, and the CPUs take no part in it. The
// result is compared, bit for bit, with a run on one GPU.
//   oshrun -n 4 ./jacobi [--nx 8192] [--ny 8192] [--steps 500] [--threads 256]
#include "gpu_example.h"

constexpr int kTileRows = 16;  // rows that one block makes; a tile is as wide as the block has threads

/// A band: rows 1 to `rows` are made, row 0 and row rows + 1 are halos (or the rim). Columns 0 and width - 1 are rim.
struct Band {
  float* grid[2];  // even and odd steps, by turns
  int rows, width;
  int up, down;       // neighbours, or -1
  int rows_up;        // rows of the band above
  uint64_t* halo_in;  // [0] from above, [1] from below: number of the step whose row is there
};

__device__ void make_point(float* to, const float* from, int row, int column, int width) {
  const float* const at = from + static_cast<size_t>(row) * width + column;
  to[static_cast<size_t>(row) * width + column] = 0.25f * (at[-width] + at[width] + at[-1] + at[1]);
}

/// One block makes one outer row and puts it into the halo of the neighbour.
__device__ void make_and_put(const Band& band, int step, int row, int halo_row, int neighbour, uint64_t* from_neighbour,
                             uint64_t* at_neighbour) {
  const float* const from = band.grid[step % 2];
  float* const to = band.grid[(step + 1) % 2];
  // Waits for the halo of the step before. The first step starts from the grid as it was set up.
  if (threadIdx.x == 0 && neighbour >= 0) shmem_signal_wait_until(from_neighbour, SHMEM_CMP_GE, step);
  __syncthreads();
  for (int column = 1 + threadIdx.x; column < band.width - 1; column += blockDim.x)
    make_point(to, from, row, column, band.width);
  __syncthreads();
  // Two grids take turns, and the neighbour sends a row only after it has read the last row from here. So no halo is
  // overwritten before it was read, and no row is made anew before it was sent.
  if (neighbour >= 0)
    shmemx_float_put_signal_nbi_block(to + static_cast<size_t>(halo_row) * band.width,
                                      to + static_cast<size_t>(row) * band.width, band.width, at_neighbour, step + 1,
                                      SHMEM_SIGNAL_SET, neighbour);
}

__global__ void __launch_bounds__(1024) make_step(Band band, int step) {
  if (blockIdx.x == 0) {
    // My first row is the lower halo of the band above: row rows_up + 1 there.
    make_and_put(band, step, 1, band.rows_up + 1, band.up, &band.halo_in[0], &band.halo_in[1]);
  } else if (blockIdx.x == 1) {
    make_and_put(band, step, band.rows, 0, band.down, &band.halo_in[1], &band.halo_in[0]);
  } else {
    const int tiles_across = (band.width - 2 + blockDim.x - 1) / blockDim.x;
    const int tile = blockIdx.x - 2;
    const int column = 1 + tile % tiles_across * blockDim.x + threadIdx.x;
    const int first = 2 + tile / tiles_across * kTileRows;
    if (column >= band.width - 1) return;
    for (int row = first; row < first + kTileRows && row < band.rows; ++row)
      make_point(band.grid[(step + 1) % 2], band.grid[step % 2], row, column, band.width);
  }
}

/// Completes the puts of the step.
__global__ void complete() {
  shmem_quiet();
}

/// One step on a whole grid, without PEs.
__global__ void __launch_bounds__(1024) make_reference_step(float* to, const float* from, int rows, int width) {
  for (int row = 1 + blockIdx.x; row <= rows; row += gridDim.x)
    for (int column = 1 + threadIdx.x; column < width - 1; column += blockDim.x)
      make_point(to, from, row, column, width);
}

/// Rows first - 1 to first + rows of the whole grid at the start: hot on top, warm on the left, cold elsewhere.
__global__ void __launch_bounds__(1024) set_up(float* grid, int first, int rows, int width) {
  for (int row = blockIdx.x; row < rows + 2; row += gridDim.x)
    for (int column = threadIdx.x; column < width; column += blockDim.x)
      grid[static_cast<size_t>(row) * width + column] = first - 1 + row == 0 ? 100.0f : column == 0 ? 50.0f : 0.0f;
}

__global__ void __launch_bounds__(1024)
    count_differences(const float* mine, const float* reference, int rows, int width, unsigned long long* wrong) {
  for (int row = 1 + blockIdx.x; row <= rows; row += gridDim.x)
    for (int column = 1 + threadIdx.x; column < width - 1; column += blockDim.x) {
      const size_t at = static_cast<size_t>(row) * width + column;
      if (mine[at] != reference[at]) atomicAdd(wrong, 1ull);
    }
}

/// Points of this PE's band that differ from a run on one GPU.
static long compare_with_one_gpu(const Band& band, int first, int ny, int steps, int threads) {
  float* grid[2];
  unsigned long long *counter = nullptr, wrong = 0;
  const int blocks = 4 * example::multiprocessors();
  MUST(cudaMalloc(&counter, sizeof wrong));
  MUST(cudaMemset(counter, 0, sizeof wrong));
  for (float*& each : grid) {
    MUST(cudaMalloc(&each, static_cast<size_t>(ny + 2) * band.width * sizeof(float)));
    set_up<<<blocks, threads>>>(each, 1, ny, band.width);
  }
  for (int step = 0; step < steps; ++step)
    make_reference_step<<<blocks, threads>>>(grid[(step + 1) % 2], grid[step % 2], ny, band.width);
  count_differences<<<blocks, threads>>>(band.grid[steps % 2],
                                         grid[steps % 2] + static_cast<size_t>(first - 1) * band.width, band.rows,
                                         band.width, counter);
  MUST(cudaMemcpy(&wrong, counter, sizeof wrong, cudaMemcpyDeviceToHost));
  MUST(cudaFree(grid[0]));
  MUST(cudaFree(grid[1]));
  MUST(cudaFree(counter));
  return static_cast<long>(wrong);
}

int main(int argc, char** argv) {
  example::start();
  const int me = shmem_my_pe(), npes = shmem_n_pes();
  const int nx = example::option(argc, argv, "--nx", 8192);
  const int ny = example::option(argc, argv, "--ny", 8192);
  const int steps = example::option(argc, argv, "--steps", 500);
  const int threads = example::option(argc, argv, "--threads", 256);
  example::demand(nx > 0 && steps > 0 && ny / npes >= 2,
                  "--nx and --steps of 1 or more, and two rows of --ny for each PE");
  example::demand(threads > 0 && threads <= 1024, "--threads of 1 to 1024");

  // Bands as even as possible: the first ny % npes PEs have one row more.
  const auto rows_of = [&](int pe) { return ny / npes + (pe < ny % npes ? 1 : 0); };
  Band band{};
  band.rows = rows_of(me);
  band.width = nx + 2;
  band.up = me > 0 ? me - 1 : -1;
  band.down = me + 1 < npes ? me + 1 : -1;
  band.rows_up = me > 0 ? rows_of(me - 1) : 0;
  const int first = 1 + me * (ny / npes) + std::min(me, ny % npes);
  for (float*& grid : band.grid) {
    grid = example::on_gpu<float>(static_cast<size_t>(rows_of(0) + 2) * band.width);  // equally large on all PEs
    set_up<<<example::multiprocessors(), threads>>>(grid, first, band.rows, band.width);
  }
  band.halo_in = example::on_gpu<uint64_t>(2);
  MUST(cudaDeviceSynchronize());
  shmem_barrier_all();

  const int tiles_across = (nx + threads - 1) / threads, tiles_down = (band.rows - 2 + kTileRows - 1) / kTileRows;
  const double began = example::seconds();
  for (int step = 0; step < steps; ++step) make_step<<<2 + tiles_across * tiles_down, threads>>>(band, step);
  complete<<<1, 1>>>();
  MUST(cudaGetLastError());
  MUST(cudaDeviceSynchronize());
  const double time = example::largest(example::seconds() - began);
  shmem_barrier_all();

  const long wrong = compare_with_one_gpu(band, first, ny, steps, threads);
  if (me == 0) {
    // Each point is read and written once, if caches do their part.
    const double bytes = 2.0 * sizeof(float) * nx * ny * steps;
    std::printf("jacobi: %d x %d points on %d PEs, %d steps: %.2f us a step, %.1f GB/s effective\n", nx, ny, npes,
                steps, time / steps * 1e6, bytes / time * 1e-9);
  }
  shmem_free(band.grid[0]);
  shmem_free(band.grid[1]);
  shmem_free(band.halo_in);
  return example::finish("jacobi", wrong);
}
