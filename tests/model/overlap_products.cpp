// SPDX-License-Identifier: BSD-3-Clause
#include "tests/model/overlap_products.h"

#include "overlap/lt_library.h"
#include "src/base/error.h"

namespace railshmem::model {

std::function<void(const GivenProduct&)>& on_product() {
  static std::function<void(const GivenProduct&)> called;
  return called;
}

}  // namespace railshmem::model

namespace railshmem::overlap::lt {

struct LtLayout {
  uint64_t columns;
};

namespace {

template <class T>
Status make_any(T* made) {
  static int any = 0;
  *made = reinterpret_cast<T>(&any);
  return 0;
}

// What cuBLASLt's first operand is to it is the library's b: it multiplies the transposes.
Status multiply(Handle, Operation, const void*, const void*, Layout, const void* a, Layout layout_a, const void* beta,
                const void* added, Layout, void* c, Layout, const Algorithm*, void*, size_t, shmemx_stream_t stream) {
  model::on_product()({layout_a->columns, a, *static_cast<const float*>(beta), added, c, stream});
  return 0;
}

Calls made_calls() {
  Calls calls{};
  calls.create = [](Handle* handle) { return make_any(handle); };
  calls.destroy = [](Handle) { return 0; };
  calls.version = [] { return size_t{1}; };
  calls.status_name = [](Status) { return "status of the model"; };
  calls.operation_create = [](Operation* operation, Compute, DataType) { return make_any(operation); };
  calls.operation_destroy = [](Operation) { return 0; };
  calls.operation_set = [](Operation, OperationField, const void*, size_t) { return 0; };
  calls.layout_create = [](Layout* layout, DataType, uint64_t, uint64_t columns, int64_t) {
    *layout = new LtLayout{columns};
    return 0;
  };
  calls.layout_destroy = [](Layout layout) {
    delete layout;
    return 0;
  };
  calls.preference_create = [](Preference* preference) { return make_any(preference); };
  calls.preference_destroy = [](Preference) { return 0; };
  calls.preference_set = [](Preference, PreferenceField, const void*, size_t) { return 0; };
  calls.find = [](Handle, Operation, Layout, Layout, Layout, Layout, Preference, int, Found* found, int* count) {
    *found = {};
    *count = 1;
    return 0;
  };
  calls.multiply = multiply;
  return calls;
}

}  // namespace

const Calls& library() {
  static const Calls calls = made_calls();
  return calls;
}

void must(Status status, const char* call) {
  if (status != 0) throw Error(text("%s: status %d", call, status));
}

}  // namespace railshmem::overlap::lt
