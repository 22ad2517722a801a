// SPDX-License-Identifier: BSD-3-Clause
//
// The host's names of NVSHMEM on one PE, one of each family, started by a unique id; compiled by g++ and by nvcc.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void check(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::exit(1);
}

void start() {
  check(nvshmemx_init_status() < NVSHMEM_STATUS_IS_INITIALIZED, "not initialized before the start");
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  nvshmemx_init_attr_t attr = NVSHMEMX_INIT_ATTR_INITIALIZER;
  check(nvshmemx_get_uniqueid(&id) == NVSHMEMX_SUCCESS, "nvshmemx_get_uniqueid");
  check(nvshmemx_set_attr_uniqueid_args(0, 1, &id, &attr) == NVSHMEMX_SUCCESS, "nvshmemx_set_attr_uniqueid_args");
  attr.size = 0;  // as in programs that set up attributes by hand
  check(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attr) == NVSHMEMX_SUCCESS, "nvshmemx_init_attr");
  check(nvshmemx_init_status() >= NVSHMEM_STATUS_IS_INITIALIZED, "initialized after the start");
  check(nvshmem_my_pe() == 0 && nvshmem_n_pes() == 1, "PE 0 of 1");
}

void queries() {
  int major = 0;
  int minor = 0;
  int patch = -1;
  char name[NVSHMEM_MAX_NAME_LEN] = "";
  nvshmem_info_get_version(&major, &minor);
  check(major == NVSHMEM_MAJOR_VERSION && minor == NVSHMEM_MINOR_VERSION, "nvshmem_info_get_version");
  nvshmemx_vendor_get_version_info(&major, &minor, &patch);
  check(major * 10000 + minor * 100 + patch == NVSHMEM_VENDOR_VERSION, "nvshmemx_vendor_get_version_info");
  nvshmem_info_get_name(name);
  check(std::strcmp(name, NVSHMEM_VENDOR_STRING) == 0, "nvshmem_info_get_name");
}

void teams() {
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  nvshmem_team_t team = NVSHMEM_TEAM_INVALID;
  check(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, 1, &config, 0, &team) == 0, "nvshmem_team_split_strided");
  check(nvshmem_team_my_pe(team) == 0 && nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE) == 1, "numbers in teams");
  check(nvshmem_team_translate_pe(team, 0, NVSHMEM_TEAM_WORLD) == 0, "nvshmem_team_translate_pe");
  check(nvshmem_barrier(team) == 0 && nvshmem_team_sync(team) == 0, "barrier and sync of a team");
  nvshmem_team_destroy(team);
  check(nvshmemx_team_get_uniqueid(&config.uniqueid) == 0, "nvshmemx_team_get_uniqueid");
  check(nvshmemx_team_init(&team, &config, 0, 1, 0) == 0 && nvshmem_team_n_pes(team) == 1, "nvshmemx_team_init");
  nvshmem_team_destroy(team);
}

void shorts() {
  auto* const words = static_cast<short*>(nvshmem_calloc(4, sizeof(short)));
  const short each[4] = {0, 0, 7, 0};
  nvshmem_short_p(words + 2, 7, 0);
  nvshmem_short_wait_until_all_vector(words, 4, nullptr, NVSHMEM_CMP_EQ, each);
  check(nvshmem_short_wait_until_any(words, 4, nullptr, NVSHMEM_CMP_GT, 0) == 2, "nvshmem_short_wait_until_any");
  check(nvshmem_short_test_all(words, 4, nullptr, NVSHMEM_CMP_GT, 0) == 0, "nvshmem_short_test_all");
  nvshmem_free(words);
}

/// With the CUDA toolkit's headers, 16-bit types are here too.
void halves() {
#if defined(RAILSHMEM_COMPAT_RUNTIME)
  auto* const words = static_cast<__half*>(nvshmem_calloc(4, sizeof(__half)));
  nvshmem_half_p(words, __float2half(1.5f), 0);
  check(__half2float(nvshmem_half_g(words, 0)) == 1.5f, "nvshmem_half_p and _g");
  check(nvshmem_half_sum_reduce(NVSHMEM_TEAM_WORLD, words + 1, words, 1) == 0 && __half2float(words[1]) == 1.5f,
        "nvshmem_half_sum_reduce");
  auto* const brains = reinterpret_cast<__nv_bfloat16*>(words + 2);
  check(nvshmem_bfloat16_max_reducescatter(NVSHMEM_TEAM_WORLD, brains, brains + 1, 1) == 0,
        "nvshmem_bfloat16_max_reducescatter");
  nvshmem_free(words);
#endif
}

void data() {
  auto* words = static_cast<uint64_t*>(nvshmem_calloc(64, sizeof(uint64_t)));
  auto* aligned = static_cast<uint64_t*>(nvshmem_align(4096, 4096));
  check(words && aligned && reinterpret_cast<uintptr_t>(aligned) % 4096 == 0, "nvshmem_calloc and nvshmem_align");
  check(nvshmem_ptr(words, 0) == words, "nvshmem_ptr");
  check(nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, words) == nullptr, "nvshmemx_mc_ptr");
  const uint64_t source[4] = {1, 2, 3, 4};
  nvshmem_uint64_put_nbi(words, source, 4, 0);
  nvshmem_quiet();
  nvshmem_uint64_p(words + 4, 5, 0);
  nvshmem_fence();
  check(nvshmem_uint64_g(words + 4, 0) == 5, "nvshmem_uint64_p and _g");
  nvshmem_uint64_iget(aligned, words, 1, 2, 2, 0);
  check(aligned[0] == 1 && aligned[1] == 3, "nvshmem_uint64_put_nbi and _iget");
  check(nvshmem_uint64_atomic_fetch_add(words, 10, 0) == 1, "nvshmem_uint64_atomic_fetch_add");
  nvshmem_putmem_signal(aligned, source, sizeof source, words + 8, 7, NVSHMEM_SIGNAL_SET, 0);
  nvshmemx_signal_op(words + 8, 1, NVSHMEM_SIGNAL_ADD, 0);
  check(nvshmem_signal_wait_until(words + 8, NVSHMEM_CMP_GE, 8) == 8, "nvshmemx_signal_op");
  nvshmemx_signal_op(words + 8, 3, NVSHMEM_SIGNAL_SET, 0);
  nvshmem_quiet();
  check(nvshmem_signal_fetch(words + 8) == 3, "nvshmem_signal_fetch");
  nvshmem_uint64_wait_until(words, NVSHMEM_CMP_EQ, 11);
  check(nvshmem_uint64_test_any(words, 4, nullptr, NVSHMEM_CMP_GT, 10) == 0, "nvshmem_uint64_test_any");
  check(nvshmem_uint64_sum_reduce(NVSHMEM_TEAM_WORLD, aligned, words, 4) == 0 && aligned[0] == 11, "sum_reduce");
  check(nvshmem_uint64_max_reducescatter(NVSHMEM_TEAM_WORLD, aligned, words, 1) == 0 && aligned[0] == words[0],
        "max_reducescatter");
  check(nvshmem_fcollectmem(NVSHMEM_TEAM_WORLD, aligned, words + 4, 8) == 0 && aligned[0] == 5, "fcollectmem");
  nvshmem_sync_all();
  nvshmem_barrier_all();
  nvshmem_free(aligned);
  nvshmem_free(words);
}

void buffers() {
  constexpr size_t kBytes = 1 << 16;  // of the C heap: global objects are symmetric already
  void* const outside = std::malloc(kBytes);
  check(nvshmemx_buffer_register(outside, kBytes) == 0, "nvshmemx_buffer_register");
  check(nvshmemx_buffer_unregister(outside) == 0, "nvshmemx_buffer_unregister");
  nvshmemx_buffer_unregister_all();
  check(nvshmemx_buffer_register_symmetric(outside, kBytes, 0) == nullptr, "only a GPU's memory becomes symmetric");
  check(nvshmemx_buffer_unregister_symmetric(outside, kBytes) != 0, "it was not registered");
  std::free(outside);
}

/// Calls on streams need a GPU: here they are linked only.
void streams(bool never) {
  if (!never) return;
  nvshmemx_barrier_all_on_stream(nullptr);
  nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, nullptr, nullptr, 0, nullptr);
  nvshmemx_putmem_on_stream(nullptr, nullptr, 0, 0, nullptr);
  nvshmemx_iput64_on_stream(nullptr, nullptr, 1, 2, 0, 0, nullptr);
  nvshmemx_double_iget_on_stream(nullptr, nullptr, 2, 1, 0, 0, nullptr);
  nvshmemx_short_wait_until_on_stream(nullptr, NVSHMEM_CMP_EQ, nvshmemx_short_g_on_stream(nullptr, 0, nullptr),
                                      nullptr);
  nvshmemx_int_wait_until_all_on_stream(nullptr, 0, nullptr, NVSHMEM_CMP_NE, 1, nullptr);
  nvshmemx_uint64_wait_until_all_vector_on_stream(nullptr, 0, nullptr, NVSHMEM_CMP_GT, nullptr, nullptr);
  nvshmemx_uint64_xor_reducescatter_on_stream(NVSHMEM_TEAM_WORLD, nullptr, nullptr, 0, nullptr);
  nvshmemx_signal_op_on_stream(nullptr, 0, NVSHMEM_SIGNAL_SET, 0, nullptr);
}

}  // namespace

int main(int argc, char**) {
  start();
  queries();
  teams();
  data();
  shorts();
  halves();
  buffers();
  streams(argc > 99);
  nvshmem_finalize();
  return 0;
}
