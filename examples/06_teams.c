// SPDX-License-Identifier: BSD-3-Clause
//
// A matrix spread over a grid of PEs times a vector: one team per row, one per column, and no PE talks to all others.
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBlock = 64 };  // rows and columns of the matrix that one PE has

/// Entry of the whole matrix; the vector's entry j is j + 1.
static double entry(int row, int column) {
  return row == column ? 2 : row == column + 1 ? -1 : 0;
}

/// The widest grid of full rows with at most sqrt(npes) columns: 6 PEs are 3 x 2, 7 PEs are 7 x 1.
static int columns_of_grid(int npes) {
  int columns = 1;
  for (int c = 2; c * c <= npes; ++c)
    if (npes % c == 0) columns = c;
  return columns;
}

int main(void) {
  shmem_init();
  const int columns = columns_of_grid(shmem_n_pes());
  shmem_team_t my_row, my_column;
  if (shmem_team_split_2d(SHMEM_TEAM_WORLD, columns, NULL, 0, &my_row, NULL, 0, &my_column) != 0) {
    fprintf(stderr, "the PEs do not split into a grid with %d columns\n", columns);
    shmem_global_exit(1);
  }
  const int r = shmem_team_my_pe(my_column), c = shmem_team_my_pe(my_row);

  // The vector's block c starts at the top PE of column c, which hands it down its column.
  double* x = shmem_malloc(kBlock * sizeof *x);
  double* partial = shmem_malloc(kBlock * sizeof *partial);
  double* y = shmem_malloc(kBlock * sizeof *y);
  for (int j = 0; r == 0 && j < kBlock; ++j) x[j] = c * kBlock + j + 1;
  shmem_double_broadcast(my_column, x, x, kBlock, 0);

  for (int i = 0; i < kBlock; ++i) {
    partial[i] = 0;
    for (int j = 0; j < kBlock; ++j) partial[i] += entry(r * kBlock + i, c * kBlock + j) * x[j];
  }
  // Every PE of a row gets the sum over the row.
  shmem_double_sum_reduce(my_row, y, partial, kBlock);

  int wrong = 0;
  for (int i = 0; i < kBlock; ++i) {
    const int row = r * kBlock + i, last = columns * kBlock - 1;
    const double expected = (row <= last ? 2.0 * (row + 1) : 0) - (row >= 1 && row - 1 <= last ? row : 0);
    wrong += y[i] != expected;
  }
  printf("PE %d is at row %d, column %d: %d of %d entries are wrong\n", shmem_my_pe(), r, c, wrong, (int)kBlock);

  shmem_free(y);
  shmem_free(partial);
  shmem_free(x);
  shmem_team_destroy(my_column);
  shmem_team_destroy(my_row);
  shmem_finalize();
  return wrong ? 1 : 0;
}
