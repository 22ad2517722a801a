// SPDX-License-Identifier: BSD-3-Clause
// Stream-ordered calls between PEs on elements that lie apart, on many words, and on results that are dealt out, given
// to a stream and, where the driver captures, replayed from a graph with other data each time; and values that the
// stream returns to its caller.
#include <shmem.h>
#include <shmemx.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/gpu/multi_gpu/stream_check.h"
#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using railshmem::multi::holds;
using railshmem::multi::StreamDriver;

int me = 0, npes = 0, failures = 0;

int right() {
  return (me + 1) % npes;
}
int left() {
  return (me + npes - 1) % npes;
}

template <class T>
void check(const std::string& name, const T* array, const std::vector<T>& expected) {
  if (!holds(name.c_str(), array, expected)) ++failures;
}

/// The calls for one type.
template <class T>
struct Calls;
#define CALLS(N, T)                                                            \
  template <>                                                                  \
  struct Calls<T> {                                                            \
    static constexpr const char* name = #N;                                    \
    static constexpr auto iput = shmemx_##N##_iput_on_stream;                  \
    static constexpr auto iget = shmemx_##N##_iget_on_stream;                  \
    static constexpr auto p = shmemx_##N##_p_on_stream;                        \
    static constexpr auto g = shmemx_##N##_g_on_stream;                        \
    static constexpr auto deal_sum = shmemx_##N##_sum_reducescatter_on_stream; \
    static constexpr auto deal_max = shmemx_##N##_max_reducescatter_on_stream; \
  }
CALLS(schar, signed char);
CALLS(short, short);
CALLS(int, int);
CALLS(double, double);
#undef CALLS

/// Small enough for the sum of some PEs' in a byte.
template <class T>
T value_of(int pe, size_t i, int round) {
  return static_cast<T>(pe * 5 + static_cast<int>(i % 7) + round);
}
template <class T>
constexpr T kGap = T{-3};

/// One program for the stream, with the data and the answers of each round.
class Program {
 public:
  virtual ~Program() = default;
  virtual const char* name() const = 0;
  virtual void fill(int round) = 0;
  virtual void give(shmemx_stream_t stream) = 0;
  virtual void check_all(int round) = 0;
};

/// `n` elements, and as many for each PE to reduce.
template <class T>
class Parts final : public Program {
 public:
  explicit Parts(size_t count) : n(count), all(count * static_cast<size_t>(std::max(npes, 3))) {
    for (T** const array : {&source, &spaced, &gathered, &part, &own, &next, &largest})
      *array = static_cast<T*>(shmem_calloc(all, sizeof(T)));
  }
  ~Parts() override {
    for (T* const array : {source, spaced, gathered, part, own, next, largest}) shmem_free(array);
  }
  Parts(const Parts&) = delete;
  const char* name() const override { return Calls<T>::name; }

  void fill(int round) override {
    std::vector<T> values(all);
    for (size_t i = 0; i < all; ++i) values[i] = value_of<T>(me, i, round);
    for (T* const array : {source, own, next}) shmem_putmem(array, values.data(), all * sizeof(T), me);
    std::fill(values.begin(), values.end(), kGap<T>);
    for (T* const array : {spaced, gathered, part, largest}) shmem_putmem(array, values.data(), all * sizeof(T), me);
  }

  void give(shmemx_stream_t stream) override {
    const size_t mine = static_cast<size_t>(me) * n, other = static_cast<size_t>(right()) * n;
    Calls<T>::iput(spaced, source, 3, 2, n, right(), stream);
    Calls<T>::iget(gathered, source, 2, 3, n, right(), stream);
    Calls<T>::iput(gathered + 1, source, 2, 1, n / 2, me, stream);
    Calls<T>::deal_sum(SHMEM_TEAM_WORLD, part, source, n, stream);
    Calls<T>::deal_sum(SHMEM_TEAM_WORLD, own + mine, own, n, stream);
    Calls<T>::deal_sum(SHMEM_TEAM_WORLD, next + other, next, n, stream);
    Calls<T>::deal_max(SHMEM_TEAM_WORLD, largest, source, n, stream);
    shmemx_barrier_all_on_stream(stream);
  }

  void check_all(int round) override {
    const std::string type = Calls<T>::name;
    std::vector<T> apart(all, kGap<T>), near(all, kGap<T>), sums(all, kGap<T>), most(all, kGap<T>), mine(all);
    for (size_t i = 0; i < n; ++i) {
      apart[3 * i] = value_of<T>(left(), 2 * i, round);
      near[2 * i] = value_of<T>(right(), 3 * i, round);
      if (i < n / 2) near[2 * i + 1] = value_of<T>(me, i, round);
      sums[i] = 0;
      for (int pe = 0; pe < npes; ++pe) {
        const T value = value_of<T>(pe, static_cast<size_t>(me) * n + i, round);
        sums[i] = static_cast<T>(sums[i] + value);
        most[i] = std::max(most[i], value);
      }
    }
    for (size_t i = 0; i < all; ++i) mine[i] = value_of<T>(me, i, round);
    check(type + " iput", spaced, apart);
    check(type + " iget", gathered, near);
    check(type + " sum_reducescatter", part, sums);
    check(type + " max_reducescatter", largest, most);
    for (const int where : {me, right()}) {
      std::vector<T> expected = mine;
      std::copy(sums.begin(), sums.begin() + static_cast<long>(n), expected.begin() + where * static_cast<long>(n));
      check(type + " sum_reducescatter in place", where == me ? own : next, expected);
      if (npes == 1) break;
    }
  }

 private:
  const size_t n, all;
  T *source, *spaced, *gathered, *part, *own, *next, *largest;
};

/// Words that PEs set on each other, those of a PE at its places; elements by their size; a source in host memory.
class Words final : public Program {
 public:
  explicit Words(const StreamDriver& driver) : pinned_(static_cast<double*>(driver.pinned(kWords * sizeof(double)))) {
    any_ = static_cast<int*>(shmem_calloc(kWords, sizeof(int)));
    each_ = static_cast<uint64_t*>(shmem_calloc(kWords, sizeof(uint64_t)));
    short_ = static_cast<short*>(shmem_calloc(kWords, sizeof(short)));
    from_ = static_cast<uint64_t*>(shmem_calloc(4 * kWords, sizeof(uint64_t)));
    to_ = static_cast<uint64_t*>(shmem_calloc(4 * kWords, sizeof(uint64_t)));
    spread_ = static_cast<double*>(shmem_calloc(2 * kWords, sizeof(double)));
    bits_ = static_cast<uint32_t*>(shmem_calloc(2, sizeof(uint32_t)));
    status_ = static_cast<int*>(shmem_calloc(kWords, sizeof(int)));
    values_ = static_cast<uint64_t*>(shmem_calloc(kWords, sizeof(uint64_t)));
    operands_ = static_cast<uint32_t*>(shmem_calloc(2 * static_cast<size_t>(npes), sizeof(uint32_t)));
    std::vector<int> left_out(kWords, 0);
    left_out[kWords - 1] = left_out[3] = 1;  // words that nobody sets
    shmem_putmem(status_, left_out.data(), kWords * sizeof(int), me);
    std::vector<uint64_t> wanted(kWords);
    for (size_t i = 0; i < kWords; ++i) wanted[i] = value_at(i);
    shmem_putmem(values_, wanted.data(), kWords * sizeof(uint64_t), me);
  }
  ~Words() override {
    for (void* const array :
         std::initializer_list<void*>{any_, each_, short_, from_, to_, spread_, bits_, status_, values_, operands_})
      shmem_free(array);
  }
  Words(const Words&) = delete;
  const char* name() const override { return "words"; }

  void fill(int round) override {
    std::vector<uint64_t> values(4 * kWords), gaps(4 * kWords, 5);
    for (size_t i = 0; i < values.size(); ++i) values[i] = wide(me, i, round);
    shmem_putmem(from_, values.data(), values.size() * sizeof(uint64_t), me);
    shmem_putmem(to_, gaps.data(), gaps.size() * sizeof(uint64_t), me);
    for (size_t i = 0; i < kWords; ++i) pinned_[i] = value_of<double>(me, i, round);
    std::vector<uint32_t> operands(2 * static_cast<size_t>(npes));
    for (size_t i = 0; i < operands.size(); ++i) operands[i] = bits_of(me, i, round);
    shmem_putmem(operands_, operands.data(), operands.size() * sizeof(uint32_t), me);
  }

  void give(shmemx_stream_t stream) override {
    const auto mine = [](size_t i) { return i % static_cast<size_t>(npes) == static_cast<size_t>(me); };
    for (size_t i = 0; i < kWords; ++i) {
      for (int pe = 0; mine(i) && pe < npes; ++pe) {
        if (i != 3 && i != kWords - 1) shmemx_int_p_on_stream(&any_[i], 7, pe, stream);
        shmemx_uint64_p_on_stream(&each_[i], value_at(i), pe, stream);
        shmemx_short_p_on_stream(&short_[i], -2, pe, stream);
      }
    }
    shmemx_int_wait_until_all_on_stream(any_, kWords, status_, SHMEM_CMP_EQ, 7, stream);
    shmemx_uint64_wait_until_all_vector_on_stream(each_, kWords, nullptr, SHMEM_CMP_EQ, values_, stream);
    shmemx_uint64_wait_until_all_vector_on_stream(each_, kWords, status_, SHMEM_CMP_GE, values_, stream);
    shmemx_short_wait_until_all_on_stream(short_, kWords, nullptr, SHMEM_CMP_LT, -1, stream);
    shmemx_int_wait_until_all_on_stream(&any_[3], 1, &status_[3], SHMEM_CMP_EQ, 7, stream);  // none is waited for
    shmemx_int_wait_until_all_on_stream(nullptr, 0, nullptr, SHMEM_CMP_EQ, 7, stream);
    shmemx_barrier_all_on_stream(stream);  // nobody waits any more
    for (size_t i = 0; i < kWords; ++i) {
      shmemx_int_p_on_stream(&any_[i], 0, me, stream);
      shmemx_uint64_p_on_stream(&each_[i], 0, me, stream);
      shmemx_short_p_on_stream(&short_[i], 0, me, stream);
    }
    shmemx_barrier_all_on_stream(stream);
    shmemx_iput128_on_stream(to_, from_, 2, 1, kWords, right(), stream);
    shmemx_iget64_on_stream(to_ + 2, from_, 4, 1, kWords, left(), stream);
    shmemx_double_iput_on_stream(spread_, pinned_, 2, 1, kWords, right(), stream);
    shmemx_uint32_xor_reducescatter_on_stream(SHMEM_TEAM_WORLD, bits_, operands_, 2, stream);
    shmemx_barrier_all_on_stream(stream);
  }

  void check_all(int round) override {
    std::vector<uint64_t> wides(4 * kWords, 5);
    std::vector<double> doubles(2 * kWords, 0);
    for (size_t i = 0; i < kWords; ++i) {
      for (size_t half : {0, 1}) wides[4 * i + half] = wide(left(), 2 * i + half, round);
      wides[4 * i + 2] = wide(left(), i, round);
      doubles[2 * i] = value_of<double>(left(), i, round);
    }
    check("iput128 and iget64", to_, wides);
    check("iput of host memory", spread_, doubles);
    std::vector<uint32_t> bits(2, 0);
    for (int pe = 0; pe < npes; ++pe)
      for (size_t i = 0; i < 2; ++i) bits[i] ^= bits_of(pe, 2 * static_cast<size_t>(me) + i, round);
    check("xor_reducescatter", bits_, bits);
  }

 private:
  static constexpr size_t kWords = 41;  // more than threads wait
  static uint64_t value_at(size_t i) { return 1000 + i; }
  static uint64_t wide(int pe, size_t i, int round) {
    return static_cast<uint64_t>(pe + 1) << 48 | i << 16 | static_cast<uint64_t>(round);
  }
  static uint32_t bits_of(int pe, size_t i, int round) {
    return static_cast<uint32_t>(pe + round + 1) * 2654435761u + static_cast<uint32_t>(i);
  }

  int *any_, *status_;
  uint64_t *each_, *values_, *from_, *to_;
  short* short_;
  double *spread_, *pinned_;
  uint32_t *bits_, *operands_;
};

/// New data, `play()` on the stream, comparison. Collective.
template <class Play>
void round_of(const char* how, Program& program, StreamDriver& driver, int round, Play&& play) {
  program.fill(round);
  shmem_barrier_all();
  const int before = failures;
  play();
  driver.synchronize();
  program.check_all(round);
  shmem_barrier_all();
  if (failures != before || me == 0)
    std::printf("%s %s, %s, round %d: PE %d\n", failures == before ? "ok    " : "FAILED", how, program.name(), round,
                me);
  std::fflush(stdout);
}

void rounds(Program& program, StreamDriver& driver) {
  int round = 1;
  for (; round <= 2; ++round) round_of("stream", program, driver, round, [&] { program.give(driver.stream); });
  if (!driver.graphs()) return;
  void* const graph = driver.capture([&] { program.give(driver.stream); });
  for (; round <= 4; ++round) round_of("graph", program, driver, round, [&] { driver.launch(graph); });
}

template <class T>
void expect(const char* name, T value, T expected) {
  if (value == expected) return;
  std::printf("FAILED %s: PE %d: %s, expected %s\n", name, me, std::to_string(value).c_str(),
              std::to_string(expected).c_str());
  ++failures;
}

/// What the stream has stored before is what g returns.
template <class T>
void fetch(const StreamDriver& driver) {
  auto* const cell = static_cast<T*>(shmem_calloc(1, sizeof(T)));
  for (int round = 1; round <= 3; ++round) {
    Calls<T>::p(cell, value_of<T>(me, 0, round), right(), driver.stream);
    shmemx_barrier_all_on_stream(driver.stream);
    expect(Calls<T>::name, Calls<T>::g(cell, right(), driver.stream), value_of<T>(me, 0, round));
    expect(Calls<T>::name, Calls<T>::g(cell, me, driver.stream), value_of<T>(left(), 0, round));
    shmemx_barrier_all_on_stream(driver.stream);
  }
  driver.synchronize();
  shmem_free(cell);
}

/// Values of a type that kernels do not know can still be fetched and moved.
void fetch_long_double(const StreamDriver& driver) {
  auto* const cells = static_cast<long double*>(shmem_calloc(3, sizeof(long double)));
  const long double mine[] = {1.5L + me, 2.5L + me};
  shmem_longdouble_put(cells, mine, 2, me);
  shmem_barrier_all();
  shmemx_longdouble_iget_on_stream(cells + 2, cells, 1, 2, 1, right(), driver.stream);
  expect("longdouble g", shmemx_longdouble_g_on_stream(cells + 1, right(), driver.stream), 2.5L + right());
  expect("longdouble iget", shmemx_longdouble_g_on_stream(cells + 2, me, driver.stream), 1.5L + right());
  shmem_free(cells);
}

template <class T>
void parts(StreamDriver& driver, size_t longest) {
  for (const size_t n : {size_t{1}, size_t{37}, longest}) {
    Parts<T> program(n);
    rounds(program, driver);
  }
}

}  // namespace

int main() {
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  if (shmemx_attach_device() != 0) shmem_global_exit(2);
  {
    StreamDriver driver;
    const bool one_node = shmem_team_n_pes(SHMEM_TEAM_SHARED) == npes;  // an element is a command over the network
    const size_t longest = one_node ? 5000 : 1500;
    parts<signed char>(driver, longest);
    parts<short>(driver, longest);
    parts<int>(driver, longest);
    parts<double>(driver, longest);
    {
      Words words(driver);
      rounds(words, driver);
    }
    fetch<signed char>(driver);
    fetch<int>(driver);
    fetch<double>(driver);
    fetch_long_double(driver);
  }
  if (me == 0) std::printf("%s stream-ordered parts, %d PEs\n", failures == 0 ? "ok    " : "FAILED", npes);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
