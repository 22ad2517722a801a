// SPDX-License-Identifier: BSD-3-Clause
// Blocking puts, gets and put_signals in stream order, long enough for the host to run them where PEs are not mapped:
// sources that change behind them, plain memory, graphs that are launched many times and at once, many streams of
// several threads, and kernels that do not end before a put has arrived. `killed`, `late`: how jobs end that go wrong.
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/gpu/multi_gpu/stream_check.h"
#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using railshmem::multi::StreamDriver;

constexpr size_t kLong = 20'000;  // elements, 80 KB: no kernel moves so many to a PE that is not mapped
constexpr size_t kRows = 8;

int me = 0, npes = 0, right = 0, left = 0, failures = 0;

int value_of(int pe, size_t i, int round) {
  return pe * 1009 + static_cast<int>(i % 977) + round * 31;
}
std::vector<int> values(int pe, size_t n, int round) {
  std::vector<int> all(n);
  for (size_t i = 0; i < n; ++i) all[i] = value_of(pe, i, round);
  return all;
}
void check(const char* what, const int* array, const std::vector<int>& expected) {
  if (!railshmem::multi::holds(what, array, expected)) ++failures;
}

/// Symmetric memory of ints or words, zero at first.
template <class T>
class Symmetric {
 public:
  explicit Symmetric(size_t n) : array_(static_cast<T*>(shmem_calloc(n, sizeof(T)))) {}
  ~Symmetric() { shmem_free(array_); }
  Symmetric(const Symmetric&) = delete;
  operator T*() const { return array_; }

 private:
  T* const array_;
};

/// New values in this PE's array; afterwards all PEs have theirs.
void fill(int* array, size_t n, int round) {
  const std::vector<int> mine = values(me, n, round);
  shmem_putmem(array, mine.data(), n * sizeof(int), me);
  shmem_barrier_all();
}
void end_round(const StreamDriver& driver) {
  driver.synchronize();
  shmem_barrier_all();
}

/// Each row goes through one array, which the next row overwrites as soon as the stream has passed the call.
void changing_sources(const StreamDriver& driver, size_t n) {
  const Symmetric<int> rows(kRows * n), source(n), came(kRows * n), got(n), fetched(kRows * n);
  const auto give = [&] {
    for (size_t k = 0; k < kRows; ++k) {
      driver.copy(source, rows + k * n, n * sizeof(int));
      shmemx_int_put_on_stream(came + k * n, source, n, right, driver.stream);
      shmemx_int_get_on_stream(got, rows + k * n, n, right, driver.stream);
      driver.copy(fetched + k * n, got, n * sizeof(int));
    }
  };
  int round = 1;
  const auto play = [&](const std::string& how, auto&& launch) {
    fill(rows, kRows * n, round);
    launch();
    end_round(driver);
    check(("puts of a source that changes, " + how).c_str(), came, values(left, kRows * n, round));
    check(("gets into one array, " + how).c_str(), fetched, values(right, kRows * n, round));
    ++round;
    shmem_barrier_all();
  };
  for (int i = 0; i < 3; ++i) play("given", give);
  if (!driver.graphs()) return;
  void* const graph = driver.capture(give);
  for (int i = 0; i < 10; ++i) play("replayed", [&] { driver.launch(graph); });
  driver.call("cuGraphExecDestroy", graph);
}

/// Memory that is not symmetric, of the GPU and of the host.
void plain_memory(const StreamDriver& driver) {
  const size_t nbytes = kLong * sizeof(int);
  const Symmetric<int> mine(kLong), came(kLong), fetched(kLong);
  unsigned long long on_gpu = 0;
  driver.call("cuMemAlloc_v2", &on_gpu, nbytes);
  int round = 1;
  for (int* const plain : {reinterpret_cast<int*>(on_gpu), static_cast<int*>(driver.pinned(nbytes))}) {
    fill(mine, kLong, round);
    driver.copy(plain, mine, nbytes);
    shmemx_int_put_on_stream(came, plain, kLong, right, driver.stream);
    shmemx_int_get_on_stream(plain, mine, kLong, right, driver.stream);
    driver.copy(fetched, plain, nbytes);
    end_round(driver);
    check("put from plain memory", came, values(left, kLong, round));
    check("get into plain memory", fetched, values(right, kLong, round));
    ++round;
    shmem_barrier_all();
  }
  driver.call("cuMemFree_v2", on_gpu);
}

/// Who sees the signal of a row sees the row; the next row comes when this one was read.
void signals_behind_data(const StreamDriver& driver, size_t n) {
  const Symmetric<int> rows(kRows * n), came(n), seen(kRows * n);
  const Symmetric<uint64_t> words(2);
  fill(rows, kRows * n, 3);
  for (size_t k = 0; k < kRows; ++k) {
    const uint64_t number = k + 1;
    shmemx_int_put_signal_on_stream(came, rows + k * n, n, words, number, SHMEM_SIGNAL_SET, right, driver.stream);
    shmemx_signal_wait_until_on_stream(words, SHMEM_CMP_GE, number, driver.stream);
    driver.copy(seen + k * n, came, n * sizeof(int));
    shmemx_signal_op_on_stream(words + 1, number, SHMEM_SIGNAL_SET, left, driver.stream);
    shmemx_signal_wait_until_on_stream(words + 1, SHMEM_CMP_GE, number, driver.stream);
  }
  end_round(driver);
  check("data behind its signal", seen, values(left, kRows * n, 3));
  shmem_barrier_all();
}

/// What a graph adds is added by each launch, also by launches that follow each other at once.
void launches_add(const StreamDriver& driver) {
  if (!driver.graphs()) return;
  constexpr int kLaunches = 40;
  const Symmetric<int> rows(kLong), came(kLong);
  const Symmetric<uint64_t> words(1);
  fill(rows, kLong, 4);
  void* const graph = driver.capture([&] {
    shmemx_int_put_on_stream(came, rows, kLong, right, driver.stream);
    shmemx_int_put_signal_on_stream(came, rows, kLong, words, 2, SHMEM_SIGNAL_ADD, right, driver.stream);
  });
  for (int i = 0; i < kLaunches; ++i) driver.launch(graph);
  end_round(driver);
  check("puts of many launches", came, values(left, kLong, 4));
  if (shmem_uint64_g(words, me) != 2 * kLaunches) {
    std::printf("FAILED: PE %d: the signals of %d launches give %lu\n", me, kLaunches,
                static_cast<unsigned long>(shmem_uint64_g(words, me)));
    ++failures;
  }
  driver.call("cuGraphExecDestroy", graph);
  shmem_barrier_all();
}

/// Two instances of one graph run at once, and both come to the same call.
void one_graph_at_once(const StreamDriver& driver) {
  if (!driver.graphs()) return;
  const StreamDriver other;
  const Symmetric<int> rows(kLong), came(kLong), signalled(kLong), got(kLong);
  const Symmetric<uint64_t> words(1);
  void* graph = nullptr;
  driver.call("cuStreamBeginCapture_v2", driver.stream, 1);
  shmemx_int_put_on_stream(came, rows, kLong, right, driver.stream);
  shmemx_int_get_on_stream(got, rows, kLong, right, driver.stream);
  shmemx_int_put_signal_on_stream(signalled, rows, kLong, words, 9, SHMEM_SIGNAL_SET, right, driver.stream);
  driver.call("cuStreamEndCapture", driver.stream, &graph);
  void* instances[2];
  for (void*& instance : instances) driver.call("cuGraphInstantiateWithFlags", &instance, graph, 0ull);
  driver.call("cuGraphDestroy", graph);
  for (int round = 5; round < 8; ++round) {
    fill(rows, kLong, round);
    for (int i = 0; i < 10; ++i) {
      driver.launch(instances[0]);
      other.launch(instances[1]);
    }
    other.synchronize();
    end_round(driver);
    check("put of two instances", came, values(left, kLong, round));
    check("get of two instances", got, values(right, kLong, round));
    check("put_signal of two instances", signalled, values(left, kLong, round));
    shmem_barrier_all();
  }
  for (void* const instance : instances) driver.call("cuGraphExecDestroy", instance);
}

/// More streams than transfers are under way at once, by two threads.
void many_streams() {
  constexpr size_t kStreams = 24, kPuts = 6, kOf = 6000;
  const Symmetric<int> rows(kOf), came(kStreams * kOf);
  std::vector<std::unique_ptr<StreamDriver>> drivers;
  for (size_t i = 0; i < kStreams; ++i) drivers.push_back(std::make_unique<StreamDriver>());
  fill(rows, kOf, 8);
  const auto give = [&](size_t first) {
    for (size_t put = 0; put < kPuts; ++put)
      for (size_t i = first; i < kStreams; i += 2)
        shmemx_int_put_on_stream(came + i * kOf, rows, kOf, right, drivers[i]->stream);
  };
  std::thread second([&] { give(1); });
  give(0);
  second.join();
  for (const auto& driver : drivers) driver->synchronize();
  shmem_barrier_all();
  std::vector<int> expected;
  for (size_t i = 0; i < kStreams; ++i) {
    const std::vector<int> row = values(left, kOf, 8);
    expected.insert(expected.end(), row.begin(), row.end());
  }
  check("puts of many streams", came, expected);
  shmem_barrier_all();
}

/// A kernel that waits ends only when the put behind it has arrived. Where one kernel runs at a time, the put cannot be
/// one.
void beside_a_kernel(const StreamDriver& driver) {
  const StreamDriver other;
  const Symmetric<int> rows(kLong), came(kLong);
  const Symmetric<uint64_t> words(2);
  for (uint64_t number = 1; number <= 5; ++number) {
    const int round = static_cast<int>(number);
    fill(rows, kLong, round);
    shmemx_signal_wait_until_on_stream(words, SHMEM_CMP_GE, number, driver.stream);
    shmemx_int_put_signal_on_stream(came, rows, kLong, words + 1, number, SHMEM_SIGNAL_SET, right, other.stream);
    shmem_signal_wait_until(words + 1, SHMEM_CMP_GE, number);
    check("put beside a kernel", came, values(left, kLong, round));
    shmem_signal_set(words, number, left);
    shmem_quiet();
    other.synchronize();
    end_round(driver);
  }
}

/// The peer dies while puts to it are under way.
[[noreturn]] void lose_a_peer(const StreamDriver& driver) {
  const Symmetric<int> rows(kLong), came(kLong);
  shmem_barrier_all();
  if (me == 1) raise(SIGKILL);
  for (;;) {
    shmemx_int_put_on_stream(came, rows, kLong, right, driver.stream);
    driver.synchronize();
  }
}

/// A graph is launched after the library has gone.
[[noreturn]] void launch_late(const StreamDriver& driver) {
  auto* const rows = static_cast<int*>(shmem_malloc(2 * kLong * sizeof(int)));
  void* const graph =
      driver.capture([&] { shmemx_int_put_on_stream(rows, rows + kLong, kLong, right, driver.stream); });
  shmem_finalize();
  if (me == 0) {
    driver.launch(graph);
    driver.synchronize();
  }
  std::_Exit(me == 0 ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  if (shmemx_attach_device() != 0) shmem_global_exit(2);
  {
    const StreamDriver driver;
    if (argc > 1 && std::strcmp(argv[1], "killed") == 0) lose_a_peer(driver);
    if (argc > 1 && std::strcmp(argv[1], "late") == 0) launch_late(driver);
    for (const size_t n : {size_t{3}, size_t{5000}, kLong}) changing_sources(driver, n);
    plain_memory(driver);
    for (const size_t n : {size_t{100}, kLong}) signals_behind_data(driver, n);
    launches_add(driver);
    one_graph_at_once(driver);
    many_streams();
    beside_a_kernel(driver);
  }
  if (me == 0 || failures > 0)
    std::printf("%s blocking puts and gets on streams: PE %d of %d\n", failures == 0 ? "ok    " : "FAILED", me, npes);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
