// SPDX-License-Identifier: BSD-3-Clause
//
// One mistake with a stream-ordered call, named by the first argument, made by PE 1; the library must end the job and
// say why. A mistake that goes unnoticed ends with status 3, which no test accepts.
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kUnnoticed = 3, kTooLate = 4, kWords = 1000 };

static long* words;
static long* outside;  // of the host, and not symmetric
static int npes;

static void stride_zero(void) {
  shmemx_long_iput_on_stream(words, words + 8, 0, 2, 4, 0, NULL);
}
static void stride_negative(void) {
  shmemx_iget64_on_stream(words, words + 8, 1, -1, 4, 0, NULL);
}
static void strides_overflow(void) {
  shmemx_long_iput_on_stream(words, words + 8, (ptrdiff_t)1 << 61, 2, 4, 0, NULL);
}
static void strided_past_end(void) {
  shmemx_long_iput_on_stream(words, words + 8, (ptrdiff_t)1 << 40, 2, 2, 0, NULL);
}
static void strided_bad_pe(void) {
  shmemx_long_iget_on_stream(words, words + 8, 1, 2, 4, npes, NULL);
}
static void strided_null(void) {
  shmemx_long_iput_on_stream(words, NULL, 1, 2, 4, 0, NULL);
}
static void source_of_host(void) {
  shmemx_long_iput_on_stream(words, outside, 1, 2, 4, 0, NULL);
}
static void dest_of_host(void) {
  shmemx_long_iget_on_stream(outside, words, 2, 1, 4, 0, NULL);
}
static void dest_not_symmetric(void) {
  shmemx_long_iput_on_stream(outside, words, 2, 1, 4, 0, NULL);
}
static void words_of_host(void) {
  shmemx_long_wait_until_all_on_stream(outside, 8, NULL, SHMEM_CMP_EQ, 0, NULL);
}
static void words_misaligned(void) {
  shmemx_long_wait_until_all_on_stream((long*)((char*)words + 4), 8, NULL, SHMEM_CMP_EQ, 0, NULL);
}
static void comparison(void) {
  shmemx_long_wait_until_all_on_stream(words, 8, NULL, 99, 0, NULL);
}
static void status_of_host(void) {
  shmemx_long_wait_until_all_on_stream(words, 8, (const int*)outside, SHMEM_CMP_EQ, 0, NULL);
}
static void values_of_host(void) {
  shmemx_long_wait_until_all_vector_on_stream(words, 8, NULL, SHMEM_CMP_EQ, outside, NULL);
}
static void g_bad_pe(void) {
  outside[0] = shmemx_long_g_on_stream(words, -1, NULL);
}
static void g_not_symmetric(void) {
  outside[0] = shmemx_long_g_on_stream(outside, 0, NULL);
}
static void g_captured(void) {
  outside[0] = shmemx_long_g_on_stream(words, 0, NULL);
}
static void dealt_past_end(void) {
  shmemx_long_sum_reducescatter_on_stream(SHMEM_TEAM_WORLD, words, words, (size_t)1 << 40, NULL);
}
static void dealt_from_host(void) {
  shmemx_long_sum_reducescatter_on_stream(SHMEM_TEAM_WORLD, words, outside, 2, NULL);
}
static void lonely_wait(void) {
  shmemx_long_wait_until_all_on_stream(words, 8, NULL, SHMEM_CMP_NE, 0, NULL);
  pause();
}

static const struct {
  const char* name;
  void (*make)(void);
} kMistakes[] = {
    {"stride_zero", stride_zero},
    {"stride_negative", stride_negative},
    {"strides_overflow", strides_overflow},
    {"strided_past_end", strided_past_end},
    {"strided_bad_pe", strided_bad_pe},
    {"strided_null", strided_null},
    {"source_of_host", source_of_host},
    {"dest_of_host", dest_of_host},
    {"dest_not_symmetric", dest_not_symmetric},
    {"words_of_host", words_of_host},
    {"words_misaligned", words_misaligned},
    {"comparison", comparison},
    {"status_of_host", status_of_host},
    {"values_of_host", values_of_host},
    {"g_bad_pe", g_bad_pe},
    {"g_not_symmetric", g_not_symmetric},
    {"g_captured", g_captured},
    {"no_device_heap", g_captured},
    {"dealt_past_end", dealt_past_end},
    {"dealt_from_host", dealt_from_host},
    {"lonely_wait", lonely_wait},
};

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  npes = shmem_n_pes();
  words = shmem_calloc(kWords, sizeof(long));
  outside = malloc(kWords * sizeof(long));
  if (!words || !outside) return kTooLate;
  shmem_barrier_all();
  if (shmem_my_pe() != npes - 1) {
    if (strcmp(what, "lonely_wait") == 0) pause();  // a barrier would reach its deadline as early as PE 1's wait
    shmem_barrier_all();                            // the others meet the end here
  }
  for (size_t i = 0; i < sizeof kMistakes / sizeof *kMistakes; ++i)
    if (strcmp(kMistakes[i].name, what) == 0) kMistakes[i].make();
  fprintf(stderr, "the library did not notice: %s\n", what);
  _exit(kUnnoticed);
}
