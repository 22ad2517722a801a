// SPDX-License-Identifier: BSD-3-Clause
//
// What a library could do wrong, for a soak that must notice: calls of rail_soak end here and are passed on by their
// profiling names, but now and then not as they should be. RAIL_SOAK_FAULT says which; without it nothing is changed.
#include <pshmem.h>

#include <vector>

#include "traffic.h"

namespace {

/// Every 20th call of the function that is to go wrong: on a busy machine there are few.
bool now(const char* fault) {
  static const char* const chosen = getenv("RAIL_SOAK_FAULT");
  static unsigned calls = 0;
  return chosen && strcmp(chosen, fault) == 0 && ++calls % 20 == 0;
}

struct Put {
  void* dest;
  std::vector<char> data;
  int pe;
};

/// Sends an old message again, to the place of a newer one.
void send_late(void* dest, const void* source, size_t bytes, int pe) {
  static std::vector<Put> last;
  const auto* first = static_cast<const char*>(source);
  for (Put& put : last) {
    const auto distance = static_cast<char*>(dest) - static_cast<char*>(put.dest);
    if (put.pe != pe || distance < -64 || distance > 64) continue;
    if (now("late_write")) {
      pshmem_fence();
      pshmem_putmem(put.dest, put.data.data(), put.data.size(), pe);
    }
    put = {dest, {first, first + bytes}, pe};
    return;
  }
  last.push_back({dest, {first, first + bytes}, pe});
}

}  // namespace

extern "C" {

void shmem_uint64_atomic_add(uint64_t* dest, uint64_t value, int pe) {
  pshmem_uint64_atomic_add(dest, value, pe);
  if (now("add_twice")) pshmem_uint64_atomic_add(dest, value, pe);
}

void shmem_uint64_atomic_xor(uint64_t* dest, uint64_t value, int pe) {
  if (!now("xor_lost")) pshmem_uint64_atomic_xor(dest, value, pe);
}

uint64_t shmem_uint64_atomic_compare_swap(uint64_t* dest, uint64_t cond, uint64_t value, int pe) {
  const uint64_t first = pshmem_uint64_atomic_compare_swap(dest, cond, value, pe);
  return now("swap_answered_twice") ? pshmem_uint64_atomic_compare_swap(dest, cond, value, pe) : first;
}

void shmem_putmem_signal(void* dest, const void* source, size_t bytes, uint64_t* sig, uint64_t signal, int op, int pe) {
  if (op == SHMEM_SIGNAL_SET && now("signal_first")) {
    pshmem_signal_set(sig, signal, pe);
    usleep(200000);  // longer than the receiver may be off its CPU, also where builds run beside it
    return pshmem_putmem(dest, source, bytes, pe);
  }
  pshmem_putmem_signal(dest, source, bytes, sig, signal, op, pe);
  if (op == SHMEM_SIGNAL_ADD && now("signal_twice")) pshmem_signal_add(sig, signal, pe);
}

void shmem_putmem_signal_nbi(void* dest, const void* source, size_t bytes, uint64_t* sig, uint64_t signal, int op,
                             int pe) {
  pshmem_putmem_signal_nbi(dest, source, bytes, sig, signal, op, pe);
  if (op == SHMEM_SIGNAL_SET) send_late(dest, source, bytes, pe);
}

void shmem_signal_set(uint64_t* sig, uint64_t signal, int pe) {
  if (!now("signal_lost")) pshmem_signal_set(sig, signal, pe);
}

void shmem_putmem_nbi(void* dest, const void* source, size_t bytes, int pe) {
  if (!now("put_lost")) pshmem_putmem_nbi(dest, source, bytes, pe);
}

void shmem_getmem(void* dest, const void* source, size_t bytes, int pe) {
  pshmem_getmem(dest, source, now("get_short") ? bytes / 2 : bytes, pe);
}
}
