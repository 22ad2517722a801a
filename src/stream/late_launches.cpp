// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/late_launches.h"

#include <time.h>

#include <cstring>
#include <new>

#include "include/shmem/detail/portable.h"
#include "src/base/log.h"
#include "src/base/thread.h"

namespace railshmem {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr timespec kPeriod{0, 5'000'000};  // a look is a load; five in a thousand of a core at most

std::byte* new_page() {
  void* const page = std::aligned_alloc(kPageBytes, kPageBytes);
  if (!page) throw std::bad_alloc();
  return static_cast<std::byte*>(std::memset(page, 0, kPageBytes));
}

}  // namespace

LateLaunches::LateLaunches(const cuda::DeviceContext& gpu, int pe)
    : pe_(pe),
      page_(new_page()),
      pinned_(gpu, {page_.get(), kPageBytes}),
      thread_(start_thread({"railshmem-late", "the watch over late launches"}, pe, [this] { run(); })) {}

LateLaunches::~LateLaunches() {
  stop_.store(true, std::memory_order_relaxed);
  thread_.join();
}

void LateLaunches::run() noexcept {
  const auto* const record = reinterpret_cast<const FaultRecord*>(page_.get());
  for (; !stop_.load(std::memory_order_relaxed); nanosleep(&kPeriod, nullptr)) {
    // acquire: pairs with the release in record_fault().
    if (portable::load_acquire(&record->ready) == 0) continue;
    die("shmem_%s in a kernel (block %u, thread %u): a graph was launched that captured this call, but shmem_finalize "
        "has "
        "been called; destroy the graph before",
        name_of(record->call), record->block, record->thread);
  }
}

}  // namespace railshmem
