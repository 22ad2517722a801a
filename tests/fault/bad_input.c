// SPDX-License-Identifier: BSD-3-Clause
//
// One mistake, named by the first argument, made by PE 1 (or by the only PE); the library must end the job and say why.
// A mistake that goes unnoticed ends with status 3, which no test accepts.
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kUnnoticed = 3, kTooLate = 4, kHeapWords = 1000 };

static long global_word;
static long* words;
static int npes;

static void bad_pe_negative(void) {
  shmem_long_p(words, 1, -1);
}
static void bad_pe_npes(void) {
  shmem_long_put(words, &global_word, 1, npes);
}
static void bad_pe_get(void) {
  global_word = shmem_long_g(words, npes + 5);
}
static void bad_pe_amo(void) {
  shmem_long_atomic_inc(words, npes);
}
static void bad_pe_zero_length(void) {
  shmem_long_put(words, &global_word, 0, -7);
}

static void address_on_stack(void) {
  long on_stack = 0;
  shmem_long_p(&on_stack, 1, 0);
}

static void address_of_malloc(void) {
  long* block = malloc(sizeof *block);
  shmem_long_atomic_add(block, 1, 0);
}

/// From inside the heap over its end.
static void address_past_end(void) {
  shmem_putmem(words, &global_word, (size_t)1 << 40, 0);
}
static void count_overflow(void) {
  shmem_long_put(words, &global_word, (size_t)-1 / 2, 0);
}
static void null_dest(void) {
  shmem_long_put(NULL, &global_word, 4, 0);
}
static void null_source(void) {
  shmem_long_put(words, NULL, 4, 0);
}
static void null_collective(void) {
  shmem_long_fcollect(SHMEM_TEAM_WORLD, words, NULL, 1);
}
static void null_get(void) {
  shmem_getmem(NULL, words, 8, 0);
}
static void misaligned_amo(void) {
  shmem_long_atomic_inc((long*)((char*)words + 4), 0);
}
static void misaligned_signal(void) {
  shmem_signal_add((uint64_t*)((char*)words + 1), 1, 0);
}
static void bad_signal_op(void) {
  shmem_putmem_signal(words, &global_word, 8, (uint64_t*)(words + 2), 1, 17, 0);
}
static void bad_stride(void) {
  shmem_long_iput(words, &global_word, 0, 1, 2, 0);
}
static void bad_context(void) {
  shmem_ctx_long_p(SHMEM_CTX_INVALID, words, 1, 0);
}
static void destroyed_context(void) {
  shmem_ctx_t ctx;
  if (shmem_ctx_create(0, &ctx) != 0) exit(kTooLate);
  shmem_ctx_destroy(ctx);
  shmem_ctx_quiet(ctx);
}
static void context_of_nothing(void) {
  shmem_ctx_long_p((shmem_ctx_t)(intptr_t)0x5eed, words, 1, 0);
}
static void context_of_an_address(void) {
  shmem_ctx_t somewhere;
  memset(&somewhere, 0xa5, sizeof somewhere);
  shmem_ctx_fence(somewhere);
}
static shmem_ctx_t team_context(void) {
  shmem_team_t team;
  shmem_ctx_t ctx;
  if (shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &team) != 0) exit(kTooLate);
  if (shmem_team_create_ctx(team, 0, &ctx) != 0) exit(kTooLate);
  return ctx;
}
static void bad_pe_of_team(void) {
  shmem_ctx_long_p(team_context(), words, 1, npes);
}
static void bad_pe_of_team_quiet(void) {
  const int pe = -1;
  shmem_ctx_pe_quiet(team_context(), &pe, 1);
}
static void start_again(void) {
  shmem_finalize();
  shmem_init();
}
static void context_of_an_earlier_start(void) {
  shmem_ctx_t old, ctx;
  if (shmem_ctx_create(0, &old) != 0) exit(kTooLate);
  start_again();
  if (shmem_ctx_create(0, &ctx) != 0) exit(kTooLate);  // at the place of the old one
  shmem_ctx_quiet(old);
}
static void split_without_place(void) {
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, NULL);
}
static void split_without_config(void) {
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, SHMEM_TEAM_NUM_CONTEXTS, &team);
}
static void bad_comparison(void) {
  shmem_long_wait_until(words, 99, 1);
}
static void unequal_malloc(void) {
  shmem_malloc(shmem_my_pe() == 1 ? 64 : 128);
}

static const struct {
  const char* name;
  void (*make)(void);
  int collective;  // made by all PEs
} kMistakes[] = {
    {"bad_pe_negative", bad_pe_negative, 0},
    {"bad_pe_npes", bad_pe_npes, 0},
    {"bad_pe_get", bad_pe_get, 0},
    {"bad_pe_amo", bad_pe_amo, 0},
    {"bad_pe_zero_length", bad_pe_zero_length, 0},
    {"address_on_stack", address_on_stack, 0},
    {"address_of_malloc", address_of_malloc, 0},
    {"address_past_end", address_past_end, 0},
    {"count_overflow", count_overflow, 0},
    {"null_dest", null_dest, 0},
    {"null_source", null_source, 0},
    {"null_collective", null_collective, 0},
    {"null_get", null_get, 0},
    {"misaligned_amo", misaligned_amo, 0},
    {"misaligned_signal", misaligned_signal, 0},
    {"bad_signal_op", bad_signal_op, 0},
    {"bad_stride", bad_stride, 0},
    {"bad_context", bad_context, 0},
    {"destroyed_context", destroyed_context, 0},
    {"context_of_nothing", context_of_nothing, 0},
    {"context_of_an_address", context_of_an_address, 0},
    {"bad_pe_of_team", bad_pe_of_team, 1},
    {"bad_pe_of_team_quiet", bad_pe_of_team_quiet, 1},
    {"context_of_an_earlier_start", context_of_an_earlier_start, 1},
    {"split_without_place", split_without_place, 1},
    {"split_without_config", split_without_config, 1},
    {"bad_comparison", bad_comparison, 0},
    {"unequal_malloc", unequal_malloc, 1},
};

static void make_mistake(const char* name, int me) {
  for (size_t i = 0; i < sizeof kMistakes / sizeof *kMistakes; ++i) {
    if (strcmp(kMistakes[i].name, name) != 0) continue;
    if (kMistakes[i].collective || me == npes - 1) kMistakes[i].make();
    // The others meet the end in a barrier.
    if (!kMistakes[i].collective && me != npes - 1) shmem_barrier_all();
    return;
  }
  fprintf(stderr, "bad_input knows no mistake called %s\n", name);
}

/// More than the heap is no mistake: NULL everywhere, and life goes on.
/// With 48 MiB, 32 of which are free, in two pieces.
static int no_piece_so_long(void) {
  void* const first = shmem_malloc((size_t)15 << 20);
  void* const held = shmem_malloc((size_t)15 << 20);
  if (!first || !held) return 1;
  shmem_free(first);
  void* const block = shmem_malloc((size_t)30 << 20);
  shmem_finalize();
  return block ? 1 : 0;
}
static int too_large(void) {
  void* block = shmem_malloc((size_t)1 << 45);
  if (!block) block = shmem_malloc((size_t)1 << 45);  // said once
  shmem_barrier_all();
  shmem_finalize();
  return block == NULL ? 0 : kUnnoticed;
}

/// Ends the connections of the tcp bootstrap, as a network does that fails.
static void disconnect_from_peers(void) {
  shmem_barrier_all();
  for (int fd = 3; fd < 1024; ++fd) {
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    if (getpeername(fd, (struct sockaddr*)&peer, &length) == 0 && peer.ss_family != AF_UNIX) shutdown(fd, SHUT_RDWR);
  }
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  alarm(40);  // a hang must not outlive the test
  if (strcmp(what, "before_init") == 0) shmem_barrier_all();
  if (strcmp(what, "before_init_put") == 0) shmem_long_p(&global_word, 1, 0);
  if (strcmp(what, "before_init_malloc") == 0) return shmem_malloc(8) ? kTooLate : kUnnoticed;
  if (strcmp(what, "before_init_finalize") == 0) shmem_finalize();
  if (strcmp(what, "finalize_twice_start_pes") == 0) {
    start_pes(0);
    shmem_finalize();
    shmem_finalize();
    return 0;  // and the finalize that start_pes implies
  }
  shmem_init();
  const int me = shmem_my_pe();
  npes = shmem_n_pes();
  if (strcmp(what, "nothing") == 0) {
    shmem_finalize();
    return 0;
  }
  if (strcmp(what, "too_large") == 0) return too_large();
  if (strcmp(what, "no_piece_so_long") == 0) return no_piece_so_long();
  if (strcmp(what, "global_exit") == 0) {
    if (me == npes - 1) shmem_global_exit(7);
    // The others compute and make no call that could notice.
    for (volatile long i = 0;; ++i) {
    }
  }
  if (strcmp(what, "lonely_barrier") == 0) {
    if (me != npes - 1) shmem_barrier_all();
    pause();
  }
  if (strcmp(what, "lonely_wait") == 0) {
    if (me == 0) shmem_long_wait_until(&global_word, SHMEM_CMP_EQ, 1);
    pause();  // alive, but waiting for nobody: PE 0 must be the one to complain
  }
  if (strcmp(what, "busy_wait") == 0) {
    if (me == 0) shmem_long_wait_until(&global_word, SHMEM_CMP_EQ, 1);
    for (;;) shmem_long_atomic_add(&global_word, 2, 0);  // PE 0 has always something to do for others
  }
  if (strcmp(what, "end_disconnected") == 0) {
    disconnect_from_peers();
    shmem_finalize();
    return 0;
  }
  if (strcmp(what, "trace_becomes") == 0) {
    const char* path = getenv("SHMEM_TRACE");
    remove(path);
    shmem_barrier_all();
    if (me == 0 && (strcmp(argv[2], "fifo") == 0 ? mkfifo(path, 0600) : mkdir(path, 0700)) != 0) return kTooLate;
    shmem_finalize();
    return me != 0 || remove(path) == 0 ? 0 : kTooLate;
  }
  if (strcmp(what, "finalize_twice") == 0) {
    for (int i = 0; i < 3; ++i) shmem_finalize();
    return argc > 2 ? atoi(argv[2]) : 0;
  }
  if (strcmp(what, "after_finalize") == 0) {
    shmem_finalize();
    shmem_long_p(&global_word, 1, 0);
    return kUnnoticed;
  }
  words = shmem_calloc(kHeapWords, sizeof(long));
  if (!words) return kTooLate;
  make_mistake(what, me);
  fprintf(stderr, "the library did not notice: %s\n", what);
  _exit(kUnnoticed);
}
