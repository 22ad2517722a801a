// SPDX-License-Identifier: BSD-3-Clause
//
// One mistake with an overlapped product, named by the first argument, made by PE 1. The library must refuse the call
// with a message; then the program ends the job. A mistake that goes unnoticed ends with status 0, which no test
// accepts.
#include <shmem.h>
#include <shmemx_overlap.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRefused = 5, kRows = 64, kPart = 1 << 16 };

static char* heap;
static char* outside;  // of the host
static size_t workspace;
static shmemx_gemm_t gemm = SHMEMX_GEMM_INITIALIZER;

/// A product that does nothing.
static int nothing(void* argument, size_t first, size_t nrows, const void* a, void* c, shmemx_stream_t stream) {
  (void)argument, (void)first, (void)nrows, (void)a, (void)c, (void)stream;
  return 0;
}
static int gather(void) {
  return shmemx_ag_gemm_on_stream(&gemm, NULL);
}
static int scatter(void) {
  return shmemx_gemm_rs_on_stream(&gemm, NULL);
}

static int no_size(void) {
  gemm.size = 0;
  return gather();
}
static int no_handle(void) {
  gemm.handle = NULL;
  return gather();
}
static int rows(void) {
  gemm.m = kRows + 1;
  return gather();
}
static int no_columns(void) {
  gemm.n = 0;
  return gather();
}
static int too_large(void) {
  gemm.k = (size_t)1 << 31;
  return gather();
}
static int type(void) {
  gemm.type = SHMEMX_DATATYPE_INT32;
  return gather();
}
static int result_type(void) {
  gemm.result_type = SHMEMX_DATATYPE_HALF;
  return gather();
}
static int compute(void) {
  gemm.compute = SHMEMX_COMPUTE_TF32;
  return gather();
}
static int activation(void) {
  gemm.activation = 9;
  return gather();
}
static int pieces(void) {
  gemm.pieces = 65;
  return gather();
}
static int protocol(void) {
  gemm.protocol = 3;
  return gather();
}
static int lda(void) {
  gemm.lda = 100;
  return gather();
}
static int ldb(void) {
  gemm.ldb = 3;
  return gather();
}
static int ldc(void) {
  gemm.ldc = 100;
  return scatter();
}
static int transposed_a(void) {
  gemm.transposed_a = 1;
  return gather();
}
static int flag(void) {
  gemm.transposed_b = 2;
  return gather();
}
static int beta(void) {
  gemm.beta = 1;
  gemm.product = NULL;
  return scatter();
}
static int bias(void) {
  gemm.bias = heap;
  gemm.product = NULL;
  return scatter();
}
static int no_a(void) {
  gemm.a = NULL;
  return gather();
}
static int misaligned(void) {
  gemm.c = heap + 1;
  return gather();
}
static int unreached(void) {
  gemm.a = outside;
  gemm.pieces = 2;
  return gather();
}
static int unreached_put(void) {
  gemm.gathered = outside;
  gemm.pieces = 2;
  gemm.protocol = SHMEMX_PROTOCOL_PUT;
  return gather();
}
static int no_room(void) {
  gemm.n = 1 << 14;
  gemm.pieces = 2;
  return scatter();
}
static int no_cublas(void) {
  gemm.product = NULL;
  return gather();
}
/// A call that cuBLASLt would take.
static void float8(void) {
  gemm.product = NULL;
  gemm.type = SHMEMX_DATATYPE_FLOAT8_E4M3;
  gemm.transposed_b = 1;
}
static int older(void) {
  gemm.size = sizeof gemm - 1;
  return gather();
}
static int b_type(void) {
  gemm.b_type = SHMEMX_DATATYPE_FLOAT8_E4M3;
  return gather();
}
static int scale(void) {
  gemm.product = NULL;
  gemm.a_scale = (const float*)heap;
  return gather();
}
static int float8_layout(void) {
  float8();
  gemm.transposed_b = 0;
  return gather();
}
static int float8_kinds(void) {
  float8();
  gemm.type = SHMEMX_DATATYPE_FLOAT8_E5M2;
  return gather();
}
static int float8_columns(void) {
  float8();
  gemm.n = 24;
  return gather();
}
static int float8_address(void) {
  float8();
  gemm.a = (const char*)gemm.a + 8;
  return scatter();
}
static int float8_bias(void) {
  float8();
  gemm.result_type = SHMEMX_DATATYPE_FLOAT;
  gemm.bias = heap;
  return gather();
}
static int float8_scale(void) {
  float8();
  gemm.b_scale = (const float*)(heap + 2);
  return gather();
}
static int float8_result(void) {
  float8();
  gemm.result_type = SHMEMX_DATATYPE_FLOAT8_E4M3;
  return gather();
}
static int workspace_small(void) {
  shmemx_overlap_t handle;
  return shmemx_overlap_create(SHMEM_TEAM_WORLD, heap, 1000, &handle);
}
static int workspace_elsewhere(void) {
  shmemx_overlap_t handle;
  return shmemx_overlap_create(SHMEM_TEAM_WORLD, outside, workspace, &handle);
}
static int setting(void) {
  shmemx_overlap_t handle;
  setenv("SHMEM_OVERLAP", "some", 1);
  return shmemx_overlap_create(SHMEM_TEAM_WORLD, heap, workspace, &handle);
}
static int protocol_setting(void) {
  shmemx_overlap_t handle;
  setenv("SHMEM_OVERLAP_PROTOCOL", "some", 1);
  return shmemx_overlap_create(SHMEM_TEAM_WORLD, heap, workspace, &handle);
}
static int streams_setting(void) {
  shmemx_overlap_t handle;
  setenv("SHMEM_OVERLAP_STREAMS", "3", 1);
  return shmemx_overlap_create(SHMEM_TEAM_WORLD, heap, workspace, &handle);
}
static int destroyed_null(void) {
  return shmemx_overlap_destroy(NULL);
}
static int lonely(void) {
  gemm.pieces = 2;
  if (gather() != 0) return 0;
  sleep(30);
  return 0;
}
/// Nobody says that the other member's room may be written, and no row comes.
static int lonely_put(void) {
  gemm.protocol = SHMEMX_PROTOCOL_PUT;
  return lonely();
}

static const struct {
  const char* name;
  int (*make)(void);
} kMistakes[] = {
    {"no_size", no_size},
    {"no_handle", no_handle},
    {"rows", rows},
    {"no_columns", no_columns},
    {"too_large", too_large},
    {"type", type},
    {"result_type", result_type},
    {"compute", compute},
    {"activation", activation},
    {"pieces", pieces},
    {"protocol", protocol},
    {"lda", lda},
    {"ldb", ldb},
    {"ldc", ldc},
    {"transposed_a", transposed_a},
    {"flag", flag},
    {"beta", beta},
    {"bias", bias},
    {"no_a", no_a},
    {"misaligned", misaligned},
    {"unreached", unreached},
    {"unreached_put", unreached_put},
    {"no_room", no_room},
    {"no_cublas", no_cublas},
    {"setting", setting},
    {"older", older},
    {"b_type", b_type},
    {"scale", scale},
    {"float8_layout", float8_layout},
    {"float8_kinds", float8_kinds},
    {"float8_columns", float8_columns},
    {"float8_address", float8_address},
    {"float8_bias", float8_bias},
    {"float8_scale", float8_scale},
    {"float8_result", float8_result},
    {"workspace_small", workspace_small},
    {"protocol_setting", protocol_setting},
    {"streams_setting", streams_setting},
    {"lonely", lonely},
    {"lonely_put", lonely_put},
    {"workspace_elsewhere", workspace_elsewhere},
    {"destroyed_null", destroyed_null},
};

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  alarm(40);  // a hang must not outlive the test
  shmem_init();
  if (shmemx_attach_device() != 0) return 0;
  workspace = shmemx_overlap_workspace(SHMEM_TEAM_WORLD, kPart);
  heap = shmem_malloc(workspace);
  char* const buffers = shmem_malloc(4 * kPart);
  outside = calloc(1, workspace);
  if (heap == NULL || buffers == NULL) return 0;
  if (shmemx_overlap_create(SHMEM_TEAM_WORLD, heap, workspace, &gemm.handle) != 0) return 0;
  gemm.m = kRows;
  gemm.n = gemm.k = 16;
  gemm.gathered = buffers;
  gemm.a = buffers + kPart;
  gemm.b = buffers + 2 * kPart;
  gemm.c = buffers + 3 * kPart;
  gemm.product = nothing;
  shmem_barrier_all();
  if (shmem_my_pe() == 0) {
    const int creates = strstr(name, "workspace") != NULL || strstr(name, "setting") != NULL;
    shmemx_overlap_t handle;
    if (creates && shmemx_overlap_create(SHMEM_TEAM_WORLD, heap, workspace, &handle) == 0) {
      printf("PE 0 was not told of %s\n", name);
      shmem_global_exit(0);
    }
    sleep(20);
    return 0;
  }
  for (size_t i = 0; i < sizeof kMistakes / sizeof *kMistakes; ++i) {
    if (strcmp(kMistakes[i].name, name) != 0) continue;
    if (kMistakes[i].make() != 0) shmem_global_exit(kRefused);
    printf("%s went unnoticed\n", name);
    exit(0);
  }
  return 0;
}
