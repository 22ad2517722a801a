// SPDX-License-Identifier: BSD-3-Clause
// Collectives that go piece by piece: an all-gather whose consumer waits for single pieces on another stream, and a
// reduce-scatter whose producer makes pieces ready in any order, on another stream; several rounds, and from graphs.
#include <shmem.h>
#include <shmemx.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/gpu/multi_gpu/coll_buffers.h"

namespace {

using namespace railshmem::multi;

constexpr const TypeOf& kFloat = kTypes[8];
int failures = 0, me = 0, npes = 0;

void expect(bool well, const std::string& what) {
  if (well) return;
  std::printf("FAILED %s: PE %d\n", what.c_str(), me);
  ++failures;
}

template <class T>
T* heap(size_t n) {
  return static_cast<T*>(shmem_calloc(n, sizeof(T)));
}
void write(const StreamDriver& driver, void* to, const Bytes& bytes) {
  driver.upload(to, bytes.data(), bytes.size());
}
Bytes read(const StreamDriver& driver, const void* from, size_t nbytes) {
  Bytes bytes(nbytes);
  driver.download(bytes.data(), from, nbytes);
  return bytes;
}
std::vector<size_t> shuffled(size_t n, int seed) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(seed)));
  return order;
}

/// The consumer copies pieces out in an order of its own, each as soon as its counter says that the piece is there.
void gather(const StreamDriver& driver, const StreamDriver& consumer, size_t n, size_t piece, bool in_place) {
  const size_t nbytes = n * sizeof(float), piece_nbytes = piece * sizeof(float), pieces = (n + piece - 1) / piece;
  const size_t all = pieces * static_cast<size_t>(npes);
  auto* const dest = heap<std::byte>(nbytes * static_cast<size_t>(npes));
  auto* const copy = heap<std::byte>(nbytes * static_cast<size_t>(npes));
  auto* const apart = heap<std::byte>(nbytes);
  auto* const arrived = heap<uint64_t>(all);
  std::byte* const source = in_place ? dest + nbytes * static_cast<size_t>(me) : apart;
  const std::string name = "all-gather by pieces of " + std::to_string(piece) + (in_place ? ", in place" : "");
  const auto give = [&] {
    expect(shmemx_fcollectmem_pieces_on_stream(SHMEM_TEAM_WORLD, dest, source, nbytes, piece_nbytes, arrived,
                                               driver.stream) == 0,
           name + " was refused");
  };
  void* graph = nullptr;
  for (uint64_t round = 1; round <= 4; ++round) {
    write(driver, source, operand_of(kFloat, n, me, static_cast<int>(round)));
    for (const size_t i : shuffled(all, static_cast<int>(round) + me)) {
      const size_t k = i / pieces, at = k * nbytes + i % pieces * piece_nbytes;
      const size_t count = std::min(piece_nbytes, nbytes - i % pieces * piece_nbytes);
      shmemx_uint64_wait_until_on_stream(arrived + i, SHMEM_CMP_GE, round, consumer.stream);
      shmemx_putmem_on_stream(copy + at, dest + at, count, me, consumer.stream);
    }
    if (round == 3 && driver.graphs()) graph = driver.capture(give);
    if (graph != nullptr) {
      driver.launch(graph);
    } else {
      give();
    }
    driver.synchronize();
    consumer.synchronize();
    for (int k = 0; k < npes; ++k) {
      const Bytes right = operand_of(kFloat, n, k, static_cast<int>(round));
      expect(read(driver, copy + static_cast<size_t>(k) * nbytes, nbytes) == right,
             name + ", round " + std::to_string(round) + ": the block of PE " + std::to_string(k));
    }
    shmem_barrier_all();
  }
  if (graph != nullptr) driver.call("cuGraphExecDestroy", graph);
  for (void* const array :
       {static_cast<void*>(dest), static_cast<void*>(copy), static_cast<void*>(apart), static_cast<void*>(arrived)})
    shmem_free(array);
}

/// The producer writes pieces of its source and raises their counters while the reduce-scatter is under way.
void scatter(const StreamDriver& driver, const StreamDriver& producer, size_t n, size_t piece) {
  const size_t pieces = (n + piece - 1) / piece, all = pieces * static_cast<size_t>(npes);
  auto* const source = heap<std::byte>(n * sizeof(float) * static_cast<size_t>(npes));
  auto* const made = heap<std::byte>(n * sizeof(float) * static_cast<size_t>(npes));
  auto* const dest = heap<std::byte>(n * sizeof(float));
  auto* const ready = heap<uint64_t>(all);
  auto* const done = heap<uint64_t>(pieces);
  const std::string name = "reduce-scatter by pieces of " + std::to_string(piece);
  shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
  coll.collective = SHMEMX_COLL_REDUCESCATTER;
  coll.datatype = SHMEMX_DATATYPE_FLOAT;
  coll.op = SHMEMX_OP_SUM;
  coll.nelems = n;
  coll.source = source;
  coll.dest = dest;
  const auto block = [&](int from, int to, uint64_t round) {
    return operand_of(kFloat, n, from, static_cast<int>(round) * 16 + to);
  };
  const auto give = [&] {
    expect(shmemx_reducescatter_pieces_on_stream(&coll, piece, ready, done, driver.stream) == 0, name + " was refused");
  };
  void* graph = nullptr;
  for (uint64_t round = 1; round <= 4; ++round) {
    for (int k = 0; k < npes; ++k)
      write(driver, made + static_cast<size_t>(k) * n * sizeof(float), block(me, k, round));
    if (round == 3 && driver.graphs()) graph = driver.capture(give);
    if (graph != nullptr) {
      driver.launch(graph);
    } else {
      give();
    }
    for (const size_t i : shuffled(all, static_cast<int>(round) * 7 + me)) {
      const size_t first = i / pieces * n + i % pieces * piece, count = std::min(piece, n - i % pieces * piece);
      shmemx_putmem_on_stream(source + first * sizeof(float), made + first * sizeof(float), count * sizeof(float), me,
                              producer.stream);
      shmemx_uint64_p_on_stream(ready + i, round, me, producer.stream);
    }
    driver.synchronize();
    std::vector<Bytes> operands;
    for (int k = 0; k < npes; ++k) operands.push_back(block(k, me, round));
    std::vector<const Bytes*> pointers;
    for (const Bytes& operand : operands) pointers.push_back(&operand);
    expect(read(driver, dest, n * sizeof(float)) == reduced(kFloat, SHMEMX_OP_SUM, 1, pointers, node_of_pe(npes)),
           name + ", round " + std::to_string(round));
    const Bytes counts = read(driver, done, pieces * sizeof(uint64_t));
    for (size_t p = 0; p < pieces; ++p)
      expect(reference::load<uint64_t>(counts, p) == round, name + ": counter " + std::to_string(p));
    producer.synchronize();
    shmem_barrier_all();
  }
  if (graph != nullptr) driver.call("cuGraphExecDestroy", graph);
  for (void* const array : {static_cast<void*>(source), static_cast<void*>(made), static_cast<void*>(dest),
                            static_cast<void*>(ready), static_cast<void*>(done)})
    shmem_free(array);
}

}  // namespace

int main() {
  shmem_init();
  if (shmemx_attach_device() != 0) return 1;
  me = shmem_my_pe();
  npes = shmem_n_pes();
  {
    const StreamDriver driver, other;
    for (const bool in_place : {false, true}) {
      gather(driver, other, 1000, 1000, in_place);
      gather(driver, other, 1000, 300, in_place);
    }
    scatter(driver, other, 1000, 1000);
    scatter(driver, other, 1000, 300);
  }
  shmem_barrier_all();
  if (failures == 0 && me == 0) std::printf("ok\n");
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
