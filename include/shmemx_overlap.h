// SPDX-License-Identifier: BSD-3-Clause
//
// Matrix products that hide a collective: an all-gather under the product that needs it, and a product over the
// reduce-scatter of its result. The functions are in librailshmem-overlap.so; link it beside librailshmem.so. Products
// are those of cuBLASLt, which is opened at run time, or the caller's own. docs/overlap.md shows what waits for what.
//
// Matrices are row by row (as in C and PyTorch). N is the number of the team's members, `me` the rank of this PE in it.
//   all-gather + product       c[m x n] = activation(alpha * gathered[m x k] * b[k x n] + bias + beta * c)
//                              a has the m / N rows of `gathered` that this PE contributes
//   product + reduce-scatter   c[m/N x n] = the sum over all PEs of their alpha * a[m x k] * b[k x n], rows of part
//   `me`
#ifndef RAILSHMEM_SHMEMX_OVERLAP_H
#define RAILSHMEM_SHMEMX_OVERLAP_H

#include "shmemx.h"

/// What a PE needs for such calls: streams, counters, cuBLASLt and its algorithms. Of one team and one stream at a
/// time.
typedef struct shmemx_overlap* shmemx_overlap_t;

/// Activations of all-gather + product.
enum shmemx_activation {
  SHMEMX_ACTIVATION_NONE = 0,
  SHMEMX_ACTIVATION_RELU = 1,
  SHMEMX_ACTIVATION_GELU = 2  ///< the approximation by tanh
};

/// How products are computed. Sums are of type float always.
enum shmemx_compute {
  SHMEMX_COMPUTE_FLOAT = 0,
  SHMEMX_COMPUTE_TF32 = 1  ///< operands of type float are rounded to TF32
};

/// How all-gather + product moves rows inside a node.
enum shmemx_protocol {
  SHMEMX_PROTOCOL_GET = 1,  ///< each PE fetches the others' rows when it needs them
  SHMEMX_PROTOCOL_PUT = 2   ///< each PE pushes its rows to the others
};

/// For `pieces` of shmemx_gemm_t: no overlap, the whole collective and one product one behind the other.
#define SHMEMX_PIECES_WHOLE (-1)
/// Pieces of a member's rows at most.
#define SHMEMX_PIECES_MOST 64

/// A product of the caller's: puts the product of nrows rows, from first_row of the whole product on, into the stream.
/// `a` is where row first_row of the left operand is, `c` where the result's row first_row goes. Only what is in the
/// stream may touch them. It is called once for each piece of rows, while the call is under way, and synchronises with
/// nothing. 0, or nonzero: then the call returns nonzero too, and the result is undefined.
typedef int (*shmemx_product_t)(void* argument, size_t first_row, size_t nrows, const void* a, void* c,
                                shmemx_stream_t stream);

/// One call. Begin with SHMEMX_GEMM_INITIALIZER; all members pass equal values but for buffers, bias and argument.
typedef struct {
  size_t size;              ///< sizeof(shmemx_gemm_t) in the caller's version of this header
  shmemx_overlap_t handle;  ///< of shmemx_overlap_create
  size_t m, n, k;           ///< m: rows of all members together, a multiple of N
  int type;                 ///< of a and b: SHMEMX_DATATYPE_HALF, _BFLOAT16, _FLOAT, _FLOAT8_E4M3 or _FLOAT8_E5M2
  int result_type;          ///< of c, bias: `type` or SHMEMX_DATATYPE_FLOAT; of 8-bit floats _HALF, _BFLOAT16, _FLOAT
  int compute;              ///< SHMEMX_COMPUTE_*
  int pieces;               ///< of each member's rows, 1 to 64; 0: as the shape suggests; SHMEMX_PIECES_WHOLE
  int transposed_a;         ///< 1: a is stored as k x m; product + reduce-scatter only
  int transposed_b;         ///< 1: b is stored as n x k
  int activation;           ///< SHMEMX_ACTIVATION_*; all-gather + product only
  size_t lda, ldb, ldc;     ///< elements from row to row as stored; 0: rows lie one behind the other
  const void* a;            ///< all-gather: symmetric (shmem_malloc); best is gathered + me * (m / N) * k, in place
  const void* b;            ///< memory of this PE's GPU
  void* c;                  ///< memory of this PE's GPU
  void* gathered;           ///< all-gather: m * k elements, symmetric; has all members' rows behind the call
  const void* bias;         ///< n elements, added to each row, or NULL; all-gather + product only
  double alpha, beta;       ///< beta is 0 with product + reduce-scatter
  shmemx_product_t
      product;     ///< NULL: cuBLASLt. Else b, bias, activation, compute, alpha and beta are the caller's affair
  void* argument;  ///< for `product`
  int protocol;    ///< SHMEMX_PROTOCOL_*, of all-gather + product inside a node; 0: get, or SHMEM_OVERLAP_PROTOCOL
  int b_type;      ///< of b, where a and b are 8-bit floats of different kinds; 0: `type`
  /// In memory of this PE's GPU, at multiples of 16 bytes: factors of the 8-bit floats in a and in b, or NULL. All
  /// members give one value for a.
  const float *a_scale, *b_scale;
} shmemx_gemm_t;

// clang-format off
#define SHMEMX_GEMM_INITIALIZER \
  {sizeof(shmemx_gemm_t), NULL, 0, 0, 0, SHMEMX_DATATYPE_BFLOAT16, SHMEMX_DATATYPE_BFLOAT16, SHMEMX_COMPUTE_FLOAT, 0, \
   0, 0, SHMEMX_ACTIVATION_NONE, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 1.0, 0.0, NULL, NULL, 0, 0, NULL, NULL}
// clang-format on

RAILSHMEM_BEGIN_C

/// Bytes of workspace that a handle needs. partial_nbytes: of the largest m * n elements of result_type that product +
/// reduce-scatter will deal out; 0 where only all-gather + product is used. Local; 0 after a message.
RAILSHMEM_API size_t shmemx_overlap_workspace(shmem_team_t team, size_t partial_nbytes);

/// Makes a handle for a team. workspace: nbytes of symmetric GPU memory (shmem_malloc) at one address on all members,
/// the handle's alone until it is destroyed. Collective over the team; this PE's GPU is current (cudaSetDevice). 0 on
/// all members, or nonzero on all after a message.
RAILSHMEM_API int shmemx_overlap_create(shmem_team_t team, void* workspace, size_t nbytes, shmemx_overlap_t* handle);

/// Frees a handle; the streams that used it have been synchronised, and graphs that captured its calls destroyed.
/// Local. 0, or nonzero after a message.
RAILSHMEM_API int shmemx_overlap_destroy(shmemx_overlap_t handle);

/// Gathers the members' rows of a in `gathered` and multiplies them by b, in stream order: own rows at once, others
/// piece by piece as they arrive. Collective over the handle's team; all members give the calls of a handle in one
/// order. Graphs may capture it, on all members or on none, after a first call of the shape. 0, or nonzero after a
/// message; where the arguments are wrong nothing happened.
RAILSHMEM_API int shmemx_ag_gemm_on_stream(const shmemx_gemm_t* gemm, shmemx_stream_t stream);

/// Multiplies a by b and deals out the sum over all members, in stream order: the others' rows first, which leave piece
/// by piece while the next is computed, own rows last. Sums go in the order of ranks and are rounded once, whatever the
/// pieces. Collective, captured and refused as shmemx_ag_gemm_on_stream.
RAILSHMEM_API int shmemx_gemm_rs_on_stream(const shmemx_gemm_t* gemm, shmemx_stream_t stream);

/// How a call would be cut where the shape decides: pieces of each member's rows, or SHMEMX_PIECES_WHOLE. Local. It
/// asks for pieces only where the product is long enough to hide them (docs/overlap.md), and between nodes looks at
/// SHMEM_GPU_CONTEXT. `nodes`: of the team. 0 after a message where that variable has no such value.
RAILSHMEM_API int shmemx_ag_gemm_pieces(int npes, int nodes, size_t m, size_t n, size_t k, size_t element_nbytes);
RAILSHMEM_API int shmemx_gemm_rs_pieces(int npes, int nodes, size_t m, size_t n, size_t k, size_t element_nbytes);

RAILSHMEM_END_C

#endif
