// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/cpu_windows.h"

#include <cstring>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/cuda/device_copies.h"

namespace railshmem::cuda {
namespace {

/// Earlier stores to memory that is mapped as write-combining leave the CPU before later ones.
void order_stores() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#elif defined(__aarch64__)
  asm volatile("dsb st" ::: "memory");
#else
  __sync_synchronize();
#endif
}

template <class Word>
bool is_word(const std::byte* place, size_t nbytes) noexcept {
  return nbytes == sizeof(Word) && reinterpret_cast<uintptr_t>(place) % sizeof(Word) == 0;
}
template <class Word>
void store_word(std::byte* to, const std::byte* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  // release: pairs with what kernels, or host threads that play them, acquire.
  __atomic_store_n(reinterpret_cast<Word*>(to), word, __ATOMIC_RELEASE);
}
template <class Word>
void load_word(std::byte* to, const std::byte* from) noexcept {
  const Word word = __atomic_load_n(reinterpret_cast<const Word*>(from), __ATOMIC_ACQUIRE);
  std::memcpy(to, &word, sizeof word);
}

}  // namespace

void CpuWindow::store(std::byte* to, const std::byte* from, size_t nbytes) const noexcept {
  std::byte* const place = at(to);
  if (is_word<uint64_t>(place, nbytes)) {
    store_word<uint64_t>(place, from);
  } else if (is_word<uint32_t>(place, nbytes)) {
    store_word<uint32_t>(place, from);
  } else {
    copy_to_(handle_, place, from, nbytes);
  }
  order_stores();
}

void CpuWindow::load(std::byte* to, const std::byte* from, size_t nbytes) const noexcept {
  const std::byte* const place = at(from);
  if (is_word<uint64_t>(place, nbytes)) return load_word<uint64_t>(to, place);
  if (is_word<uint32_t>(place, nbytes)) return load_word<uint32_t>(to, place);
  for (size_t i = 0; i < nbytes; ++i) load_word<uint8_t>(to + i, place + i);
}

void CpuWindow::settle(const std::byte* place) const noexcept {
  std::byte unused;
  load_word<uint8_t>(&unused, at(place));
}

CpuWindows::CpuWindows(const GdrApi& api) : api_(api), session_(api.open()) {
  if (session_ == nullptr)
    throw Error(
        "SHMEM_GDRCOPY is 1, but gdr_open() fails: load GDRCopy's kernel module gdrdrv and let this user open "
        "/dev/gdrdrv, or "
        "set it to 0");
}

CpuWindows::~CpuWindows() {
  for (size_t i = count_.load(std::memory_order_relaxed); i-- > 0;) close(windows_[i]);
  api_.close(session_);
}

void CpuWindows::close(const CpuWindow& window) noexcept {
  if (window.cpu_ != nullptr) api_.unmap(session_, window.handle_, window.cpu_, window.nbytes_);
  api_.unpin(session_, window.handle_);
}

void CpuWindows::add(std::byte* device, size_t nbytes, DeviceCopies& copies) {
  const size_t n = count_.load(std::memory_order_relaxed);
  if (n == kMost) {
    log_debug("%zu windows of the CPU are open; further memory is copied by copy engines", n);
    return;
  }
  CpuWindow& window = windows_[n];
  window = {};
  window.device_ = device;
  window.nbytes_ = nbytes;
  window.copy_to_ = api_.copy_to;
  const auto fail = [&](const char* call, int code) {
    throw Error(text(
        "SHMEM_GDRCOPY is 1, but %s of %zu bytes of GPU memory gives %d (%s); set it to 0, or ask for a smaller heap "
        "(SHMEM_SYMMETRIC_SIZE): GPUs map only so much (nvidia-smi -q, BAR1)",
        call, nbytes, code, std::strerror(code)));
  };
  if (const int code = api_.pin(session_, reinterpret_cast<uintptr_t>(device), nbytes, 0, 0, &window.handle_);
      code != 0)
    fail("gdr_pin_buffer", code);
  void* mapped = nullptr;
  if (const int code = api_.map(session_, window.handle_, &mapped, nbytes); code != 0) {
    close(window);
    fail("gdr_map", code);
  }
  window.cpu_ = static_cast<std::byte*>(mapped);
  try {
    for (const size_t place : {nbytes / 2, nbytes - sizeof(uint64_t)}) check(window, device + place, copies);
  } catch (const Error&) {
    close(window);
    throw;
  }
  // release: pairs with find().
  count_.store(n + 1, std::memory_order_release);
}

/// Copy engines see what the CPU has written, and the CPU sees what they have written.
void CpuWindows::check(const CpuWindow& window, std::byte* word, DeviceCopies& copies) const {
  uint64_t before = 0, seen = 0;
  copies.copy(&before, word, sizeof before);
  const uint64_t wanted = ~before ^ 0x5a17c0de;
  window.store(word, reinterpret_cast<const std::byte*>(&wanted), sizeof wanted);
  window.settle(word);
  copies.copy(&seen, word, sizeof seen);
  copies.copy(word, &before, sizeof before);
  uint64_t back = 0;
  window.load(reinterpret_cast<std::byte*>(&back), word, sizeof back);
  if (seen != wanted || back != before)
    throw Error("SHMEM_GDRCOPY is 1, but the CPU's window does not show the GPU's memory; set it to 0");
}

size_t CpuWindows::nbytes() const noexcept {
  size_t sum = 0;
  for (size_t i = 0; i < count_.load(std::memory_order_acquire); ++i) sum += windows_[i].nbytes_;
  return sum;
}

}  // namespace railshmem::cuda
