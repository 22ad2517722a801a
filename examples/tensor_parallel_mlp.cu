// SPDX-License-Identifier: BSD-3-Clause
//
// A tensor-parallel MLP: y = gelu(x * W1^T) * W2^T. Each PE has a part of the tokens (rows of x and y), of the rows of
// W1 and of the columns of W2. An all-gather brings the tokens to all PEs under the first product; a reduce-scatter
// adds up the PEs' shares of y, and hands each PE its tokens, under the second one. A layer without overlap
// stands beside it. Products are cuBLASLt's, or a kernel of this program. Explained by
// docs/tutorials/09-tensor-parallel.md.
//   oshrun -n 4 ./tensor_parallel_mlp [--shape 4096x4096x14336] [--graph] [--own-product] [--calls 10]
// --shape: tokens x hidden x inner. --calls: layers in each of five turns of the measurement; 0: none.
#include "tensor_parallel_mlp.h"

#include <shmemx_overlap.h>

namespace {

using namespace tensor_parallel_mlp;

constexpr int kThreads = 256;  // of a block
constexpr int kSteps = 3;      // whose results are checked, each with another input
constexpr int kTurns = 5;      // of the measurement
constexpr int kTile = 16;      // rows and columns of the result that a block of the own product computes

/// c[m x n] = a[m x k] * b[n x k]^T, or gelu of it. A block of kTile x kTile threads computes a tile. A row's sums do
/// not depend on the number of rows, so products of pieces have the bits of one product.
__global__ void multiply(const Bf16* a, const Bf16* b, size_t m, size_t n, size_t k, bool with_gelu, Bf16* c) {
  __shared__ float left[kTile][kTile + 1];
  __shared__ float right[kTile][kTile + 1];
  const size_t x = threadIdx.x, y = threadIdx.y, first_row = static_cast<size_t>(blockIdx.y) * kTile,
               first_column = static_cast<size_t>(blockIdx.x) * kTile;
  float sum = 0;
  for (size_t at = 0; at < k; at += kTile) {
    left[y][x] = first_row + y < m && at + x < k ? value_of(a[(first_row + y) * k + at + x]) : 0.0F;
    right[y][x] = first_column + y < n && at + x < k ? value_of(b[(first_column + y) * k + at + x]) : 0.0F;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += left[y][i] * right[x][i];
    __syncthreads();
  }
  if (first_row + y < m && first_column + x < n)
    c[(first_row + y) * n + first_column + x] = rounded(with_gelu ? gelu(sum) : sum);
}

/// A product of this program, as the library calls it: for each piece of rows.
struct OwnProduct {
  const Bf16* b;
  size_t n, k;
  bool with_gelu;
};
int give_own_product(void* argument, size_t, size_t nrows, const void* a, void* c, shmemx_stream_t stream) {
  const OwnProduct& own = *static_cast<OwnProduct*>(argument);
  const dim3 grid(example::blocks(own.n, kTile), example::blocks(nrows, kTile)), block(kTile, kTile);
  multiply<<<grid, block, 0, stream>>>(static_cast<const Bf16*>(a), own.b, nrows, own.n, own.k, own.with_gelu,
                                       static_cast<Bf16*>(c));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

/// What overlapped calls of a team need.
struct Handle {
  void* workspace;
  shmemx_overlap_t handle;
};
/// Collective over all PEs, because of the symmetric memory; the team's members get a handle.
Handle make_handle(shmem_team_t team, size_t partial_nbytes) {
  Handle made{};
  const size_t nbytes = shmemx_overlap_workspace(team, partial_nbytes);
  made.workspace = example::on_gpu<char>(nbytes);
  if (shmemx_overlap_create(team, made.workspace, nbytes, &made.handle) != 0) shmem_global_exit(2);
  return made;
}
void free_handle(const Handle& handle) {
  if (shmemx_overlap_destroy(handle.handle) != 0) shmem_global_exit(2);
  shmem_free(handle.workspace);
}

/// A team of this PE alone.
shmem_team_t team_of_one() {
  shmem_team_t mine = SHMEM_TEAM_INVALID;
  for (int pe = 0; pe < shmem_n_pes(); ++pe) {
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, pe, 1, 1, nullptr, 0, &team);
    if (pe == shmem_my_pe()) mine = team;
  }
  return mine;
}

/// Memory that no other PE reaches.
Bf16* own_memory(size_t n) {
  Bf16* memory = nullptr;
  MUST(cudaMalloc(&memory, n * sizeof(Bf16)));
  return memory;
}

struct Layer {
  Shape shape;
  Bf16* gathered;      ///< all tokens, symmetric; a PE's own are its input
  Bf16 *w1, *w2;       ///< of this PE
  Bf16* h;             ///< tokens x columns()
  Bf16* y;             ///< of this PE's tokens
  Bf16* partial;       ///< without overlap: this PE's share of y, for all tokens
  Handle all, single;  ///< of all PEs; of this PE, for products without communication
  OwnProduct up, down;
  shmemx_gemm_t ag_gemm, gemm_rs;
  Bf16* mine() const { return gathered + shmem_my_pe() * shape.rows() * shape.hidden; }
};

void describe_products(Layer& layer, bool own_product) {
  const Shape& shape = layer.shape;
  shmemx_gemm_t gemm = SHMEMX_GEMM_INITIALIZER;  // of bfloat16
  gemm.handle = layer.all.handle;
  gemm.m = shape.tokens;
  gemm.transposed_b = 1;  // weights are outputs x inputs, as those of torch.nn.Linear
  gemm.product = own_product ? give_own_product : nullptr;

  layer.up = {layer.w1, shape.columns(), shape.hidden, true};
  layer.ag_gemm = gemm;
  layer.ag_gemm.k = shape.hidden;
  layer.ag_gemm.n = shape.columns();
  layer.ag_gemm.a = layer.mine();
  layer.ag_gemm.gathered = layer.gathered;
  layer.ag_gemm.b = layer.w1;
  layer.ag_gemm.c = layer.h;
  layer.ag_gemm.activation = SHMEMX_ACTIVATION_GELU;
  layer.ag_gemm.argument = &layer.up;

  layer.down = {layer.w2, shape.hidden, shape.columns(), false};
  layer.gemm_rs = gemm;
  layer.gemm_rs.k = shape.columns();
  layer.gemm_rs.n = shape.hidden;
  layer.gemm_rs.a = layer.h;
  layer.gemm_rs.b = layer.w2;
  layer.gemm_rs.c = layer.y;
  layer.gemm_rs.argument = &layer.down;
}

/// A message of the library has said what is wrong.
void must_be_taken(int status) {
  if (status != 0) shmem_global_exit(2);
}

/// The layer with overlap: two calls.
void overlapped(const Layer& layer, cudaStream_t stream) {
  must_be_taken(shmemx_ag_gemm_on_stream(&layer.ag_gemm, stream));
  must_be_taken(shmemx_gemm_rs_on_stream(&layer.gemm_rs, stream));
}

/// A product of all rows at once, without communication.
void multiply_alone(const Layer& layer, shmemx_gemm_t gemm, const Bf16* a, Bf16* c, cudaStream_t stream) {
  gemm.handle = layer.single.handle;
  gemm.a = a;
  gemm.gathered = const_cast<Bf16*>(a);
  gemm.c = c;
  must_be_taken(shmemx_ag_gemm_on_stream(&gemm, stream));
}

/// The layer without overlap: collectives and products one behind the other.
void sequential(const Layer& layer, cudaStream_t stream) {
  const Shape& shape = layer.shape;
  const size_t part = shape.rows() * shape.hidden;
  must_be_taken(
      shmemx_fcollectmem_on_stream(SHMEM_TEAM_WORLD, layer.gathered, layer.mine(), part * sizeof(Bf16), stream));
  multiply_alone(layer, layer.ag_gemm, layer.gathered, layer.h, stream);
  multiply_alone(layer, layer.gemm_rs, layer.h, layer.partial, stream);
  shmemx_coll_t reduce_scatter = SHMEMX_COLL_INITIALIZER;
  reduce_scatter.collective = SHMEMX_COLL_REDUCESCATTER;
  reduce_scatter.datatype = SHMEMX_DATATYPE_BFLOAT16;
  reduce_scatter.op = SHMEMX_OP_SUM;
  reduce_scatter.nelems = part;
  reduce_scatter.source = layer.partial;
  reduce_scatter.dest = layer.y;
  must_be_taken(shmemx_coll_on_stream(&reduce_scatter, stream));
}

/// A way to compute the layer: call by call, or captured once and replayed.
class Way {
 public:
  using Give = void (*)(const Layer&, cudaStream_t);
  Way(const Layer& layer, Give give, bool with_graph, cudaStream_t stream)
      : layer_(layer), give_(give), stream_(stream) {
    give(layer, stream);  // finds algorithms, and makes the PEs meet: before a capture
    MUST(cudaStreamSynchronize(stream));
    if (!with_graph) return;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    give(layer, stream);
    MUST(cudaStreamEndCapture(stream, &graph_));
    MUST(cudaGraphInstantiateWithFlags(&ready_, graph_, 0));
  }
  ~Way() {
    if (ready_ != nullptr) MUST(cudaGraphExecDestroy(ready_));
    if (graph_ != nullptr) MUST(cudaGraphDestroy(graph_));
  }
  Way(const Way&) = delete;

  void run() const {
    if (ready_ == nullptr) return give_(layer_, stream_);
    MUST(cudaGraphLaunch(ready_, stream_));
  }

  /// The PE's rows of y for the input of a step. The input is overwritten at once, though others read it in this call.
  std::vector<Bf16> result(int step) const {
    const size_t n = layer_.shape.rows() * layer_.shape.hidden;
    const int grid = example::blocks(n, kThreads);
    const auto fill = [&](int of) {
      make_input<<<grid, kThreads, 0, stream_>>>(layer_.shape, of, shmem_my_pe(), layer_.mine());
    };
    fill(step);
    run();
    fill(step + 1);
    MUST(cudaGetLastError());
    MUST(cudaStreamSynchronize(stream_));
    std::vector<Bf16> y(n);
    MUST(cudaMemcpy(y.data(), layer_.y, n * sizeof(Bf16), cudaMemcpyDeviceToHost));
    return y;
  }

  /// Microseconds of a layer, on the slowest PE.
  double time(int calls) const {
    shmem_barrier_all();
    const double began = example::seconds();
    for (int i = 0; i < calls; ++i) run();
    MUST(cudaStreamSynchronize(stream_));
    return example::largest((example::seconds() - began) * 1e6 / calls);
  }

 private:
  const Layer& layer_;
  const Give give_;
  const cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Results of all steps against double precision; where products are this program's, also against the way without
/// overlap, in every byte. Returns how many elements are wrong.
long check(const Layer& layer, const Way& overlap, const Way& plain, bool own_product) {
  long wrong = 0;
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<Bf16> y = overlap.result(step), expected = plain.result(step);
    wrong += wrong_elements(layer.shape, step, shmem_my_pe(), {y, expected});
    for (size_t i = 0; own_product && i < y.size(); ++i) wrong += y[i] != expected[i];
  }
  return wrong;
}

void measure(const Layer& layer, const Way& overlap, const Way& plain, int calls, const char* how) {
  std::vector<double> with, without;
  for (int turn = 0; turn < kTurns; ++turn) {
    with.push_back(overlap.time(calls));
    without.push_back(plain.time(calls));
  }
  if (shmem_my_pe() != 0) return;
  const Shape& shape = layer.shape;
  std::printf(
      "tensor_parallel_mlp: %zu x %zu x %zu on %d PEs, %s: %.1f us overlapped, %.1f us one behind the other: %.3f of "
      "it\n",
      shape.tokens, shape.hidden, shape.inner, shape.npes, how, median(with), median(without),
      median(with) / median(without));
}

/// Prints how the library cuts the products where SHMEM_OVERLAP does not say.
void explain(const Layer& layer) {
  shmemx_topology_t where{};
  where.size = sizeof where;
  must_be_taken(shmemx_topology_get(SHMEM_TEAM_WORLD, &where));
  const Shape& shape = layer.shape;
  const auto print = [](const char* call, int pieces) {
    if (pieces == SHMEMX_PIECES_WHOLE) {
      std::printf("tensor_parallel_mlp: %s: by its shape whole, without overlap\n", call);
    } else {
      std::printf("tensor_parallel_mlp: %s: by its shape %d piece%s of each PE's rows\n", call, pieces,
                  pieces == 1 ? "" : "s");
    }
  };
  print("all-gather + product",
        shmemx_ag_gemm_pieces(shape.npes, where.nnodes, shape.tokens, shape.columns(), shape.hidden, sizeof(Bf16)));
  print("product + reduce-scatter",
        shmemx_gemm_rs_pieces(shape.npes, where.nnodes, shape.tokens, shape.hidden, shape.columns(), sizeof(Bf16)));
}

Layer make_layer(const Shape& shape, shmem_team_t alone) {
  Layer layer{};
  layer.shape = shape;
  layer.gathered = example::on_gpu<Bf16>(shape.tokens * shape.hidden);
  layer.w1 = own_memory(shape.columns() * shape.hidden);
  layer.w2 = own_memory(shape.columns() * shape.hidden);
  layer.h = own_memory(shape.tokens * shape.columns());
  layer.y = example::on_gpu<Bf16>(shape.rows() * shape.hidden);
  layer.partial = example::on_gpu<Bf16>(shape.tokens * shape.hidden);
  layer.all = make_handle(SHMEM_TEAM_WORLD, shape.tokens * shape.hidden * sizeof(Bf16));
  layer.single = make_handle(alone, 0);
  return layer;
}

void free_layer(const Layer& layer) {
  shmem_barrier_all();
  free_handle(layer.single);
  free_handle(layer.all);
  for (Bf16* const memory : {layer.partial, layer.y, layer.gathered}) shmem_free(memory);
  for (Bf16* const memory : {layer.w1, layer.w2, layer.h}) MUST(cudaFree(memory));
}

}  // namespace

int main(int argc, char** argv) {
  example::start();
  Shape shape{0, 0, 0, shmem_n_pes()};
  const char* const text = example::word(argc, argv, "--shape", "4096x4096x14336");
  const bool read = std::sscanf(text, "%zux%zux%zu", &shape.tokens, &shape.hidden, &shape.inner) == 3;
  const int calls = example::option(argc, argv, "--calls", 10);
  const bool with_graph = example::flag(argc, argv, "--graph"),
             own_product = example::flag(argc, argv, "--own-product");
  example::demand(read && shape.tokens > 0 && shape.hidden > 0 && shape.inner > 0 && shape.tokens % shape.npes == 0 &&
                      shape.inner % shape.npes == 0,
                  "--shape TOKENSxHIDDENxINNER, as 4096x4096x14336, with tokens and inner that the PEs divide");
  example::demand(calls >= 0, "--calls of 0 (nothing is measured) or more");
  const shmem_team_t alone = team_of_one();
  Layer layer = make_layer(shape, alone);
  describe_products(layer, own_product);
  if (shmem_my_pe() == 0) explain(layer);
  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const int grid = example::blocks(shape.columns() * shape.hidden, kThreads);
  make_weights<<<grid, kThreads, 0, stream>>>(shape, shmem_my_pe(), layer.w1, layer.w2);
  MUST(cudaStreamSynchronize(stream));

  long wrong = 0;
  {
    const Way overlap(layer, overlapped, with_graph, stream), plain(layer, sequential, with_graph, stream);
    wrong = check(layer, overlap, plain, own_product);
    char how[80];
    std::snprintf(how, sizeof how, "%s%s", own_product ? "products of the program" : "products of cuBLASLt",
                  with_graph ? ", in a graph" : "");
    if (calls > 0) measure(layer, overlap, plain, calls, how);
  }
  MUST(cudaStreamDestroy(stream));
  free_layer(layer);
  shmem_team_destroy(alone);
  return example::finish("tensor_parallel_mlp", wrong);
}
