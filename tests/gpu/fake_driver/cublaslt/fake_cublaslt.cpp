// SPDX-License-Identifier: BSD-3-Clause
// A cuBLASLt on the CPU: the calls of overlap/lt_library.h, whose products are functions of the host in the stream. It
// computes what layouts, operations and epilogues say, column by column as cuBLASLt does. It has four algorithms for
// each product: they add up in orders of their own, take times of their own, and one of them is refused when it is to
// run.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "overlap/lt_library.h"
#include "src/base/small_floats.h"

namespace railshmem::overlap::lt {

struct LtOperation {
  int32_t transposed_a = 0, transposed_b = 0;
  uint32_t epilogue = 1;
  const void* bias = nullptr;
  const float *scale_a = nullptr, *scale_b = nullptr;
};
struct LtLayout {
  DataType type;
  uint64_t rows, columns;
  int64_t leading;
};
struct LtPreference {
  uint64_t workspace = 0;
};

namespace {

constexpr Status kInvalid = 7, kUnsupported = 15;
constexpr size_t kScaleAlignment = 16;
constexpr size_t kWorkspaceAlignment = 256;  // as cuBLASLt demands it on Hopper

/// Work of a stream that each algorithm gives; 0: it is refused.
constexpr std::array kCosts{2, 0, 4, 1};
constexpr uint64_t kAny = 0x6d68746972676c61;  // an algorithm says that it is one of these

bool is_float8(DataType type) {
  return type == DataType::float8_e4m3 || type == DataType::float8_e5m2;
}
size_t nbytes_of(DataType type) {
  return is_float8(type) ? 1 : type == DataType::float32 ? sizeof(float) : sizeof(Half);
}
float load(const void* from, size_t i, DataType type) {
  if (type == DataType::float32) return static_cast<const float*>(from)[i];
  if (type == DataType::float8_e4m3) return static_cast<const Float8E4M3*>(from)[i].value();
  if (type == DataType::float8_e5m2) return static_cast<const Float8E5M2*>(from)[i].value();
  if (type == DataType::half) return static_cast<const Half*>(from)[i].value();
  return static_cast<const Bfloat16*>(from)[i].value();
}
void store(void* to, size_t i, DataType type, float value) {
  if (type == DataType::float32) {
    static_cast<float*>(to)[i] = value;
  } else if (type == DataType::half) {
    static_cast<Half*>(to)[i] = Half(value);
  } else {
    static_cast<Bfloat16*>(to)[i] = Bfloat16(value);
  }
}

struct Product {
  LtOperation operation;
  LtLayout a, b, d;
  const void *at_a, *at_b, *at_c;
  void* at_d;
  float alpha, beta;
  size_t algorithm;
};

/// The matrix, or its transpose, row by row.
std::vector<float> rows_of(const void* at, const LtLayout& layout, bool transposed) {
  std::vector<float> all(layout.rows * layout.columns);
  for (size_t j = 0; j < layout.columns; ++j)
    for (size_t i = 0; i < layout.rows; ++i)
      all[transposed ? j * layout.rows + i : i * layout.columns + j] =
          load(at, j * static_cast<size_t>(layout.leading) + i, layout.type);
  return all;
}

float activated(uint32_t epilogue, float value) {
  if ((epilogue & 2) != 0) return value > 0 ? value : 0;
  if ((epilogue & 32) == 0) return value;
  return 0.5f * value * (1 + std::tanh(0.7978845608f * (value + 0.044715f * value * value * value)));
}

/// All sums of a column grow at once, which the compiler vectorises; each has the order of its algorithm.
void run(void* argument) {
  const Product& p = *static_cast<Product*>(argument);
  const size_t rows = p.d.rows, depth = p.operation.transposed_a != 0 ? p.a.rows : p.a.columns;
  const std::vector<float> a = rows_of(p.at_a, p.a, p.operation.transposed_a == 0);  // its columns
  const std::vector<float> b = rows_of(p.at_b, p.b, p.operation.transposed_b == 0);
  const float scale = (p.operation.scale_a != nullptr ? *p.operation.scale_a : 1) *
                      (p.operation.scale_b != nullptr ? *p.operation.scale_b : 1);
  const size_t first = p.algorithm * depth / kCosts.size();  // where sums begin
  std::vector<float> sums(rows);
  for (size_t j = 0; j < p.d.columns; ++j) {
    std::fill(sums.begin(), sums.end(), 0.f);
    for (size_t n = 0; n < depth; ++n) {
      const size_t l = first + n < depth ? first + n : first + n - depth;
      const float* const column = a.data() + l * rows;
      const float factor = b[j * depth + l];
      for (size_t i = 0; i < rows; ++i) sums[i] += column[i] * factor;
    }
    for (size_t i = 0; i < rows; ++i) {
      const size_t at = j * static_cast<size_t>(p.d.leading) + i;
      float value = p.alpha * scale * sums[i];
      if (p.beta != 0) value += p.beta * load(p.at_c, at, p.d.type);
      if ((p.operation.epilogue & 4) != 0) value += load(p.operation.bias, i, p.d.type);
      store(p.at_d, at, p.d.type, activated(p.operation.epilogue, value));
    }
  }
}

/// Graphs run them again and again.
std::vector<std::unique_ptr<Product>>& given() {
  static std::vector<std::unique_ptr<Product>> all;
  return all;
}

/// Whether the layouts belong to one product.
bool fits(const LtOperation& operation, const LtLayout& a, const LtLayout& b, const LtLayout& d) {
  const uint64_t rows = operation.transposed_a != 0 ? a.columns : a.rows,
                 left = operation.transposed_a != 0 ? a.rows : a.columns;
  const uint64_t columns = operation.transposed_b != 0 ? b.rows : b.columns,
                 right = operation.transposed_b != 0 ? b.columns : b.rows;
  // 8-bit floats: rows of both operands lie along the sum, and begin at multiples of 16 bytes.
  const auto aligned = [](const LtLayout& l) { return l.rows % 16 == 0 && l.leading % 16 == 0; };
  if (is_float8(a.type) != is_float8(b.type)) return false;
  if (is_float8(a.type) &&
      (operation.transposed_a != 1 || operation.transposed_b != 0 || is_float8(d.type) || !aligned(a) || !aligned(b) ||
       !aligned(d) || (a.type == DataType::float8_e5m2 && b.type == a.type)))
    return false;
  if (!is_float8(a.type) && (operation.scale_a != nullptr || operation.scale_b != nullptr)) return false;
  const auto long_enough = [](const LtLayout& l) { return l.leading >= static_cast<int64_t>(l.rows); };
  return rows == d.rows && columns == d.columns && left == right && long_enough(a) && long_enough(b) && long_enough(d);
}

bool is_known(const Algorithm& algorithm, const LtLayout& d) {
  return algorithm.data[0] == d.columns && algorithm.data[1] < kCosts.size() && algorithm.data[2] == kAny &&
         algorithm.data[7] == kAny;
}

void nothing(void*) {}

}  // namespace

extern "C" {

#define FAKE __attribute__((visibility("default")))

FAKE Status cublasLtCreate(Handle* handle) {
  static int any = 0;
  *handle = reinterpret_cast<Handle>(&any);
  return 0;
}
FAKE Status cublasLtDestroy(Handle handle) {
  return handle == nullptr ? kInvalid : 0;
}
FAKE size_t cublasLtGetVersion() {
  return 130000;
}
FAKE const char* cublasLtGetStatusName(Status) {
  return "status of the fake cuBLASLt";
}
FAKE Status cublasLtMatmulDescCreate(Operation* made, Compute, DataType) {
  *made = new LtOperation;
  return 0;
}
FAKE Status cublasLtMatmulDescDestroy(Operation operation) {
  delete operation;
  return 0;
}
FAKE Status cublasLtMatmulDescSetAttribute(Operation operation, OperationField field, const void* value,
                                           size_t nbytes) {
  void* const to = field == OperationField::transposed_a   ? static_cast<void*>(&operation->transposed_a)
                   : field == OperationField::transposed_b ? static_cast<void*>(&operation->transposed_b)
                   : field == OperationField::epilogue     ? static_cast<void*>(&operation->epilogue)
                   : field == OperationField::scale_a      ? static_cast<void*>(&operation->scale_a)
                   : field == OperationField::scale_b      ? static_cast<void*>(&operation->scale_b)
                                                           : static_cast<void*>(&operation->bias);
  const bool pointer =
      field == OperationField::bias || field == OperationField::scale_a || field == OperationField::scale_b;
  if (nbytes != (pointer ? sizeof(void*) : sizeof(uint32_t))) return kInvalid;
  std::memcpy(to, value, nbytes);
  return 0;
}
FAKE Status cublasLtMatrixLayoutCreate(Layout* made, DataType type, uint64_t rows, uint64_t columns, int64_t leading) {
  *made = new LtLayout{type, rows, columns, leading};
  return 0;
}
FAKE Status cublasLtMatrixLayoutDestroy(Layout layout) {
  delete layout;
  return 0;
}
FAKE Status cublasLtMatmulPreferenceCreate(Preference* made) {
  *made = new LtPreference;
  return 0;
}
FAKE Status cublasLtMatmulPreferenceDestroy(Preference preference) {
  delete preference;
  return 0;
}
FAKE Status cublasLtMatmulPreferenceSetAttribute(Preference preference, PreferenceField field, const void* value,
                                                 size_t nbytes) {
  if (field != PreferenceField::workspace) return nbytes == sizeof(uint32_t) ? 0 : kInvalid;
  if (nbytes != sizeof preference->workspace) return kInvalid;
  std::memcpy(&preference->workspace, value, nbytes);
  return 0;
}
FAKE Status cublasLtMatmulAlgoGetHeuristic(Handle, Operation operation, Layout a, Layout b, Layout c, Layout d,
                                           Preference, int most, Found* found, int* count) {
  *count = 0;
  if (c != d || !fits(*operation, *a, *b, *d)) return kUnsupported;
  for (size_t i = 0; i < kCosts.size() && *count < most; ++i) {
    found[i] = {};
    // The product has to be the one that was asked for.
    found[i].algorithm.data = {d->columns, i, kAny, 0, 0, 0, 0, kAny};
    ++*count;
  }
  return 0;
}
FAKE Status cublasLtMatmulAlgoCheck(Handle, Operation operation, Layout a, Layout b, Layout c, Layout d,
                                    const Algorithm* algorithm, Found* found) {
  *found = {};
  return c == d && fits(*operation, *a, *b, *d) && is_known(*algorithm, *d) ? 0 : kUnsupported;
}
FAKE Status cublasLtMatmul(Handle, Operation operation, const void* alpha, const void* a, Layout layout_a,
                           const void* b, Layout layout_b, const void* beta, const void* c, Layout layout_c, void* d,
                           Layout layout_d, const Algorithm* algorithm, void* workspace, size_t,
                           shmemx_stream_t stream) {
  if (!fits(*operation, *layout_a, *layout_b, *layout_d) || layout_c != layout_d || workspace == nullptr ||
      reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlignment != 0 || !is_known(*algorithm, *layout_d))
    return kInvalid;
  const size_t number = algorithm->data[1];
  if (kCosts[number] == 0) return kUnsupported;
  if (reinterpret_cast<uintptr_t>(a) % nbytes_of(layout_a->type) != 0) return kInvalid;
  for (const float* const scale : {operation->scale_a, operation->scale_b})
    if (reinterpret_cast<uintptr_t>(scale) % kScaleAlignment != 0) return kUnsupported;
  given().push_back(
      std::make_unique<Product>(Product{*operation, *layout_a, *layout_b, *layout_d, a, b, c, d,
                                        *static_cast<const float*>(alpha), *static_cast<const float*>(beta), number}));
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto launch =
      reinterpret_cast<int (*)(shmemx_stream_t, void (*)(void*), void*)>(dlsym(driver, "cuLaunchHostFunc"));
  for (int i = 1; i < kCosts[number]; ++i)
    if (launch(stream, nothing, nullptr) != 0) return kInvalid;
  return launch(stream, run, given().back().get()) == 0 ? 0 : kInvalid;
}

}  // extern "C"
}  // namespace railshmem::overlap::lt
