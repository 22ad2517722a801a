// SPDX-License-Identifier: BSD-3-Clause
// MPI and OpenSHMEM in one program, in every order of their starts and ends.
#include <mpi.h>

#include <cstdio>
#include <optional>

#include "src/base/error.h"
#include "tests/support/bootstrap_suite.h"

namespace {

using namespace railshmem;

void check_mpi_sum() {
  int npes = 0, one = 1, sum = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &npes);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != npes) throw Error(text("MPI counts %d of %d PEs", sum, npes));
}

std::unique_ptr<Bootstrap> start(const char* expected, void* communicator = nullptr) {
  BootstrapRequest request;
  request.mpi_comm = communicator;
  auto bootstrap = make_bootstrap(Env::parse(), request);
  railshmem::tests::check_bootstrap(*bootstrap, "");
  if (expected && bootstrap->name() != expected)
    throw Error(text("bootstrap %s, expected %s", std::string(bootstrap->name()).c_str(), expected));
  return bootstrap;
}

void mpi_first(const char* end) {
  MPI_Init(nullptr, nullptr);
  auto bootstrap = start("mpi");
  check_mpi_sum();
  if (std::string(end) == "mpi-last") bootstrap.reset();
  MPI_Finalize();
}

void shmem_first(const char* end) {
  auto bootstrap = start(nullptr);
  MPI_Init(nullptr, nullptr);
  check_mpi_sum();
  railshmem::tests::check_bootstrap(*bootstrap, "");
  if (std::string(end) == "mpi-last") bootstrap.reset();
  check_mpi_sum();
  MPI_Finalize();
}

void shmem_before_and_gone() {
  start(nullptr).reset();
  MPI_Init(nullptr, nullptr);
  check_mpi_sum();
  MPI_Finalize();
}

void half_of_the_world() {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  {
    const auto bootstrap = start("mpi", &half);
    if (bootstrap->pe() != rank / 2) throw Error(text("rank %d is PE %d", rank, bootstrap->pe()));
  }
  MPI_Comm_free(&half);
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string order = argc > 1 ? argv[1] : "";
    const char* end = argc > 2 ? argv[2] : "mpi-last";
    if (order == "mpi-first") mpi_first(end);
    else if (order == "shmem-first") shmem_first(end);
    else if (order == "shmem-before") shmem_before_and_gone();
    else if (order == "never-mpi") start(nullptr).reset();
    else if (order == "half") half_of_the_world();
    else throw Error("usage: mpi-first|shmem-first [mpi-last|shmem-last] | shmem-before | never-mpi | half");
    std::printf("fine\n");
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "probe: %s\n", e.what());
    _exit(4);
  }
}
