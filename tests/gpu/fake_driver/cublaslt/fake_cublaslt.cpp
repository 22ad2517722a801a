// SPDX-License-Identifier: BSD-3-Clause
// A cuBLASLt on the CPU: the calls of overlap/lt_library.h, whose products are functions of the host in the stream. It
// computes what layouts, operations and epilogues say, column by column as cuBLASLt does.
#include <dlfcn.h>

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
constexpr size_t kWorkspaceAlignment = 256;  // as cuBLASLt demands it on Hopper

size_t nbytes_of(DataType type) {
  return type == DataType::float32 ? sizeof(float) : sizeof(Half);
}
float load(const void* from, size_t i, DataType type) {
  if (type == DataType::float32) return static_cast<const float*>(from)[i];
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
  const void *at_a, *at_b;
  void* at_d;
  float alpha, beta;
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

void run(void* argument) {
  const Product& p = *static_cast<Product*>(argument);
  const std::vector<float> a = rows_of(p.at_a, p.a, p.operation.transposed_a != 0);
  const std::vector<float> b =
      rows_of(p.at_b, p.b, p.operation.transposed_b == 0);  // its columns, one behind the other
  const size_t depth = p.operation.transposed_a != 0 ? p.a.rows : p.a.columns;
  for (size_t j = 0; j < p.d.columns; ++j)
    for (size_t i = 0; i < p.d.rows; ++i) {
      float sum = 0;
      for (size_t l = 0; l < depth; ++l) sum += a[i * depth + l] * b[j * depth + l];
      const size_t at = j * static_cast<size_t>(p.d.leading) + i;
      float value = p.alpha * sum;
      if (p.beta != 0) value += p.beta * load(p.at_d, at, p.d.type);
      if ((p.operation.epilogue & 4) != 0) value += load(p.operation.bias, i, p.d.type);
      store(p.at_d, at, p.d.type, activated(p.operation.epilogue, value));
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
  const auto long_enough = [](const LtLayout& l) { return l.leading >= static_cast<int64_t>(l.rows); };
  return rows == d.rows && columns == d.columns && left == right && long_enough(a) && long_enough(b) && long_enough(d);
}

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
                                                           : static_cast<void*>(&operation->bias);
  if (nbytes != (field == OperationField::bias ? sizeof(void*) : sizeof(uint32_t))) return kInvalid;
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
                                           Preference, int, Found* found, int* count) {
  *found = {};
  *count = 0;
  if (c != d || !fits(*operation, *a, *b, *d)) return kUnsupported;
  found->algorithm.data[0] = d->columns;  // the product has to be the one that was asked for
  *count = 1;
  return 0;
}
FAKE Status cublasLtMatmul(Handle, Operation operation, const void* alpha, const void* a, Layout layout_a,
                           const void* b, Layout layout_b, const void* beta, const void* c, Layout, void* d,
                           Layout layout_d, const Algorithm* algorithm, void* workspace, size_t,
                           shmemx_stream_t stream) {
  if (!fits(*operation, *layout_a, *layout_b, *layout_d) || c != d || workspace == nullptr ||
      reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlignment != 0 || algorithm->data[0] != layout_d->columns)
    return kInvalid;
  if (reinterpret_cast<uintptr_t>(a) % nbytes_of(layout_a->type) != 0) return kInvalid;
  given().push_back(
      std::make_unique<Product>(Product{*operation, *layout_a, *layout_b, *layout_d, a, b, d,
                                        *static_cast<const float*>(alpha), *static_cast<const float*>(beta)}));
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto launch =
      reinterpret_cast<int (*)(shmemx_stream_t, void (*)(void*), void*)>(dlsym(driver, "cuLaunchHostFunc"));
  return launch(stream, run, given().back().get()) == 0 ? 0 : kInvalid;
}

}  // extern "C"
}  // namespace railshmem::overlap::lt
