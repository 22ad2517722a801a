// SPDX-License-Identifier: BSD-3-Clause
//
// Compile-only: the C interface without generics, in every C standard and in C++ and CUDA (see the .cpp and .cu).
#include <pshmem.h>
#include <shmem.h>
#include <shmemx.h>

#if SHMEM_MAJOR_VERSION != 1 || SHMEM_MINOR_VERSION != 6
#error "the version of the standard is wrong"
#endif
#if !(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED && \
      SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE)
#error "thread levels must increase"
#endif

// Handles and constants in initialisers.
static shmem_ctx_t context = SHMEM_CTX_DEFAULT;
static shmem_team_t teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, SHMEM_TEAM_INVALID};
static shmem_team_config_t team_config = {0};
static shmem_ctx_session_config_t session_config = {SIZE_MAX};
static long sync_words[SHMEM_SYNC_SIZE + SHMEM_BARRIER_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE +
                       SHMEM_REDUCE_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_ALLTOALLS_SYNC_SIZE +
                       SHMEM_REDUCE_MIN_WRKDATA_SIZE] = {SHMEM_SYNC_VALUE};
static long old_sync_words[_SHMEM_BARRIER_SYNC_SIZE + _SHMEM_BCAST_SYNC_SIZE + _SHMEM_COLLECT_SYNC_SIZE +
                           _SHMEM_REDUCE_SYNC_SIZE + _SHMEM_REDUCE_MIN_WRKDATA_SIZE] = {_SHMEM_SYNC_VALUE};
static char vendor[SHMEM_MAX_NAME_LEN] = SHMEM_VENDOR_STRING;
static char old_vendor[_SHMEM_MAX_NAME_LEN] = _SHMEM_VENDOR_STRING;
static long options = SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE | SHMEM_CTX_SESSION_BATCH |
                      SHMEM_CTX_SESSION_TOTAL_OPS | SHMEM_TEAM_NUM_CONTEXTS | SHMEM_MALLOC_ATOMICS_REMOTE |
                      SHMEM_MALLOC_SIGNAL_REMOTE;

const char* use_comparison(int cmp);
const char* use_comparison(int cmp) {
  switch (cmp) {
    case SHMEM_CMP_EQ:
      return "==";
    case SHMEM_CMP_NE:
      return "!=";
    case SHMEM_CMP_GT:
      return ">";
    case SHMEM_CMP_GE:
      return ">=";
    case SHMEM_CMP_LT:
      return "<";
    case _SHMEM_CMP_LE:
      return "<=";
    default:
      return vendor[0] ? vendor : old_vendor;
  }
}

int use_setup(void);
int use_setup(void) {
  int provided;
  shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
  shmemx_uniqueid_t id;
  if (shmemx_get_uniqueid(&id) || shmemx_set_attr_uniqueid_args(0, 1, &id, &attr)) return 1;
  if (shmemx_init_attr(SHMEMX_INIT_WITH_UNIQUEID, &attr)) return 1;
  shmem_init();
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided)) shmem_global_exit(1);
  shmem_pcontrol(1);
  shmem_pcontrol(2, "more", provided);
  shmem_finalize();
  pshmem_finalize();
  return context == SHMEM_CTX_INVALID || teams[0] == teams[1] || team_config.num_contexts != 0 || sync_words[0] ||
         session_config.total_ops != SIZE_MAX || options == 0 || old_sync_words[0];
}

int use_families(void);
int use_families(void) {
  long* word = (long*)shmem_malloc(2 * sizeof(long));
  uint64_t* signal = (uint64_t*)shmem_calloc(1, sizeof(uint64_t));
  const int pe = (shmem_my_pe() + 1) % shmem_n_pes();
  shmem_long_put(word, word + 1, 1, pe);
  shmem_ctx_put128_nbi(context, NULL, NULL, 0, pe);
  shmem_ctx_long_ibget(context, word, word + 1, 1, 1, 1, 1, pe);
  shmem_putmem_signal_nbi(word, word + 1, sizeof(long), signal, 1, SHMEM_SIGNAL_ADD, pe);
  shmem_ctx_long_atomic_fetch_add_nbi(context, word, word + 1, 1, pe);
  shmem_pe_quiet(&pe, 1);
  shmem_long_wait_until(word, SHMEM_CMP_NE, 0);
  (void)shmem_signal_wait_until(signal, SHMEM_CMP_GE, 1);
  pshmem_long_put(word, word + 1, 1, pe);
  shmem_barrier_all();
  shmem_free(signal);
  shmem_free(word);
  return pe;
}

int use_old_names(void);
int use_old_names(void) {
  long* word;
  start_pes(0);
  pstart_pes(0);
  word = (long*)shmalloc(sizeof(long));
  word = (long*)shrealloc(word, 2 * sizeof(long));
  shmem_wait(word, 0);
  (shmem_wait_until)(word, SHMEM_CMP_EQ, 1);
  shmem_long_add(word, 1, _my_pe());
  shfree(word);
  return p_num_pes() + _num_pes();
}
