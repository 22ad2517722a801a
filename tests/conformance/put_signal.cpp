// SPDX-License-Identifier: BSD-3-Clause
//
// Put with signal: every type and form, SET and ADD; a PE that sees the signal sees its data.
#include <vector>

#include "check.h"
#include "type_lists.h"

namespace {

using PutSignal = void (*)(void* dest, const void* source, size_t n, uint64_t* sig, uint64_t value, int op, int pe);

struct Row {
  const char* name;
  size_t element;
  PutSignal form[4];  // blocking, nbi, blocking with context, nbi with context
};

// clang-format off
#define CALL(T, NAME) [](void* d, const void* s, size_t n, uint64_t* sig, uint64_t v, int op, int pe) { \
      shmem_##NAME(static_cast<T*>(d), static_cast<const T*>(s), n, sig, v, op, pe); }
#define CALL_CTX(T, NAME) [](void* d, const void* s, size_t n, uint64_t* sig, uint64_t v, int op, int pe) { \
      shmem_ctx_##NAME(SHMEM_CTX_DEFAULT, static_cast<T*>(d), static_cast<const T*>(s), n, sig, v, op, pe); }
#define FORMS(T, NAME) {CALL(T, NAME), CALL(T, NAME##_nbi), CALL_CTX(T, NAME), CALL_CTX(T, NAME##_nbi)}
#define TYPED(N, T) {#N, sizeof(T), FORMS(T, N##_put_signal)},
#define SIZED(BITS) {#BITS, BITS / 8, FORMS(void, put##BITS##_signal)},
const Row kRows[] = {RAILSHMEM_FOR_RMA_TYPES(TYPED) RAILSHMEM_FOR_SIZES(SIZED) {"mem", 1, FORMS(void, putmem_signal)}};
// clang-format on
const Row& kMem = kRows[sizeof kRows / sizeof kRows[0] - 1];

constexpr size_t kCounts[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 63, 64, 65, 1000, 4095, 4096, 4097};
constexpr size_t kLargest = (3 << 20) + 5;

int me, npes, right, left;
uint64_t* heap_signal;
uint64_t* ack;
uint64_t acks = 0;
uint64_t global_signal;
uint64_t heap_history, global_history;  // what the two words hold once everything so far has arrived
unsigned char global_data[65536];

/// Tells the left neighbour that its data has been checked, and waits until the right one tells so of ours.
void hand_back() {
  ++acks;
  shmem_uint64_atomic_add(ack, 1, left);
  shmem_uint64_wait_until(ack, SHMEM_CMP_GE, acks);
}

/// One transfer to the right, and the check of the one that arrives from the left.
void round_trip(const Row& row, int form, void* dest, unsigned char* source, size_t n, uint64_t* sig, int op,
                unsigned round) {
  const size_t nbytes = n * row.element;
  check_step("%s form %d op %d, %zu elements, round %u", row.name, form, op, n, round);
  check_fill(source, nbytes, me + round);
  uint64_t& history = sig == heap_signal ? heap_history : global_history;
  const uint64_t want = history + (op == SHMEM_SIGNAL_SET ? (uint64_t{1} << 40) + 1 : 3);
  row.form[form](dest, source, n, sig, op == SHMEM_SIGNAL_SET ? want : 3, op, right);
  if (form % 2 == 0) memset(source, 0xdd, nbytes);  // a blocking form has taken the source
  CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_NE, history), want);
  history = want;
  CHECK_PATTERN(dest, nbytes, left + round);
  if (form % 2 == 1) shmem_quiet();  // the source is this PE's again
  hand_back();
}

void test_types(unsigned char* dest, unsigned char* source) {
  unsigned round = 1;
  const size_t step = check_quick() ? 5 : 1;
  for (const Row& row : kRows)
    for (size_t c = round % step; c < sizeof kCounts / sizeof kCounts[0]; c += step, ++round)
      for (int form = static_cast<int>(round % 2); form < 4; form += 2)
        round_trip(row, form, dest, source, kCounts[c], heap_signal, round / 2 % 2, round);
  for (const size_t nbytes : {size_t{65536}, size_t{1 << 20}, kLargest})
    for (int form = 0; form < 4; ++form, ++round)
      round_trip(kMem, form, dest, source, nbytes, heap_signal, static_cast<int>(round % 2), round);
}

/// Data and signal each in the heap and among the globals.
void test_segments(unsigned char* heap_data, unsigned char* source) {
  for (unsigned k = 0; k < 32; ++k) {
    if (!check_globals() && (k & 3) != 3) continue;
    unsigned char* const dest = k & 1 ? heap_data : global_data;
    uint64_t* const sig = k & 2 ? heap_signal : &global_signal;
    const int op = k & 4 ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD;
    round_trip(kMem, k & 8 ? 1 : 0, dest, source, k & 16 ? 65536 : 129, sig, op, 50 + k);
  }
}

/// Many signals one after the other, without any other synchronisation: a signal must never overtake its data.
void test_rounds(unsigned char* dest, unsigned char* source) {
  constexpr size_t kBytes[] = {8, 4096, 70001, 64, 9000, 1};
  const unsigned rounds = static_cast<unsigned>(check_rounds(npes > 4 ? 200 : 1000));
  for (unsigned r = 1; r <= rounds; ++r)
    round_trip(kMem, static_cast<int>(r % 4), dest, source, kBytes[r % 6],
               r % 3 || !check_globals() ? heap_signal : &global_signal, static_cast<int>(r / 4 % 2), r);
}

/// Several in flight to each PE, each with its own signal, awaited in reverse order.
void test_in_flight(unsigned char* dest, unsigned char* source, uint64_t* signals) {
  constexpr int kFlight = 64;
  constexpr size_t kSlot = 2000;
  check_step("%d in flight", kFlight);
  for (unsigned round = 1; round <= static_cast<unsigned>(check_rounds(100)); ++round) {
    for (int i = 0; i < kFlight; ++i) {
      check_fill(source + i * kSlot, kSlot, me + round + i);
      shmem_putmem_signal_nbi(dest + i * kSlot, source + i * kSlot, kSlot, signals + i, round, SHMEM_SIGNAL_SET, right);
    }
    for (int i = kFlight - 1; i >= 0; --i) {
      shmem_signal_wait_until(signals + i, SHMEM_CMP_EQ, round);
      CHECK_PATTERN(dest + i * kSlot, kSlot, left + round + i);
    }
    shmem_quiet();
    hand_back();
  }
}

/// ADD from all PEs to one word: none may be lost.
void test_contention(unsigned char* dest, unsigned char* source, uint64_t* sig) {
  const int rounds = check_rounds(200);
  check_step("signals from all PEs to all PEs");
  shmem_barrier_all();  // up to here a PE knew only about its neighbours
  for (int r = 0; r < rounds; ++r)
    for (int pe = 0; pe < npes; ++pe) shmem_putmem_signal_nbi(dest + me * 8, source, 8, sig, 1, SHMEM_SIGNAL_ADD, pe);
  CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, static_cast<uint64_t>(rounds) * npes), rounds * npes);
  shmem_barrier_all();
  CHECK_EQ(shmem_signal_fetch(sig), rounds * npes);
}

}  // namespace

int main() {
  check_begin("put_signal");
  me = shmem_my_pe();
  npes = shmem_n_pes();
  right = (me + 1) % npes;
  left = (me + npes - 1) % npes;
  auto* dest = static_cast<unsigned char*>(check_alloc(kLargest));
  auto* signals = static_cast<uint64_t*>(shmem_calloc(80, sizeof(uint64_t)));
  CHECK(signals != nullptr, "shmem_calloc gave %p", static_cast<void*>(signals));
  heap_signal = signals + 70;
  ack = signals + 75;
  std::vector<unsigned char> source(kLargest);
  test_types(dest, source.data());
  test_segments(dest, source.data());
  test_rounds(dest, source.data());
  test_in_flight(dest, source.data(), signals);
  test_contention(dest, source.data(), signals + 65);
  shmem_barrier_all();
  shmem_free(signals);
  shmem_free(dest);
  return check_end();
}
