// SPDX-License-Identifier: BSD-3-Clause
// Overlapped products of cuBLASLt on GPUs, bit for bit against products of equal pieces without communication: types,
// layouts, scales, epilogues, every cut, the caller's own product, and a graph that is replayed a thousand times with
// changing input. Exit status 77 where there is no cuBLASLt.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/gpu/multi_gpu/expect.h"
#include "tests/gpu/multi_gpu/overlap_rig.h"

namespace {

using namespace railshmem::multi;
using railshmem::multi::load;

constexpr size_t kMost = 1024 * 512;  // elements of any matrix here
constexpr double kAlpha = 0.5;
constexpr std::array kScales{0.75f, 2.0f};  // of a and b
struct Case {
  const char* name;
  size_t rows, n, k;  ///< rows: of a member
  int type, result_type, pieces;
  int transposed_a, transposed_b, activation;
  bool bias, in_place;
  double beta;
  int compute;
  int protocol = 0;
  int b_type = 0;       ///< 0: `type`
  bool scaled = false;  ///< operands have scales

  int right_type() const { return b_type != 0 ? b_type : type; }
  double factor() const { return kAlpha * (scaled ? double{kScales[0]} * kScales[1] : 1); }
};

/// Buffers for all cases, and the handles: of the job, and of this PE alone, for products without communication.
struct Rig {
  Rig(shmem_team_t alone)
      : handle(SHMEM_TEAM_WORLD, kMost * sizeof(float)),
        single(alone, 0),
        gathered(bytes),
        apart(bytes),
        a(bytes),
        b(bytes),
        bias(bytes),
        c(bytes),
        expected(bytes),
        scales(sizeof kScales * kScaleStep) {
    for (size_t i = 0; i < kScales.size(); ++i) driver.upload(const_cast<float*>(scale(i)), &kScales[i], sizeof(float));
  }
  static constexpr size_t bytes = kMost * sizeof(float);
  static constexpr size_t kScaleStep = 4;  // 16 bytes
  const StreamDriver driver;
  const Handle handle, single;
  const Symmetric gathered, apart, a, b, bias, c, expected, scales;

  const float* scale(size_t i) const { return reinterpret_cast<const float*>(scales.at()) + i * kScaleStep; }
};

shmemx_gemm_t gemm_of(const Rig& rig, const Case& one) {
  shmemx_gemm_t gemm = SHMEMX_GEMM_INITIALIZER;
  gemm.handle = rig.handle.get();
  gemm.m = one.rows * static_cast<size_t>(npes);
  gemm.n = one.n;
  gemm.k = one.k;
  gemm.type = one.type;
  gemm.result_type = one.result_type;
  gemm.compute = one.compute;
  gemm.pieces = one.pieces;
  gemm.protocol = one.protocol;
  gemm.transposed_a = one.transposed_a;
  gemm.transposed_b = one.transposed_b;
  gemm.activation = one.activation;
  gemm.bias = one.bias ? rig.bias.at() : nullptr;
  gemm.beta = one.beta;
  gemm.alpha = kAlpha;
  gemm.b_type = one.b_type;
  gemm.a_scale = one.scaled ? rig.scale(0) : nullptr;
  gemm.b_scale = one.scaled ? rig.scale(1) : nullptr;
  gemm.b = rig.b.at();
  gemm.c = rig.c.at();
  return gemm;
}

Matrix left(const Case& one, int pe, int round, size_t rows) {
  return one.transposed_a != 0 ? made(one.k, rows, one.type, static_cast<uint32_t>(round * 64 + pe), Values::fractions)
                               : made(rows, one.k, one.type, static_cast<uint32_t>(round * 64 + pe), Values::fractions);
}
Matrix right(const Case& one, int pe) {
  const auto seed = 5000u + static_cast<uint32_t>(pe);
  return one.transposed_b != 0 ? made(one.n, one.k, one.right_type(), seed, Values::fractions)
                               : made(one.k, one.n, one.right_type(), seed, Values::fractions);
}

/// The rows of a member in pieces, as docs/overlap.md has it: rows and first row of each.
std::vector<std::pair<size_t, size_t>> pieces_of(size_t rows, int pieces) {
  const size_t wanted = std::min({static_cast<size_t>(std::max(pieces, 1)), rows, size_t{SHMEMX_PIECES_MOST}});
  size_t piece = (rows + wanted - 1) / wanted;
  if (piece >= 128) piece = (piece + 127) / 128 * 128;
  std::vector<std::pair<size_t, size_t>> cut;
  for (size_t at = 0; at < rows; at += piece) cut.emplace_back(at, std::min(piece, rows - at));
  return cut;
}

/// Puts the product of nrows rows without communication into the stream.
int multiply_alone(const Rig& rig, shmemx_gemm_t gemm, size_t nrows, const void* a, void* c, shmemx_stream_t stream) {
  const size_t columns = gemm.transposed_a != 0 ? gemm.m : gemm.k;
  if (gemm.transposed_a != 0) gemm.lda = columns;
  gemm.handle = rig.single.get();
  gemm.m = nrows;
  gemm.pieces = 1;
  gemm.product = nullptr;
  gemm.a = a;
  gemm.c = c;
  gemm.gathered = const_cast<void*>(a);  // in place
  if (gemm.transposed_a == 0) return shmemx_ag_gemm_on_stream(&gemm, stream);
  return shmemx_gemm_rs_on_stream(&gemm, stream);
}

/// The caller's own product: again cuBLASLt's, by way of a handle of this PE alone.
struct Own {
  const Rig* rig;
  const shmemx_gemm_t* gemm;
  size_t rows_done = 0;
  std::vector<std::pair<size_t, size_t>> cut = {};  ///< first row and rows of each call, as the library makes them
  static int give(void* argument, size_t first_row, size_t nrows, const void* a, void* c, shmemx_stream_t stream) {
    Own& own = *static_cast<Own*>(argument);
    own.rows_done += nrows;
    own.cut.emplace_back(first_row, nrows);
    return multiply_alone(*own.rig, *own.gemm, nrows, a, c, stream);
  }
};

void upload(const Rig& rig, std::byte* to, const Matrix& matrix) {
  rig.driver.upload(to, matrix.bytes.data(), matrix.bytes.size());
}

/// An element of a product in double precision, and what its errors are measured by. `row`: of a as it is stored.
struct Exact {
  double sum = 0, size = 0;
  void add(const Case& one, const Matrix& a, const Matrix& b, size_t row, size_t column) {
    for (size_t l = 0; l < one.k; ++l) {
      const double left = one.transposed_a != 0 ? a.at(l, row) : a.at(row, l);
      const double product = one.factor() * left * (one.transposed_b != 0 ? b.at(column, l) : b.at(l, column));
      sum += product;
      size += std::fabs(product);
    }
  }
};

/// Equal bits of two calls prove little where both are wrong: some elements against double precision.
void spot_check(const Case& one, const Matrix& result, const Matrix& before, int pe, const std::string& name) {
  const Matrix a = left(one, pe, 0, one.rows), b = right(one, me),
               bias = made(1, one.n, one.result_type, 9, Values::fractions);
  for (const size_t i : {size_t{0}, one.rows - 1})
    for (const size_t j : {size_t{0}, one.n / 2, one.n - 1}) {
      const size_t row = static_cast<size_t>(pe) * one.rows + i;
      Exact exact;
      exact.add(one, a, b, i, j);
      const double value = exact.sum + (one.bias ? bias.at(0, j) : 0) + one.beta * before.at(row, j);
      expect(std::fabs(result.at(row, j) - activated(one.activation, value)) <= 0.01 * (exact.size + 1),
             name + ": far from the product in double precision");
    }
}

void gather(const Rig& rig, const Case& one, bool own_product) {
  const std::string name = std::string("all-gather + product, ") + one.name + ", pieces " + std::to_string(one.pieces) +
                           (own_product ? ", the caller's product" : "");
  const size_t m = one.rows * static_cast<size_t>(npes), row_nbytes = one.k * element_of(one.type);
  shmemx_gemm_t gemm = gemm_of(rig, one);
  gemm.gathered = rig.gathered.at();
  std::byte* const place = rig.gathered.at() + static_cast<size_t>(me) * one.rows * row_nbytes;
  std::byte* const mine = one.in_place ? place : rig.apart.at();
  gemm.a = mine;
  Own own{&rig, &gemm};
  shmemx_gemm_t given = gemm;
  if (own_product) {
    given.product = Own::give;
    given.argument = &own;
  }
  upload(rig, mine, left(one, me, 0, one.rows));
  upload(rig, rig.b.at(), right(one, me));
  upload(rig, rig.bias.at(), made(1, one.n, one.result_type, 9, Values::fractions));
  const Matrix before = made(m, one.n, one.result_type, 77, Values::fractions);
  upload(rig, rig.c.at(), before);
  upload(rig, rig.expected.at(), before);
  expect(shmemx_ag_gemm_on_stream(&given, rig.driver.stream) == 0, name + " was refused");
  rig.driver.synchronize();
  if (own_product) expect(own.rows_done == m, name + ": rows of the caller's product");
  const size_t result_nbytes = one.n * element_of(one.result_type);
  for (int pe = 0; pe < npes; ++pe) {
    upload(rig, rig.a.at(), left(one, pe, 0, one.rows));
    const bool whole = pe == me || one.pieces == SHMEMX_PIECES_WHOLE;
    for (const auto& [at, nrows] : pieces_of(one.rows, whole ? 1 : one.pieces))
      expect(multiply_alone(rig, gemm, nrows, rig.a.at() + at * row_nbytes,
                            rig.expected.at() + (static_cast<size_t>(pe) * one.rows + at) * result_nbytes,
                            rig.driver.stream) == 0,
             name + ": the product alone was refused");
    rig.driver.synchronize();
  }
  Matrix result(m, one.n, one.result_type), expected(m, one.n, one.result_type);
  rig.driver.download(result.bytes.data(), rig.c.at(), result.bytes.size());
  rig.driver.download(expected.bytes.data(), rig.expected.at(), expected.bytes.size());
  // Whole: one product of other rows at once, whose sums cuBLASLt may take in another order.
  if (one.pieces != SHMEMX_PIECES_WHOLE) expect(result.bytes == expected.bytes, name);
  for (int pe = 0; pe < npes; ++pe) spot_check(one, result, before, pe, name);
  shmem_barrier_all();
}

/// The products of this PE's rows, as the library has them computed: cuBLASLt may add up otherwise where it multiplies
/// other rows at once. First row, in the part, and rows.
std::vector<std::pair<size_t, size_t>> cut_of_own_part(const Rig& rig, const Case& one, shmemx_gemm_t gemm,
                                                       const std::string& name) {
  shmemx_gemm_t alone = gemm;
  Own own{&rig, &alone};
  gemm.product = Own::give;
  gemm.argument = &own;
  expect(shmemx_gemm_rs_on_stream(&gemm, rig.driver.stream) == 0, name + ", the caller's product, was refused");
  rig.driver.synchronize();
  expect(own.rows_done == gemm.m, name + ": rows of the caller's product");
  const size_t first = static_cast<size_t>(me) * one.rows;
  std::vector<std::pair<size_t, size_t>> cut;
  for (const auto& [row, nrows] : own.cut) {
    if (row + nrows <= first || row >= first + one.rows) continue;
    const bool inside = row >= first && row + nrows <= first + one.rows;
    expect(inside, name + ": a product of rows of several members");
    if (inside) cut.emplace_back(row - first, nrows);
  }
  return cut;
}

/// Whether the library's own products of the part are added to the others' while they are stored: where copy engines
/// carry the results.
bool adds_in_product(const Rig& rig) {
  bool mapped = npes > 1;
  for (int pe = 0; pe < npes; ++pe) mapped &= shmem_ptr(rig.a.at(), pe) != nullptr;
  return mapped;
}

/// The members' results of this PE's part, each computed here without communication, and their sum in the order of
/// ranks, rounded once.
struct Sums {
  Sums(const Rig& rig, const Case& one, const shmemx_gemm_t& gemm, const std::vector<std::pair<size_t, size_t>>& cut,
       const std::string& name)
      : all(one.rows, one.n, one.result_type), others(all) {
    const size_t m = one.rows * static_cast<size_t>(npes);
    std::vector<float> sum(one.rows * one.n), sum_of_others(sum);
    largest.resize(sum.size());
    for (int pe = 0; pe < npes; ++pe) {
      Matrix part(one.rows, one.n, one.result_type);
      upload(rig, rig.a.at(), left(one, pe, 0, m));
      upload(rig, rig.b.at(), right(one, pe));
      for (const auto& [at, nrows] : cut)
        expect(multiply_alone(rig, gemm, nrows, operand(rig, one, at), rig.expected.at() + at * part.row_nbytes(),
                              rig.driver.stream) == 0,
               name + ": the product alone was refused");
      rig.driver.synchronize();
      rig.driver.download(part.bytes.data(), rig.expected.at(), part.bytes.size());
      for (size_t i = 0; i < sum.size(); ++i) {
        const auto value = static_cast<float>(load(part.bytes.data(), i, one.result_type));
        sum[i] = pe == 0 ? value : sum[i] + value;
        if (pe != me) sum_of_others[i] = pe == (me == 0 ? 1 : 0) ? value : sum_of_others[i] + value;
        largest[i] += std::fabs(value);
      }
    }
    for (size_t i = 0; i < sum.size(); ++i) {
      store(all.bytes.data(), i, one.result_type, sum[i]);
      store(others.bytes.data(), i, one.result_type, sum_of_others[i]);
    }
  }
  /// Where row `at` of this PE's part begins in the left operand.
  static const std::byte* operand(const Rig& rig, const Case& one, size_t at) {
    const size_t row = static_cast<size_t>(me) * one.rows + at;
    return rig.a.at() + row * (one.transposed_a != 0 ? 1 : one.k) * element_of(one.type);
  }

  Matrix all, others;
  std::vector<double> largest;  ///< sums of absolute values
};

/// What the library's own products give: the others' sum, to which the product is added before it is rounded.
void compare_added(const Rig& rig, const Case& one, shmemx_gemm_t gemm, const Sums& sums,
                   const std::vector<std::pair<size_t, size_t>>& cut, const Matrix& result, const std::string& name) {
  // Products whose operand is transposed are added to nothing by any other call. To results of 16 bits cuBLASLt adds a
  // rounded product where it adds in place, as the call below does.
  if (one.transposed_a != 0 || one.result_type != SHMEMX_DATATYPE_FLOAT) {
    const double unit = one.result_type == SHMEMX_DATATYPE_BFLOAT16 ? 0x1p-7 : 0x1p-10;
    bool near = true;
    for (size_t i = 0; i < one.rows; ++i)
      for (size_t j = 0; j < one.n; ++j)
        near &= std::fabs(result.at(i, j) - sums.all.at(i, j)) <= unit * sums.largest[i * one.n + j];
    return expect(near, name + ": far from the sum in the order of ranks");
  }
  upload(rig, rig.a.at(), left(one, me, 0, gemm.m));
  upload(rig, rig.b.at(), right(one, me));
  upload(rig, rig.expected.at(), sums.others);
  gemm.beta = 1;
  for (const auto& [at, nrows] : cut)
    expect(multiply_alone(rig, gemm, nrows, Sums::operand(rig, one, at), rig.expected.at() + at * result.row_nbytes(),
                          rig.driver.stream) == 0,
           name + ": the product alone, added to c, was refused");
  rig.driver.synchronize();
  Matrix expected(one.rows, one.n, one.result_type);
  rig.driver.download(expected.bytes.data(), rig.expected.at(), expected.bytes.size());
  expect(result.bytes == expected.bytes, name);
}

/// cuBLASLt chooses by the alignment of addresses, too: a member's results fill whole blocks of 256 bytes, so that it
/// is that of the library's room for results.
void scatter(const Rig& rig, const Case& one) {
  const std::string name =
      std::string("product + reduce-scatter, ") + one.name + ", pieces " + std::to_string(one.pieces);
  const size_t m = one.rows * static_cast<size_t>(npes);
  shmemx_gemm_t gemm = gemm_of(rig, one);
  gemm.a = rig.a.at();
  upload(rig, rig.a.at(), left(one, me, 0, m));
  upload(rig, rig.b.at(), right(one, me));
  Matrix result(one.rows, one.n, one.result_type), own = result;
  const auto cut = cut_of_own_part(rig, one, gemm, name);
  rig.driver.download(own.bytes.data(), rig.c.at(), own.bytes.size());
  expect(result.bytes.size() % 256 == 0, name + ": the test's shape does not fill blocks of 256 bytes");
  expect(shmemx_gemm_rs_on_stream(&gemm, rig.driver.stream) == 0, name + " was refused");
  rig.driver.synchronize();
  rig.driver.download(result.bytes.data(), rig.c.at(), result.bytes.size());
  expect(shmemx_gemm_rs_on_stream(&gemm, rig.driver.stream) == 0, name + " was refused");
  rig.driver.synchronize();
  Matrix again = result;
  rig.driver.download(again.bytes.data(), rig.c.at(), again.bytes.size());
  expect(again.bytes == result.bytes, name + ": two equal calls differ");
  shmem_barrier_all();
  const Sums sums(rig, one, gemm, cut, name);
  expect(own.bytes == sums.all.bytes, name + ", the caller's product");
  if (adds_in_product(rig)) {
    compare_added(rig, one, gemm, sums, cut, result, name);
  } else {
    expect(result.bytes == sums.all.bytes, name);
  }
  for (const size_t i : {size_t{0}, one.rows - 1})
    for (const size_t j : {size_t{0}, one.n - 1}) {
      Exact exact;
      for (int pe = 0; pe < npes; ++pe)
        exact.add(one, left(one, pe, 0, m), right(one, pe), static_cast<size_t>(me) * one.rows + i, j);
      expect(std::fabs(result.at(i, j) - exact.sum) <= 0.01 * (exact.size + 1),
             name + ": far from the sum in double precision");
    }
  shmem_barrier_all();
}

/// Both calls in one graph, as a layer has them, with new input before each replay.
void replay(const Rig& rig, int replays, int protocol) {
  constexpr int kInputs = 4;
  const Case one{"a graph", 128, 256, 256,     SHMEMX_DATATYPE_BFLOAT16, SHMEMX_DATATYPE_BFLOAT16, 2, 0, 1, 0, false,
                 true,      0,   0,   protocol};
  const size_t shard = one.rows * one.k * element_of(one.type), result = one.rows * one.n * element_of(one.result_type);
  std::byte* const place = rig.gathered.at() + static_cast<size_t>(me) * shard;
  shmemx_gemm_t first = gemm_of(rig, one), second = gemm_of(rig, one);
  first.a = place;
  first.gathered = rig.gathered.at();
  second.a = rig.c.at();  // m x n, and n is k
  second.c = rig.apart.at();
  upload(rig, rig.b.at(), right(one, me));
  for (int i = 0; i < kInputs; ++i)
    upload(rig, rig.a.at() + static_cast<size_t>(i) * shard, left(one, me, i, one.rows));
  const auto give = [&] {
    expect(shmemx_ag_gemm_on_stream(&first, rig.driver.stream) == 0, "the first call of a graph was refused");
    expect(shmemx_gemm_rs_on_stream(&second, rig.driver.stream) == 0, "the second call of a graph was refused");
  };
  const auto input = [&](int i) {
    rig.driver.call("cuMemcpyAsync", static_cast<void*>(place),
                    static_cast<void*>(rig.a.at() + static_cast<size_t>(i) * shard), shard, rig.driver.stream);
  };
  const auto output = [&] {
    std::vector<std::byte> bytes(result);
    rig.driver.synchronize();
    rig.driver.download(bytes.data(), rig.apart.at(), result);
    return bytes;
  };
  std::vector<std::vector<std::byte>> expected;
  for (int i = 0; i < kInputs; ++i) {
    input(i);
    give();
    expected.push_back(output());
  }
  expect(expected[0] != expected[1], "the results of two inputs are equal");
  void* const graph = rig.driver.capture(give);
  int wrong = 0;
  for (int i = 0; i < replays; ++i) {
    input((i * 7 + i / 5) % kInputs);
    rig.driver.launch(graph);
    // Mostly several replays are under way at once.
    if (i % 3 == 0 || i + 1 == replays) wrong += output() != expected[static_cast<size_t>((i * 7 + i / 5) % kInputs)];
  }
  expect(wrong == 0, std::to_string(wrong) + " replays of a graph");
  shmem_barrier_all();
  rig.driver.call("cuGraphExecDestroy", graph);
}

bool has_float8(const StreamDriver& driver) {
  int device = 0, major = 0, minor = 0;
  driver.call("cuCtxGetDevice", &device);
  driver.call("cuDeviceGetAttribute", &major, 75, device);
  driver.call("cuDeviceGetAttribute", &minor, 76, device);
  return major * 10 + minor >= 89;
}

/// Operands of 8 bits: both kinds, with scales and without, and all types of results.
void float8(const Rig& rig, int pieces) {
  constexpr int kFloat = SHMEMX_DATATYPE_FLOAT, kHalf = SHMEMX_DATATYPE_HALF, kBfloat = SHMEMX_DATATYPE_BFLOAT16;
  constexpr int kE4m3 = SHMEMX_DATATYPE_FLOAT8_E4M3, kE5m2 = SHMEMX_DATATYPE_FLOAT8_E5M2;
  constexpr int kNone = SHMEMX_ACTIVATION_NONE, kRelu = SHMEMX_ACTIVATION_RELU;
  const Case plain{
      "E4M3 to bf16, scales", 160, 128, 192, kE4m3, kBfloat, pieces, 0, 1, kNone, false, true, 0, 0, 0, 0, true};
  gather(rig, plain, false);
  gather(rig, plain, true);
  gather(rig,
         {"E4M3 and E5M2 to half, bias and ReLU", 100, 96, 64, kE4m3, kHalf, pieces, 0, 1, kRelu, true, false, 0, 0, 0,
          kE5m2},
         false);
  gather(rig,
         {"E5M2 and E4M3 to float, scales and beta", 80, 64, 80, kE5m2, kFloat, pieces, 0, 1, kNone, false, true, 1, 0,
          0, kE4m3, true},
         false);
  scatter(rig, plain);
  scatter(rig,
          {"E5M2 and E4M3 to float", 48, 64, 48, kE5m2, kFloat, pieces, 0, 1, kNone, false, false, 0, 0, 0, kE4m3});
}

bool has_cublas() {
  for (const char* const name : {"libcublasLt.so.13", "libcublasLt.so.12"})
    if (dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (!has_cublas()) {
    std::printf("SKIPPED: no libcublasLt.so.13 or .12\n");
    return 77;
  }
  shmem_init();
  if (shmemx_attach_device() != 0) return 1;
  me = shmem_my_pe();
  npes = shmem_n_pes();
  shmem_team_t alone = SHMEM_TEAM_INVALID;
  for (int pe = 0; pe < npes; ++pe) {
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, pe, 1, 1, nullptr, 0, &team);
    if (pe == me) alone = team;
  }
  {
    const Rig rig(alone);
    constexpr int kFloat = SHMEMX_DATATYPE_FLOAT, kHalf = SHMEMX_DATATYPE_HALF, kBfloat = SHMEMX_DATATYPE_BFLOAT16;
    constexpr int kNone = SHMEMX_ACTIVATION_NONE, kRelu = SHMEMX_ACTIVATION_RELU, kGelu = SHMEMX_ACTIVATION_GELU;
    constexpr int kTf32 = SHMEMX_COMPUTE_TF32, kGet = SHMEMX_PROTOCOL_GET, kPut = SHMEMX_PROTOCOL_PUT;
    for (const int pieces : {SHMEMX_PIECES_WHOLE, 0, 1, 2, 3, 5}) {
      const Case plain{"bf16", 320, 256, 192, kBfloat, kBfloat, pieces, 0, 0, kNone, false, true, 0, 0};
      if (pieces != 0) gather(rig, plain, false);
      if (pieces > 0) {
        gather(rig,
               {"half, b transposed, bias and GELU, by put", 200, 128, 96, kHalf, kHalf, pieces, 0, 1, kGelu, true,
                false, 0, 0, kPut},
               false);
        gather(rig, {"bf16 to float, beta", 130, 64, 64, kBfloat, kFloat, pieces, 0, 1, kNone, false, true, 1, 0},
               false);
        gather(rig, {"float by TF32, ReLU", 100, 96, 64, kFloat, kFloat, pieces, 0, 0, kRelu, false, true, 0, kTf32},
               false);
        for (const int protocol : {kGet, kPut}) {
          Case forced = plain;
          forced.protocol = protocol;
          gather(rig, forced, true);
        }
        scatter(rig, plain);
        scatter(rig, {"half, both transposed", 96, 128, 64, kHalf, kHalf, pieces, 1, 1, kNone, false, false, 0, 0});
        scatter(rig, {"bf16 to float", 72, 96, 64, kBfloat, kFloat, pieces, 0, 1, kNone, false, false, 0, 0});
        scatter(rig, {"float", 40, 32, 48, kFloat, kFloat, pieces, 0, 0, kNone, false, false, 0, 0});
        if (has_float8(rig.driver)) float8(rig, pieces);
      }
    }
    for (const int protocol : {kGet, kPut}) replay(rig, argc > 1 ? std::atoi(argv[1]) : 1000, protocol);
  }
  shmem_barrier_all();
  if (failures == 0 && me == 0) std::printf("ok\n");
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
