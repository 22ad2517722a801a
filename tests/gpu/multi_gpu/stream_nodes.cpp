// SPDX-License-Identifier: BSD-3-Clause
// Collectives in stream order over any nodes, at sizes around the borders of chunks, in place and not, with members
// that come late, on two teams at once, and replayed from a graph. Every result is compared with one reference, to the
// bit: operands meet in rank order inside a node, the nodes' results in the order of nodes.
#include <shmem.h>
#include <shmemx.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/gpu/multi_gpu/stream_driver.h"

namespace {

using railshmem::multi::StreamDriver;

int me = 0, npes = 0, failures = 0;
size_t chunk = 0;  ///< SHMEM_COLLECTIVE_CHUNK

/// Sums of these depend on their order.
float value_of(int pe, size_t i, int round) {
  const auto bits = static_cast<uint32_t>(pe * 7919 + round * 104729) ^ static_cast<uint32_t>(i * 2654435761u);
  return std::ldexp(static_cast<float>(bits % 1000003) - 500000.f, static_cast<int>(bits % 13) - 6);
}

/// The members of a team, and the nodes that they are on.
struct Group {
  shmem_team_t team;
  std::vector<int> pes;
  std::vector<std::vector<int>> nodes;  ///< ranks, in the order of the lowest
  int rank;

  Group(shmem_team_t handle, const int* node_of_pe) : team(handle), rank(shmem_team_my_pe(handle)) {
    std::vector<int> seen;
    for (int r = 0; r < shmem_team_n_pes(team); ++r) {
      pes.push_back(shmem_team_translate_pe(team, r, SHMEM_TEAM_WORLD));
      const int node = node_of_pe[pes.back()];
      size_t at = 0;
      while (at < seen.size() && seen[at] != node) ++at;
      if (at == seen.size()) {
        seen.push_back(node);
        nodes.emplace_back();
      }
      nodes[at].push_back(r);
    }
  }
  size_t size() const { return pes.size(); }
  /// The sum that every member must find at element i of all sources.
  float sum(size_t i, int round) const {
    float all = 0;
    for (size_t node = 0; node < nodes.size(); ++node) {
      float of_node = 0;
      for (size_t k = 0; k < nodes[node].size(); ++k) {
        const float value = value_of(pes[static_cast<size_t>(nodes[node][k])], i, round);
        of_node = k == 0 ? value : of_node + value;
      }
      all = node == 0 ? of_node : all + of_node;
    }
    return all;
  }
};

/// Symmetric arrays, made once by all PEs. The pads behind them must stay as they are.
struct Arrays {
  explicit Arrays(size_t most) : n(most) {
    for (float** const array : {&source, &dest}) *array = static_cast<float*>(shmem_malloc((n + kPad) * sizeof(float)));
  }
  ~Arrays() {
    shmem_free(source);
    shmem_free(dest);
  }
  Arrays(const Arrays&) = delete;

  static constexpr size_t kPad = 64;
  const size_t n;
  float *source = nullptr, *dest = nullptr;
};

constexpr float kGap = -77;

void fill(float* array, const std::vector<float>& values) {
  std::vector<float> all = values;
  all.resize(values.size() + Arrays::kPad, kGap);
  shmem_putmem(array, all.data(), all.size() * sizeof(float), me);
}

void expect(const std::string& what, const float* array, const std::vector<float>& right) {
  std::vector<float> seen(right.size() + Arrays::kPad), all = right;
  all.resize(seen.size(), kGap);
  shmem_getmem(seen.data(), array, seen.size() * sizeof(float), me);
  for (size_t i = 0; i < all.size(); ++i) {
    if (std::memcmp(&seen[i], &all[i], sizeof(float)) == 0) continue;
    if (failures++ < 10)
      std::printf("FAILED %s: PE %d: element %zu of %zu is %a, expected %a\n", what.c_str(), me, i, right.size(),
                  static_cast<double>(seen[i]), static_cast<double>(all[i]));
    return;
  }
}

std::vector<float> values(int pe, size_t first, size_t n, int round) {
  std::vector<float> all(n);
  for (size_t i = 0; i < n; ++i) all[i] = value_of(pe, first + i, round);
  return all;
}

enum class Kind { gather, exchange, deal, sum };
constexpr Kind kKinds[] = {Kind::gather, Kind::exchange, Kind::deal, Kind::sum};

/// One collective of `n` elements, as its name counts them, on a group.
class Call {
 public:
  Call(const Group& group, Kind kind, size_t n, bool in_place, const Arrays& arrays)
      : group_(group), kind_(kind), n_(n), in_place_(in_place), arrays_(arrays) {}

  bool possible() const {
    if (kind_ == Kind::exchange && in_place_) return false;
    return n_ * group_.size() <= arrays_.n;
  }

  void prepare(int round) const {
    fill(arrays_.source, values(me, 0, source_size(), round));
    std::vector<float> dest(dest_size(), kGap);
    if (kind_ == Kind::gather && in_place_) {
      const std::vector<float> own = values(me, 0, n_, round);
      std::copy(own.begin(), own.end(), dest.begin() + group_.rank * static_cast<long>(n_));
    }
    fill(arrays_.dest, dest);
  }

  void give(shmemx_stream_t stream) const {
    switch (kind_) {
      case Kind::gather:
        shmemx_float_fcollect_on_stream(group_.team, arrays_.dest, in_place_ ? arrays_.dest + own() : arrays_.source,
                                        n_, stream);
        return;
      case Kind::exchange:
        shmemx_float_alltoall_on_stream(group_.team, arrays_.dest, arrays_.source, n_, stream);
        return;
      case Kind::deal:
        shmemx_float_sum_reducescatter_on_stream(group_.team, in_place_ ? arrays_.source + own() : arrays_.dest,
                                                 arrays_.source, n_, stream);
        return;
      case Kind::sum:
        shmemx_float_sum_reduce_on_stream(group_.team, in_place_ ? arrays_.source : arrays_.dest, arrays_.source, n_,
                                          stream);
        return;
    }
  }

  void check(const char* how, int round) const {
    std::vector<float> right;
    const float* seen = arrays_.dest;
    switch (kind_) {
      case Kind::gather:
        for (const int pe : group_.pes) append(right, values(pe, 0, n_, round));
        break;
      case Kind::exchange:
        for (const int pe : group_.pes) append(right, values(pe, own(), n_, round));
        break;
      case Kind::deal:
        for (size_t i = 0; i < n_; ++i) right.push_back(group_.sum(own() + i, round));
        if (in_place_) {
          std::vector<float> all = values(me, 0, source_size(), round);
          std::copy(right.begin(), right.end(), all.begin() + static_cast<long>(own()));
          right = all;
          seen = arrays_.source;
        }
        break;
      case Kind::sum:
        for (size_t i = 0; i < n_; ++i) right.push_back(group_.sum(i, round));
        if (in_place_) seen = arrays_.source;
        break;
    }
    expect(describe() + " " + how, seen, right);
  }

 private:
  static void append(std::vector<float>& all, const std::vector<float>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }
  size_t own() const { return static_cast<size_t>(group_.rank) * n_; }
  size_t source_size() const { return kind_ == Kind::exchange || kind_ == Kind::deal ? n_ * group_.size() : n_; }
  size_t dest_size() const { return kind_ == Kind::gather || kind_ == Kind::exchange ? n_ * group_.size() : n_; }
  std::string describe() const {
    static constexpr const char* kNames[] = {"fcollect", "alltoall", "sum_reducescatter", "sum_reduce"};
    return std::string(kNames[static_cast<int>(kind_)]) + " of " + std::to_string(n_) + " elements" +
           (in_place_ ? " in place" : "") + ", " + std::to_string(group_.size()) + " members,";
  }

  const Group& group_;
  const Kind kind_;
  const size_t n_;
  const bool in_place_;
  const Arrays& arrays_;
};

/// Some PE is late, another one each time.
void be_late(int turn) {
  if (turn % npes == me) usleep(3000);
}

void one(const Call& call, const StreamDriver& driver, int turn) {
  int round = 1;
  const auto play = [&](const char* how, auto&& launch) {
    call.prepare(round);
    shmem_barrier_all();
    be_late(turn);
    launch();
    driver.synchronize();
    call.check(how, round++);
    shmem_barrier_all();
  };
  play("given", [&] { call.give(driver.stream); });
  if (!driver.graphs()) return;
  void* const graph = driver.capture([&] { call.give(driver.stream); });
  for (int replay = 0; replay < 2; ++replay) play("replayed", [&] { driver.launch(graph); });
}

/// Elements so that the bytes that go over a link are about a chunk, or some chunks.
std::vector<size_t> sizes(size_t members) {
  const size_t in_chunk = chunk / sizeof(float);
  std::vector<size_t> all = {1, 3, 100, in_chunk - 1, in_chunk, in_chunk + 1, 3 * in_chunk + 5, 17 * in_chunk};
  for (const size_t n : {in_chunk * members - 1, in_chunk * members, in_chunk * members + members})  // of a part
    all.push_back(n);
  return all;
}

void all_calls(const Group& group, const Arrays& arrays, const StreamDriver& driver) {
  int turn = 0;
  for (const Kind kind : kKinds)
    for (const bool in_place : {false, true})
      for (const size_t n : sizes(group.size())) {
        const Call call(group, kind, n, in_place, arrays);
        if (call.possible()) one(call, driver, turn++);
      }
}

/// Calls of two teams in two streams, in another order on every second PE: neither may wait for the other.
void two_teams(const Group& first, const Group& second, const StreamDriver& driver) {
  const StreamDriver other;
  const size_t n = 3 * chunk / sizeof(float);
  const Arrays a(n * first.size()), b(n * second.size());
  for (int round = 1; round <= 6; ++round) {
    const Kind kind = kKinds[round % 4];
    const Call one(first, kind, n, false, a), two(second, kind, n, false, b);
    one.prepare(round);
    two.prepare(round);
    shmem_barrier_all();
    be_late(round);
    if (me % 2 == 0) {
      one.give(driver.stream);
      usleep(1000);
      two.give(other.stream);
    } else {
      two.give(other.stream);
      usleep(1000);
      one.give(driver.stream);
    }
    driver.synchronize();
    other.synchronize();
    one.check("beside another team", round);
    two.check("beside another team", round);
    shmem_barrier_all();
  }
}

/// The program's own collectives on the team while the stream runs one: they do not meet.
void beside_the_host(const Group& group, const StreamDriver& driver) {
  const size_t n = 5 * chunk / sizeof(float);
  const Arrays arrays(n * group.size());
  auto* const mine = static_cast<long*>(shmem_malloc(sizeof(long)));
  auto* const sum = static_cast<long*>(shmem_malloc(sizeof(long)));
  for (int round = 1; round <= 8; ++round) {
    const Call call(group, kKinds[round % 4], n, false, arrays);
    call.prepare(round);
    shmem_long_p(mine, me + round, me);
    shmem_barrier_all();
    be_late(round);
    call.give(driver.stream);
    shmem_long_sum_reduce(group.team, sum, mine, 1);
    long right = 0;
    for (const int pe : group.pes) right += pe + round;
    if (shmem_long_g(sum, me) != right) {
      std::printf("FAILED sum_reduce of the host beside a stream: PE %d\n", me);
      ++failures;
    }
    driver.synchronize();
    call.check("beside the host", round);
    shmem_barrier_all();
  }
  shmem_free(mine);
  shmem_free(sum);
}

}  // namespace

int main() {
  shmem_init();
  me = shmem_my_pe();
  npes = shmem_n_pes();
  if (shmemx_attach_device() != 0) {
    if (me == 0) std::printf("skipped: no GPU\n");
    shmem_finalize();
    return 77;
  }
  const char* const of_env = std::getenv("SHMEM_COLLECTIVE_CHUNK");
  chunk = of_env == nullptr ? size_t{1} << 20 : std::strtoull(of_env, nullptr, 10);
  {
    auto* const node = static_cast<int*>(shmem_malloc(sizeof(int)));
    auto* const nodes = static_cast<int*>(shmem_malloc(sizeof(int) * static_cast<size_t>(npes)));
    shmem_int_p(node, shmem_team_translate_pe(SHMEM_TEAM_SHARED, 0, SHMEM_TEAM_WORLD), me);
    shmem_int_fcollect(SHMEM_TEAM_WORLD, nodes, node, 1);
    std::vector<int> node_of_pe(static_cast<size_t>(npes));
    shmem_getmem(node_of_pe.data(), nodes, node_of_pe.size() * sizeof(int), me);
    const Group world(SHMEM_TEAM_WORLD, node_of_pe.data());
    shmem_team_t handle = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, nullptr, 0, &handle);
    const Group reversed(handle, node_of_pe.data());
    StreamDriver driver;
    {
      const Arrays arrays(18 * chunk / sizeof(float) * static_cast<size_t>(npes));
      all_calls(world, arrays, driver);
      all_calls(reversed, arrays, driver);
    }
    two_teams(world, reversed, driver);
    beside_the_host(world, driver);
    shmem_team_destroy(handle);
    shmem_free(node);
    shmem_free(nodes);
  }
  if (me == 0 || failures > 0)
    std::printf("%s collectives between nodes in stream order: PE %d of %d\n", failures == 0 ? "ok    " : "FAILED", me,
                npes);
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
