// SPDX-License-Identifier: BSD-3-Clause
// Put with signal and signal operations: every name of include/shmem/signal.h.
#include "src/rma/signal.h"

#include "src/api/alias.h"
#include "src/api/call.h"
#include "src/api/probe.h"
#include "src/rma/wait.h"

using namespace railshmem;

// clang-format off
#define FORM(ENTER, PREFIX, CTX, FUNCTION, IS_NBI, T, ELEMENT)                                                  \
  void p##PREFIX##FUNCTION(CTX T* dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal,    \
                           int sig_op, int pe) {                                                                \
    static constexpr char kName[] = #PREFIX #FUNCTION;                                                          \
    ENTER(kName);                                                                                               \
    const size_t nbytes = total_bytes(kName, nelems, ELEMENT, pe);                                              \
    RAILSHMEM_OBSERVED(put_signal, put_signal<IS_NBI>, kName, (nbytes, pe, dest, source), dest, source, nbytes, \
        (SignalTarget{sig_addr, signal, checked_signal_op(kName, sig_op, pe)}), pe);                            \
  }
#define NO_CTX
#define WITH_CTX shmem_ctx_t ctx,
#define FORMS(FUNCTION, T, ELEMENT)                                            \
  FORM(RAILSHMEM_ENTER, shmem_, NO_CTX, FUNCTION, false, T, ELEMENT)           \
  FORM(RAILSHMEM_ENTER_CTX, shmem_ctx_, WITH_CTX, FUNCTION, false, T, ELEMENT) \
  FORM(RAILSHMEM_ENTER, shmem_, NO_CTX, FUNCTION##_nbi, true, T, ELEMENT)      \
  FORM(RAILSHMEM_ENTER_CTX, shmem_ctx_, WITH_CTX, FUNCTION##_nbi, true, T, ELEMENT)
#define TYPED(N, T) FORMS(N##_put_signal, T, sizeof(T))
#define SIZED(BITS) FORMS(put##BITS##_signal, void, BITS / 8)

#define SIGNAL(NAME)                                                                            \
  void pshmem_signal_##NAME(uint64_t* sig_addr, uint64_t signal, int pe) {                      \
    RAILSHMEM_ENTER("shmem_signal_" #NAME);                                                     \
    RAILSHMEM_OBSERVED(signal, signal_only, "shmem_signal_" #NAME, (8, pe, sig_addr),           \
        (SignalTarget{sig_addr, signal, SignalOp::NAME}), pe);                                  \
  }                                                                                             \
  void pshmem_ctx_signal_##NAME(shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe) { \
    RAILSHMEM_ENTER_CTX("shmem_ctx_signal_" #NAME);                                             \
    RAILSHMEM_OBSERVED(signal, signal_only, "shmem_ctx_signal_" #NAME, (8, pe, sig_addr),       \
        (SignalTarget{sig_addr, signal, SignalOp::NAME}), pe);                                  \
  }

extern "C" {
RAILSHMEM_FOR_RMA_TYPES(TYPED)
RAILSHMEM_FOR_SIZES(SIZED)
#undef TYPED
#undef SIZED
FORMS(putmem_signal, void, 1)
SIGNAL(add)
SIGNAL(set)
// clang-format on

uint64_t pshmem_signal_fetch(const uint64_t* sig_addr) {
  PeState& state = pe_state("shmem_signal_fetch");
  if (!sig_addr) die_null_variable("shmem_signal_fetch");
  if (state.network) net_progress(*state.network);  // a polling loop must drive what it polls for
  return load_variable(state.device, sig_addr);
}

uint64_t pshmem_signal_wait_until(uint64_t* sig_addr, int cmp, uint64_t cmp_value) {
  PeState& state = pe_state("shmem_signal_wait_until");
  RAILSHMEM_PROBE_PLAIN(wait, "shmem_signal_wait_until", 8);
  return wait_until<uint64_t>(state, "shmem_signal_wait_until", sig_addr, cmp, cmp_value);
}
}
RAILSHMEM_PUT_SIGNAL_FUNCTIONS(RAILSHMEM_WEAK)
RAILSHMEM_SIGNAL_FUNCTIONS(RAILSHMEM_WEAK)
