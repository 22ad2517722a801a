// SPDX-License-Identifier: BSD-3-Clause
// Overlapped products whose product is the program's own, on the CPU: every cut of the rows, both calls, in place and
// apart, call by call and from a graph, against a product in double precision. For drivers whose memory the CPU can
// use.
#include <algorithm>
#include <cstddef>

#include "tests/gpu/multi_gpu/expect.h"
#include "tests/gpu/multi_gpu/overlap_rig.h"

namespace {

using namespace railshmem::multi;
using railshmem::multi::load;

struct Case {
  size_t rows, n, k;  ///< rows: of a member
  int type, result_type, pieces;
  bool in_place;
  size_t ldc;
  int protocol = 0;
  bool older = false;  ///< the program was built when shmemx_gemm_t ended with `argument`
};

std::string name_of(const char* call, const Case& one) {
  return std::string(call) + ", " + std::to_string(one.rows) + " rows each, n " + std::to_string(one.n) + ", k " +
         std::to_string(one.k) + ", pieces " + std::to_string(one.pieces) + (one.in_place ? ", in place" : "") +
         (one.protocol == 0                     ? ""
          : one.protocol == SHMEMX_PROTOCOL_GET ? ", by get"
                                                : ", by put");
}

shmemx_gemm_t gemm_of(const Case& one, const Handle& handle, CpuProduct& product) {
  shmemx_gemm_t gemm = SHMEMX_GEMM_INITIALIZER;
  gemm.handle = handle.get();
  gemm.m = one.rows * static_cast<size_t>(npes);
  gemm.n = one.n;
  gemm.k = one.k;
  gemm.type = one.type;
  gemm.result_type = one.result_type;
  gemm.pieces = one.pieces;
  gemm.protocol = one.protocol;
  gemm.ldc = one.ldc;
  gemm.product = CpuProduct::give;
  gemm.argument = &product;
  if (one.older) {
    gemm.size = offsetof(shmemx_gemm_t, protocol);
    gemm.protocol = gemm.b_type = -1;  // what is behind the shorter struct
  }
  return gemm;
}

/// Rounds of a call, the last ones from a graph. `fill(round)` writes the operands, `right(round)` looks at the result.
template <class Fill, class Give, class Right>
void rounds(const StreamDriver& driver, Fill&& fill, Give&& give, Right&& right) {
  constexpr int kRounds = 5, kCaptured = 2;
  void* graph = nullptr;
  for (int round = 0; round < kRounds; ++round) {
    fill(round);
    if (round == kCaptured && driver.graphs()) graph = driver.capture(give);
    graph != nullptr ? driver.launch(graph) : give();
    driver.synchronize();
    right(round);
  }
  shmem_barrier_all();
  if (graph != nullptr) driver.call("cuGraphExecDestroy", graph);
}

/// The operand of a member is overwritten as soon as its own stream is over: others must have read it by then.
void gather(const StreamDriver& driver, const Handle& handle, const Case& one) {
  const size_t m = one.rows * static_cast<size_t>(npes);
  const std::string name = name_of("all-gather + product", one);
  const Symmetric gathered(m * one.k * element_of(one.type)), apart(one.rows * one.k * element_of(one.type));
  const Symmetric b(one.k * one.n * element_of(one.type)), c(m * one.ldc * element_of(one.result_type));
  CpuProduct product{&driver, one.n, one.k, one.ldc, one.type, one.result_type, b.at()};
  shmemx_gemm_t gemm = gemm_of(one, handle, product);
  std::byte* const own = gathered.at() + static_cast<size_t>(me) * one.rows * one.k * element_of(one.type);
  gemm.a = one.in_place ? own : apart.at();
  gemm.b = b.at();
  gemm.c = c.at();
  gemm.gathered = gathered.at();
  const auto operand = [&](int pe, int round) {
    return made(one.rows, one.k, one.type, static_cast<uint32_t>(round * 64 + pe), Values::whole);
  };
  rounds(
      driver,
      [&](int round) {
        const Matrix mine = operand(me, round), right = made(one.k, one.n, one.type, 1000u + me, Values::whole);
        driver.upload(const_cast<void*>(gemm.a), mine.bytes.data(), mine.bytes.size());
        driver.upload(b.at(), right.bytes.data(), right.bytes.size());
      },
      [&] { expect(shmemx_ag_gemm_on_stream(&gemm, driver.stream) == 0, name + " was refused"); },
      [&](int round) {
        Matrix result(m, one.ldc, one.result_type), all(m, one.k, one.type);
        driver.download(result.bytes.data(), c.at(), result.bytes.size());
        driver.download(all.bytes.data(), gathered.at(), all.bytes.size());
        const Matrix right = made(one.k, one.n, one.type, 1000u + me, Values::whole);
        bool well = true, came = true;
        for (int pe = 0; pe < npes; ++pe) {
          Matrix left = operand(pe, round);
          came &= std::memcmp(all.row(static_cast<size_t>(pe) * one.rows), left.row(0), left.bytes.size()) == 0;
          for (size_t i = 0; i < one.rows; ++i)
            for (size_t j = 0; j < one.n; ++j) {
              double sum = 0;
              for (size_t l = 0; l < one.k; ++l) sum += left.at(i, l) * right.at(l, j);
              well &= result.at(static_cast<size_t>(pe) * one.rows + i, j) == sum;
            }
        }
        expect(well, name + ", round " + std::to_string(round));
        expect(came, name + ", round " + std::to_string(round) + ": the gathered rows");
      });
}

/// Own rows, then those that come soonest: inside a node member by member, in a ring; between nodes first pieces before
/// second ones, and own node's members before the others.
void expect_order(const CpuProduct& product, const Case& one, const std::string& name) {
  shmemx_topology_t where{};
  where.size = sizeof where;
  expect(shmemx_topology_get(SHMEM_TEAM_WORLD, &where) == 0, "the nodes");
  std::vector<int> owners;
  std::vector<size_t> pieces;  // first rows in the owners' parts
  for (const auto& [first_row, nrows] : product.order) {
    owners.push_back(static_cast<int>(first_row / one.rows));
    pieces.push_back(first_row % one.rows);
  }
  bool right = !owners.empty() && owners[0] == me;
  const auto is_near = [](int pe) { return shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED) >= 0; };
  for (size_t i = 2; right && i < owners.size(); ++i) {
    if (where.nnodes == 1) {
      const auto distance = [](int pe) { return (pe - me + npes) % npes; };
      right = std::pair(distance(owners[i - 1]), pieces[i - 1]) < std::pair(distance(owners[i]), pieces[i]);
    } else {
      const bool was_near = is_near(owners[i - 1]), near = is_near(owners[i]);
      right = was_near == near ? pieces[i - 1] <= pieces[i] : was_near;
    }
  }
  expect(right, name + ": the order of the products");
}

/// One call, whose products must come in order.
void order(const StreamDriver& driver, const Handle& handle) {
  const Case one{6, 4, 4, SHMEMX_DATATYPE_FLOAT, SHMEMX_DATATYPE_FLOAT, 3, true, 4};
  const size_t m = one.rows * static_cast<size_t>(npes);
  const Symmetric gathered(m * one.k * sizeof(float)), b(one.k * one.n * sizeof(float)), c(m * one.n * sizeof(float));
  for (const int protocol : {SHMEMX_PROTOCOL_GET, SHMEMX_PROTOCOL_PUT}) {
    CpuProduct product{&driver, one.n, one.k, one.ldc, one.type, one.result_type, b.at()};
    shmemx_gemm_t gemm = gemm_of(one, handle, product);
    gemm.protocol = protocol;
    gemm.gathered = gathered.at();
    gemm.a = gathered.at() + static_cast<size_t>(me) * one.rows * one.k * sizeof(float);
    gemm.b = b.at();
    gemm.c = c.at();
    expect(shmemx_ag_gemm_on_stream(&gemm, driver.stream) == 0, "a call was refused");
    driver.synchronize();
    expect(product.order.size() == 1 + static_cast<size_t>(npes - 1) * 3, "a call's number of products");
    expect_order(product, one, name_of("all-gather + product", one));
    shmem_barrier_all();
  }
}

void scatter(const StreamDriver& driver, const Handle& handle, const Case& one) {
  const size_t m = one.rows * static_cast<size_t>(npes);
  const std::string name = name_of("product + reduce-scatter", one);
  const Symmetric a(m * one.k * element_of(one.type)), b(one.k * one.n * element_of(one.type));
  const Symmetric c(one.rows * one.n * element_of(one.result_type));
  CpuProduct product{&driver, one.n, one.k, one.n, one.type, one.result_type, b.at()};
  shmemx_gemm_t gemm = gemm_of(one, handle, product);
  gemm.ldc = 0;
  gemm.a = a.at();
  gemm.b = b.at();
  gemm.c = c.at();
  const auto left = [&](int pe, int round) {
    return made(m, one.k, one.type, static_cast<uint32_t>(round * 64 + pe), Values::whole);
  };
  const auto right = [&](int pe) {
    return made(one.k, one.n, one.type, 1000u + static_cast<uint32_t>(pe), Values::whole);
  };
  rounds(
      driver,
      [&](int round) {
        const Matrix mine = left(me, round), second = right(me);
        driver.upload(a.at(), mine.bytes.data(), mine.bytes.size());
        driver.upload(b.at(), second.bytes.data(), second.bytes.size());
      },
      [&] { expect(shmemx_gemm_rs_on_stream(&gemm, driver.stream) == 0, name + " was refused"); },
      [&](int round) {
        Matrix result(one.rows, one.n, one.result_type);
        driver.download(result.bytes.data(), c.at(), result.bytes.size());
        std::vector<double> sums(one.rows * one.n);
        for (int pe = 0; pe < npes; ++pe) {
          const Matrix first = left(pe, round), second = right(pe);
          for (size_t i = 0; i < one.rows; ++i)
            for (size_t j = 0; j < one.n; ++j)
              for (size_t l = 0; l < one.k; ++l)
                sums[i * one.n + j] += first.at(static_cast<size_t>(me) * one.rows + i, l) * second.at(l, j);
        }
        bool well = true;
        for (size_t i = 0; i < sums.size(); ++i) well &= load(result.bytes.data(), i, one.result_type) == sums[i];
        expect(well, name + ", round " + std::to_string(round));
      });
}

/// Calls that follow each other without a wait of the host, with members, products and pieces that are late at random:
/// a member's rows are overwritten as soon as its own stream allows it.
class LateCalls {
 public:
  LateCalls(const StreamDriver& driver, const Handle& handle)
      : driver_(driver),
        handle_(handle),
        inputs_(kRounds * shard()),
        gathered_(shard() * static_cast<size_t>(npes)),
        b_(shape_.k * shape_.n * sizeof(float)),
        c_(result()),
        dealt_(result() / static_cast<size_t>(npes)),
        results_(kRounds * result()),
        sums_(kRounds * result() / static_cast<size_t>(npes)),
        product_{&driver, shape_.n, shape_.k, shape_.ldc, shape_.type, shape_.result_type, b_.at()} {
    product_.late_us = 200;
    product_.random.seed(static_cast<unsigned>(me) + 1);
    for (int round = 0; round < kRounds; ++round)
      upload(inputs_.at() + static_cast<size_t>(round) * shard(), operand(me, round));
    upload(b_.at(), right(me));
  }

  void run() {
    for (int round = 0; round < kRounds; ++round) {
      std::this_thread::sleep_for(std::chrono::microseconds(product_.random() % 1000));
      give(round);
    }
    driver_.synchronize();
    for (int round = 0; round < kRounds; ++round) look(round);
    shmem_barrier_all();
  }

 private:
  static constexpr int kRounds = 20;
  size_t shard() const { return shape_.rows * shape_.k * sizeof(float); }
  size_t result() const { return shape_.rows * static_cast<size_t>(npes) * shape_.n * sizeof(float); }
  Matrix operand(int pe, int round) const {
    return made(shape_.rows, shape_.k, shape_.type, static_cast<uint32_t>(round * 64 + pe), Values::whole);
  }
  Matrix right(int pe) const {
    return made(shape_.k, shape_.n, shape_.type, 1000u + static_cast<uint32_t>(pe), Values::whole);
  }
  void upload(std::byte* to, const Matrix& matrix) const {
    driver_.upload(to, matrix.bytes.data(), matrix.bytes.size());
  }
  void copy(std::byte* to, const std::byte* from, size_t nbytes) const {
    driver_.call("cuMemcpyAsync", static_cast<void*>(to), static_cast<const void*>(from), nbytes, driver_.stream);
  }

  /// New rows, an all-gather + product of them, and a product + reduce-scatter of what was gathered.
  void give(int round) {
    std::minstd_rand shared(static_cast<unsigned>(round) + 1);  // equal on all members
    shape_.pieces = 1 + static_cast<int>(shared() % 6);
    shape_.protocol = 1 + static_cast<int>(shared() % 2);
    std::byte* const own = gathered_.at() + static_cast<size_t>(me) * shard();
    const auto at = static_cast<size_t>(round);
    copy(own, inputs_.at() + at * shard(), shard());
    shmemx_gemm_t gemm = gemm_of(shape_, handle_, product_);
    gemm.gathered = gathered_.at();
    gemm.a = own;
    gemm.b = b_.at();
    gemm.c = c_.at();
    expect(shmemx_ag_gemm_on_stream(&gemm, driver_.stream) == 0, "a call of a stream was refused");
    copy(results_.at() + at * result(), c_.at(), result());
    gemm.a = gathered_.at();
    gemm.c = dealt_.at();
    expect(shmemx_gemm_rs_on_stream(&gemm, driver_.stream) == 0, "a call of a stream was refused");
    const size_t part = result() / static_cast<size_t>(npes);
    copy(sums_.at() + at * part, dealt_.at(), part);
  }

  void look(int round) const {
    Matrix products(shape_.rows * static_cast<size_t>(npes), shape_.n, shape_.type),
        sums(shape_.rows, shape_.n, shape_.type);
    driver_.download(products.bytes.data(), results_.at() + static_cast<size_t>(round) * result(),
                     products.bytes.size());
    driver_.download(sums.bytes.data(), sums_.at() + static_cast<size_t>(round) * sums.bytes.size(), sums.bytes.size());
    bool well = true, added = true;
    for (int pe = 0; pe < npes; ++pe) {
      const Matrix rows = operand(pe, round), second = right(me);
      for (size_t i = 0; i < shape_.rows; ++i)
        for (size_t j = 0; j < shape_.n; ++j)
          well &= products.at(static_cast<size_t>(pe) * shape_.rows + i, j) == element(rows, second, i, j);
    }
    const Matrix mine = operand(me, round);
    for (size_t i = 0; i < shape_.rows; ++i)
      for (size_t j = 0; j < shape_.n; ++j) {
        double sum = 0;
        for (int pe = 0; pe < npes; ++pe) sum += element(mine, right(pe), i, j);
        added &= sums.at(i, j) == sum;
      }
    expect(well, "late calls: the products of round " + std::to_string(round));
    expect(added, "late calls: the sums of round " + std::to_string(round));
  }
  double element(const Matrix& a, const Matrix& b, size_t i, size_t j) const {
    double sum = 0;
    for (size_t l = 0; l < shape_.k; ++l) sum += a.at(i, l) * b.at(l, j);
    return sum;
  }

  const StreamDriver& driver_;
  const Handle& handle_;
  Case shape_{6, 4, 4, SHMEMX_DATATYPE_FLOAT, SHMEMX_DATATYPE_FLOAT, 1, true, 4};
  const Symmetric inputs_, gathered_, b_, c_, dealt_, results_, sums_;
  CpuProduct product_;
};

/// A product of the program's that fails: the call says so, and the other members still get what they wait for.
void refusal(const StreamDriver& driver, const Handle& handle) {
  const Case one{8, 4, 4, SHMEMX_DATATYPE_FLOAT, SHMEMX_DATATYPE_FLOAT, 2, true, 4};
  const size_t m = one.rows * static_cast<size_t>(npes);
  const Symmetric gathered(m * one.k * sizeof(float)), b(one.k * one.n * sizeof(float)), c(m * one.n * sizeof(float));
  CpuProduct product{&driver, one.n, one.k, one.ldc, one.type, one.result_type, b.at()};
  product.refuse = me == 0 ? 0 : -1;
  shmemx_gemm_t gemm = gemm_of(one, handle, product);
  gemm.gathered = gathered.at();
  gemm.a = gathered.at() + static_cast<size_t>(me) * one.rows * one.k * sizeof(float);
  gemm.b = b.at();
  gemm.c = c.at();
  const int status = shmemx_ag_gemm_on_stream(&gemm, driver.stream);
  driver.synchronize();
  expect((status != 0) == (me == 0), "a product that fails");
  shmem_barrier_all();
}

}  // namespace

int main() {
  shmem_init();
  if (shmemx_attach_device() != 0) return 1;
  me = shmem_my_pe();
  npes = shmem_n_pes();
  {
    const StreamDriver driver;
    const Handle handle(SHMEM_TEAM_WORLD, size_t{1} << 20);
    constexpr int kFloat = SHMEMX_DATATYPE_FLOAT, kHalf = SHMEMX_DATATYPE_HALF, kBfloat = SHMEMX_DATATYPE_BFLOAT16;
    constexpr int kE4m3 = SHMEMX_DATATYPE_FLOAT8_E4M3, kE5m2 = SHMEMX_DATATYPE_FLOAT8_E5M2;
    constexpr int protocols[] = {0, SHMEMX_PROTOCOL_GET, SHMEMX_PROTOCOL_PUT};
    for (const int pieces : {SHMEMX_PIECES_WHOLE, 0, 1, 2, 3, 7, SHMEMX_PIECES_MOST}) {
      for (const int protocol : protocols) {
        gather(driver, handle, {10, 7, 9, kFloat, kFloat, pieces, true, 7, protocol});
        gather(driver, handle, {10, 8, 16, kBfloat, kBfloat, pieces, false, 11, protocol});
      }
      scatter(driver, handle, {10, 7, 9, kFloat, kFloat, pieces, false, 7});
      scatter(driver, handle, {10, 8, 16, kBfloat, kFloat, pieces, false, 8});
    }
    for (const int pieces : {1, 2, 4}) {
      for (const int protocol : protocols)
        gather(driver, handle, {300, 3, 4, kHalf, kFloat, pieces, true, 3, protocol});
      scatter(driver, handle, {300, 3, 4, kHalf, kHalf, pieces, false, 3});
      scatter(driver, handle, {300, 5, 2, kBfloat, kBfloat, pieces, false, 5});
    }
    for (const int pieces : {SHMEMX_PIECES_WHOLE, 3}) {
      gather(driver, handle, {11, 7, 9, kE4m3, kHalf, pieces, true, 7});
      scatter(driver, handle, {11, 7, 9, kE5m2, kFloat, pieces, false, 7});
      gather(driver, handle, {10, 7, 9, kFloat, kFloat, pieces, true, 7, 0, true});
    }
    for (const int protocol : protocols) gather(driver, handle, {1, 1, 1, kFloat, kFloat, 1, true, 1, protocol});
    scatter(driver, handle, {1, 1, 1, kFloat, kFloat, 1, false, 1});
    order(driver, handle);
    LateCalls(driver, handle).run();
    refusal(driver, handle);
  }
  shmem_barrier_all();
  if (failures == 0 && me == 0) std::printf("ok\n");
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
