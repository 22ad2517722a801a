// SPDX-License-Identifier: BSD-3-Clause
// What the library's own kernels do, on the CPU: the fake driver cannot run a GPU's code.
#include "overlap/kernels/sum.h"
#include "src/cuda/kernels/reduce.h"
#include "src/plugin/execute.h"
#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {
namespace {

template <class T>
T value(const FakeLaunch& launch, size_t index) {
  return *static_cast<const T*>(launch.parameters[index]);
}

/// Kernels run without the fake's lock.
template <class T>
T* seen(T* pointer) {
  const std::lock_guard lock(fake_state()->mutex);
  return reinterpret_cast<T*>(fake_bytes(*fake_state(), address_of(pointer)));
}

/// src/cuda/kernels/words.cu
void word_amo(const FakeLaunch& launch) {
  void* const word = seen(value<void*>(launch, 0));
  const auto op = static_cast<AmoOp>(value<unsigned>(launch, 2));
  const auto operand = value<uint64_t>(launch, 3);
  const auto compare = value<uint64_t>(launch, 4);
  uint64_t old = 0;
  if (value<unsigned>(launch, 1) == 4)
    old = execute_amo(static_cast<uint32_t*>(word), op, static_cast<uint32_t>(operand), static_cast<uint32_t>(compare));
  else
    old = execute_amo(static_cast<uint64_t*>(word), op, operand, compare);
  __atomic_store_n(value<uint64_t*>(launch, 5), old, __ATOMIC_RELEASE);
}

/// src/cuda/kernels/reduce.cu
void reduce(const FakeLaunch& launch) {
  auto reduction = value<DeviceReduction>(launch, 0);
  for (int i = 0; i < reduction.noperands; ++i) reduction.operands[i] = seen(const_cast<void*>(reduction.operands[i]));
  for (int i = 0; i < reduction.nresults; ++i) reduction.results[i] = seen(reduction.results[i]);
  const auto threads = uint64_t{launch.grid[0]} * launch.block[0];
  for (uint64_t thread = 0; thread < threads; ++thread) kernels::reduce(reduction, thread, threads);
}

/// overlap/kernels/sum.cu
void overlap_sum(const FakeLaunch& launch) {
  auto call = value<overlap::SumCall>(launch, 0);
  for (uint32_t k = 0; k < call.n; ++k) call.operand[k] = seen(const_cast<void*>(call.operand[k]));
  call.dest = seen(call.dest);
  const auto threads = uint64_t{launch.grid[0]} * launch.block[0];
  for (uint64_t thread = 0; thread < threads; ++thread) overlap::kernels::sum(call, thread, threads);
}

}  // namespace

const FakeModule& library_kernels() {
  static const FakeModule module = [] {
    FakeModule made{{{"railshmem_word_amo", {{8, 4, 4, 8, 8, 8}, word_amo}},
                     {"railshmem_reduce", {{sizeof(DeviceReduction)}, reduce}},
                     {"railshmem_overlap_sum", {{sizeof(overlap::SumCall)}, overlap_sum}}},
                    {}};
    if (add_stream_kernels) add_stream_kernels(made);
    return made;
  }();
  return module;
}

}  // namespace railshmem::cuda
