// SPDX-License-Identifier: BSD-3-Clause
//
// Halo exchange: Jacobi iterations on a square grid, cut into bands of rows. Before each iteration every PE puts its
// border rows into the neighbours' halo rows, with a signal. The result is compared with a serial run, bit for bit.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { kSide = 128, kSteps = 200 };  // the grid has kSide x kSide inner points and a fixed rim

#define ROW (kSide + 2)

/// The rim: hot on top, warm on the left, cold elsewhere.
static double rim(int row, int column) {
  return row == 0 ? 100.0 : column == 0 ? 50.0 : 0.0;
}

/// Rows first..first+rows-1 of the grid, with one row more on either side.
static void set_up(double* grid, int first, int rows) {
  for (int r = -1; r <= rows; ++r)
    for (int c = 0; c < ROW; ++c) {
      const int row = first + r;
      const int inner = row > 0 && row <= kSide && c > 0 && c <= kSide;
      grid[(r + 1) * ROW + c] = inner ? 0.0 : rim(row, c);
    }
}

static void jacobi(double* to, const double* from, int rows) {
  for (int r = 1; r <= rows; ++r)
    for (int c = 1; c <= kSide; ++c)
      to[r * ROW + c] =
          0.25 * (from[(r - 1) * ROW + c] + from[(r + 1) * ROW + c] + from[r * ROW + c - 1] + from[r * ROW + c + 1]);
}

/// How many points of this PE's rows differ from a run on one grid.
static long compare_with_serial(const double* mine, int first, int rows) {
  double* grid[2];
  for (int i = 0; i < 2; ++i) {
    grid[i] = malloc(sizeof(double) * ROW * ROW);
    if (!grid[i]) return -1;
    set_up(grid[i], 1, kSide);
  }
  for (int step = 0; step < kSteps; ++step) jacobi(grid[(step + 1) % 2], grid[step % 2], kSide);
  long wrong = 0;
  for (int r = 0; r < rows; ++r)
    for (int c = 1; c <= kSide; ++c) wrong += grid[kSteps % 2][(first + r) * ROW + c] != mine[(r + 1) * ROW + c];
  free(grid[0]);
  free(grid[1]);
  return wrong;
}

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int npes = shmem_n_pes();
  // Bands as even as possible; heap blocks must be equally large on all PEs.
  const int rows = kSide / npes + (me < kSide % npes);
  const int most = kSide / npes + 1;
  const int first = 1 + me * (kSide / npes) + (me < kSide % npes ? me : kSide % npes);
  const int up = me > 0 ? me - 1 : -1;
  const int down = me + 1 < npes ? me + 1 : -1;
  const int rows_up = kSide / npes + (me - 1 < kSide % npes);  // rows of the PE above

  double* grid[2];
  for (int i = 0; i < 2; ++i) {
    grid[i] = shmem_malloc(sizeof(double) * ROW * (size_t)(most + 2));
    if (!grid[i]) shmem_global_exit(2);
    set_up(grid[i], first, rows);
  }
  uint64_t* from_above = shmem_calloc(1, sizeof(uint64_t));
  uint64_t* from_below = shmem_calloc(1, sizeof(uint64_t));

  for (uint64_t step = 0; step < kSteps; ++step) {
    double* const now = grid[step % 2];
    // My first row becomes the lower halo of the PE above, my last row the upper halo of the PE below. The two grids
    // take turns, and a neighbour can be one step ahead at most, so no halo is overwritten while it is read.
    if (up >= 0)
      shmem_double_put_signal(now + (rows_up + 1) * ROW, now + ROW, ROW, from_below, step + 1, SHMEM_SIGNAL_SET, up);
    if (down >= 0) shmem_double_put_signal(now, now + rows * ROW, ROW, from_above, step + 1, SHMEM_SIGNAL_SET, down);
    if (up >= 0) shmem_signal_wait_until(from_above, SHMEM_CMP_GE, step + 1);
    if (down >= 0) shmem_signal_wait_until(from_below, SHMEM_CMP_GE, step + 1);
    jacobi(grid[(step + 1) % 2], now, rows);
  }

  long* wrong_total = shmem_calloc(1, sizeof(long));
  const long wrong = compare_with_serial(grid[kSteps % 2], first, rows);
  shmem_long_atomic_add(wrong_total, wrong, 0);
  shmem_barrier_all();
  if (me == 0)
    printf("halo: %d x %d grid, %d steps on %d PEs, %ld points differ from the serial run: %s\n", kSide, kSide, kSteps,
           npes, *wrong_total, *wrong_total == 0 ? "passed" : "FAILED");
  shmem_finalize();
  return wrong == 0 ? 0 : 1;
}
