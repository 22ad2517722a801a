// SPDX-License-Identifier: BSD-3-Clause
//
// What every conformance program begins and ends with, and how it checks. Public API only; C11 and C++.
//
// A program calls check_begin(), names what it is about to try with check_step(), checks, and returns check_end().
// A failed check says where, on which PE, in which step and with what values, and ends the whole job with status 1.
// A program that hangs is ended by an alarm (status 124), which names the step that did not come to an end.
#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include <inttypes.h>
#include <shmem.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kCheckAlarmSeconds = 100, kCheckAlarmStatus = 124, kCheckSkipStatus = 77 };

static const char* check_program = "?";
static char check_step_text[160] = "start";  // of the main thread; other threads only read it
static unsigned long check_count = 0;

static inline int check_pe(void) {
  int up = 0;
  shmem_query_initialized(&up);
  return up ? shmem_my_pe() : -1;
}

/// Names the next step, for the message of a check or of the alarm.
__attribute__((format(printf, 1, 2))) static inline void check_step(const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(check_step_text, sizeof check_step_text, format, args);
  va_end(args);
}

__attribute__((format(printf, 4, 5), noreturn)) static inline void check_failed(const char* file, int line,
                                                                                const char* what, const char* format,
                                                                                ...) {
  char values[256];
  va_list args;
  va_start(args, format);
  vsnprintf(values, sizeof values, format, args);
  va_end(args);
  fprintf(stderr, "%s:%d: PE %d: %s: not true: %s; %s\n", file, line, check_pe(), check_step_text, what, values);
  if (check_pe() >= 0) shmem_global_exit(1);
  exit(1);
}

/// CHECK(condition, printf format, values...): the values that make a failure understandable.
#define CHECK(condition, ...)                                                    \
  do {                                                                           \
    __atomic_fetch_add(&check_count, 1, __ATOMIC_RELAXED);                       \
    if (!(condition)) check_failed(__FILE__, __LINE__, #condition, __VA_ARGS__); \
  } while (0)

/// Integers (or what converts to them without loss).
#define CHECK_EQ(actual, expected)                                                          \
  do {                                                                                      \
    const long long check_a = (long long)(actual), check_e = (long long)(expected);         \
    CHECK(check_a == check_e, #actual " is %lld (0x%llx), expected %lld (0x%llx)", check_a, \
          (unsigned long long)check_a, check_e, (unsigned long long)check_e);               \
  } while (0)

/// The pattern of a seed, byte by byte; neighbouring seeds and offsets differ, also at multiples of 256.
static inline unsigned char check_byte(unsigned seed, size_t i) {
  return (unsigned char)(seed * 151u + (unsigned)i * 7u + (unsigned)(i >> 8) * 29u + (unsigned)(i >> 16) * 3u + 1u);
}

/// Within 256 bytes the pattern is a piece of one table, multiples of 7, which memcpy and memcmp handle fast.
static unsigned char check_table[512];  // filled by check_prepare
static inline const unsigned char* check_piece(unsigned seed, size_t i) {
  return check_table + (unsigned char)(check_byte(seed, i) * 183u);  // 7 * 183 = 1 modulo 256
}
static inline size_t check_piece_length(size_t i, size_t n) {
  return n - i < 256 - i % 256 ? n - i : 256 - i % 256;
}

static inline void check_fill(void* at, size_t n, unsigned seed) {
  for (size_t i = 0, k; i < n; i += k) {
    k = check_piece_length(i, n);
    memcpy((unsigned char*)at + i, check_piece(seed, i), k);
  }
}

/// Where the pattern breaks first, or n.
static inline size_t check_differs(const void* at, size_t n, unsigned seed) {
  const unsigned char* const bytes = (const unsigned char*)at;
  for (size_t i = 0, k; i < n; i += k) {
    k = check_piece_length(i, n);
    if (memcmp(bytes + i, check_piece(seed, i), k) == 0) continue;
    while (bytes[i] == check_byte(seed, i)) ++i;
    return i;
  }
  return n;
}

#define CHECK_PATTERN(at, n, seed)                                                              \
  do {                                                                                          \
    const size_t check_n = (n), check_at = check_differs((at), check_n, (seed));                \
    CHECK(check_at == check_n, "byte %zu of %zu is 0x%02x, expected 0x%02x", check_at, check_n, \
          ((const unsigned char*)(at))[check_at], check_byte((seed), check_at));                \
  } while (0)

/// All bytes of a range hold one value: guards around a destination, or memory that must be zero.
#define CHECK_BYTES(at, n, value)                                                                            \
  do {                                                                                                       \
    const unsigned char* check_p = (const unsigned char*)(at);                                               \
    for (size_t check_i = 0; check_i < (size_t)(n); ++check_i)                                               \
      CHECK(check_p[check_i] == (value), "byte %zu of %zu is 0x%02x, expected 0x%02x", check_i, (size_t)(n), \
            check_p[check_i], (unsigned)(value));                                                            \
  } while (0)

static inline double check_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/// On slow transports tests run fewer rounds.
static inline int check_quick(void) {
  return getenv("CONFORMANCE_QUICK") != NULL;
}
static inline int check_rounds(int rounds) {
  return check_quick() ? (rounds + 19) / 20 : rounds;
}

/// False where PEs are threads of one process: static objects are then private, not symmetric (CONFORMANCE_GLOBALS=0).
static inline int check_globals(void) {
  const char* value = getenv("CONFORMANCE_GLOBALS");
  return value == NULL || strcmp(value, "0") != 0;
}

static inline void check_on_alarm(int number) {
  static const char kText[] = ": not finished in time; it was in step: ";
  (void)number;
  // Only write() and _exit() are safe in a signal handler; a lost message cannot be helped here.
  if (write(2, check_program, strlen(check_program)) < 0 || write(2, kText, sizeof kText - 1) < 0 ||
      write(2, check_step_text, strlen(check_step_text)) < 0 || write(2, "\n", 1) < 0)
    _exit(kCheckAlarmStatus);
  _exit(kCheckAlarmStatus);
}

/// Everything but the start of the library, for programs that test the start itself.
static inline void check_prepare(const char* program) {
  check_program = program;
  for (unsigned i = 0; i < sizeof check_table; ++i) check_table[i] = (unsigned char)(7 * i);
  signal(SIGALRM, check_on_alarm);
  alarm(kCheckAlarmSeconds);
}

static inline void check_begin(const char* program) {
  check_prepare(program);
  shmem_init();
}

/// The end of a program whose library is down already.
static inline int check_result(int pe, int npes) {
  if (check_count == 0) {
    fprintf(stderr, "%s: PE %d checked nothing\n", check_program, pe);
    return 1;
  }
  if (pe == 0) printf("%s: passed, %d PEs, %lu checks on PE 0\n", check_program, npes, check_count);
  return 0;
}

static inline int check_end(void) {
  const int pe = shmem_my_pe();
  const int npes = shmem_n_pes();
  check_step("finalize");
  shmem_finalize();
  return check_result(pe, npes);
}

/// Says why nothing could be tested; to be returned from main, on all PEs alike.
static inline int check_skip(const char* why) {
  if (shmem_my_pe() == 0) printf("%s: skipped: %s\n", check_program, why);
  shmem_finalize();
  return kCheckSkipStatus;
}

/// Symmetric memory, which these programs cannot do without.
static inline void* check_alloc(size_t nbytes) {
  void* block = shmem_malloc(nbytes);
  CHECK(block != NULL, "shmem_malloc(%zu) gave NULL", nbytes);
  return block;
}

#endif
