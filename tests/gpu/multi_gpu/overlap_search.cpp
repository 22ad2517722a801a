// SPDX-License-Identifier: BSD-3-Clause
// SHMEM_OVERLAP_SEARCH: algorithms of cuBLASLt are measured at the first call of a shape, kept in a file, and taken
// from it by other handles and PEs, which choose alike. Exit status 77 where there is no cuBLASLt. The argument `fake`
// says that cuBLASLt is the tests' own, whose algorithms have known times and results; `poor`, that a search finds no
// memory.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/gpu/multi_gpu/overlap_rig.h"

namespace {

using namespace railshmem::multi;

int failures = 0, me = 0, npes = 0;
std::string top;  ///< of this job's PEs

void expect(bool well, const std::string& what) {
  if (well) return;
  std::printf("FAILED %s: PE %d\n", what.c_str(), me);
  ++failures;
}

struct Rig {
  static constexpr size_t rows = 96, n = 64, k = 80;
  const StreamDriver driver;
  const Symmetric gathered{rows * k * sizeof(float) * static_cast<size_t>(npes)}, b{n * k * sizeof(float)},
      c{rows * n * sizeof(float) * static_cast<size_t>(npes)};

  size_t nbytes() const { return rows * n * sizeof(float) * static_cast<size_t>(npes); }
  /// Operands that are equal on all PEs, of numbers whose sums depend on their order.
  void fill() const {
    const Matrix a = made(rows, k, SHMEMX_DATATYPE_FLOAT, 3, Values::fractions),
                 right = made(k, n, SHMEMX_DATATYPE_FLOAT, 4, Values::fractions);
    driver.upload(gathered.at() + static_cast<size_t>(me) * a.bytes.size(), a.bytes.data(), a.bytes.size());
    driver.upload(b.at(), right.bytes.data(), right.bytes.size());
  }
};

shmemx_gemm_t gemm_of(const Rig& rig, const Handle& handle) {
  shmemx_gemm_t gemm = SHMEMX_GEMM_INITIALIZER;
  gemm.handle = handle.get();
  gemm.m = Rig::rows * static_cast<size_t>(npes);
  gemm.n = Rig::n;
  gemm.k = Rig::k;
  gemm.type = gemm.result_type = SHMEMX_DATATYPE_FLOAT;
  gemm.pieces = 1;  // products of equal shapes on all PEs
  gemm.gathered = rig.gathered.at();
  gemm.a = rig.gathered.at() + static_cast<size_t>(me) * Rig::rows * Rig::k * sizeof(float);
  gemm.b = rig.b.at();
  gemm.c = rig.c.at();
  return gemm;
}

/// The result of a handle that is made anew. `captured`: the first call of the shape goes into a graph.
std::vector<std::byte> multiplied(const Rig& rig, bool captured) {
  const Handle handle(SHMEM_TEAM_WORLD, 0);
  const shmemx_gemm_t gemm = gemm_of(rig, handle);
  rig.driver.call("cuMemsetD8Async", static_cast<void*>(rig.c.at()), static_cast<unsigned char>(0), rig.nbytes(),
                  rig.driver.stream);
  const auto give = [&] { expect(shmemx_ag_gemm_on_stream(&gemm, rig.driver.stream) == 0, "a call was refused"); };
  void* const graph = captured ? rig.driver.capture(give) : nullptr;
  captured ? rig.driver.launch(graph) : give();
  rig.driver.synchronize();
  std::vector<std::byte> result(rig.nbytes());
  rig.driver.download(result.data(), rig.c.at(), result.size());
  shmem_barrier_all();
  if (captured) rig.driver.call("cuGraphExecDestroy", graph);
  return result;
}

std::string file() {
  return top + "/railshmem/overlap_algorithms.txt";
}
/// Lines of products; "damaged" where one is invalid.
std::vector<std::string> kept() {
  std::vector<std::string> lines;
  std::ifstream in(file());
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#') continue;
    lines.push_back(line.find(": product of ") == std::string::npos ? "damaged" : line);
  }
  return lines;
}

/// Whether this PE's result has the bits of PE 0's, which the operands would give it on one PE.
void agree(const Rig& rig, const std::vector<std::byte>& result, const char* what) {
  std::vector<std::byte> other(result.size());
  shmem_barrier_all();
  shmem_getmem(other.data(), rig.c.at(), other.size(), 0);
  shmem_barrier_all();
  expect(other == result, std::string(what) + ": the bits are not those of PE 0");
}

void search(const Rig& rig, bool fake) {
  setenv("SHMEM_OVERLAP_SEARCH", "0", 1);
  const std::vector<std::byte> plain = multiplied(rig, false);
  expect(!std::filesystem::exists(file()), "without a search there is a file");
  setenv("SHMEM_OVERLAP_SEARCH", "1", 1);
  if (fake) {
    // Where the first call is captured nothing is measured.
    expect(multiplied(rig, true) == plain, "a captured call does not take the heuristic's algorithm");
    expect(!std::filesystem::exists(file()), "a captured call measures");
    shmem_barrier_all();
  }
  const std::vector<std::byte> searched = multiplied(rig, false);
  agree(rig, searched, "a search");
  const std::vector<std::string> lines = kept();
  expect(!lines.empty() && std::count(lines.begin(), lines.end(), "damaged") == 0, "the file after a search");
  if (fake) {
    // The heuristic's first one takes twice the time of the last one, whose sums go in another order.
    for (const std::string& line : lines)
      expect(line.substr(2 * 16 + 1, 16) == "0000000000000003", "not the fastest: " + line);
    expect(searched != plain, "the results of two algorithms are equal");
  }
  expect(multiplied(rig, false) == searched, "the next handle's result");
  expect(kept() == lines, "the next handle measures again");
  if (fake) expect(multiplied(rig, true) == searched, "a captured call does not take the algorithm that was kept");
  shmem_barrier_all();
  // Damaged lines are left out, and the product is measured again.
  if (me == 0) std::ofstream(file()) << "no line of ours\n" << lines[0].substr(0, 40);
  shmem_barrier_all();
  agree(rig, multiplied(rig, false), "behind a damaged file");
  const std::vector<std::string> repaired = kept();
  expect(!repaired.empty() && std::count(repaired.begin(), repaired.end(), "damaged") == 0, "the repaired file");
  // Nowhere to keep it.
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  const std::vector<std::byte> unkept = multiplied(rig, false);
  if (fake) expect(unkept == searched, "a choice that cannot be kept");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL) == nullptr &&
      dlopen("libcublasLt.so.12", RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::printf("SKIPPED: no libcublasLt.so.13 or .12\n");
    return 77;
  }
  shmem_init();
  if (shmemx_attach_device() != 0) return 1;
  me = shmem_my_pe();
  npes = shmem_n_pes();
  const char* const job = std::getenv("XDG_CACHE_HOME");
  top = job == nullptr ? "" : job;
  if (top.find("railshmem_search") == std::string::npos) {
    std::printf("FAILED: set XDG_CACHE_HOME to a folder railshmem_search*, which this test empties\n");
    shmem_global_exit(2);
  }
  if (me == 0) std::filesystem::remove_all(top);
  shmem_barrier_all();
  {
    const Rig rig;
    rig.fill();
    if (mode == "poor") {
      setenv("SHMEM_OVERLAP_SEARCH", "0", 1);
      const std::vector<std::byte> plain = multiplied(rig, false);
      setenv("SHMEM_OVERLAP_SEARCH", "1", 1);
      expect(multiplied(rig, false) == plain, "without memory for a search the heuristic does not choose");
      expect(!std::filesystem::exists(file()), "without memory for a search there is a file");
    } else {
      search(rig, mode == "fake");
    }
  }
  shmem_barrier_all();
  if (failures == 0 && me == 0) std::printf("ok\n");
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
