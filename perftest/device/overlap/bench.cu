// SPDX-License-Identifier: BSD-3-Clause
// ag_gemm and gemm_rs: overlapped products in bf16 on all PEs, in turns with the product alone, with the product beside
// bare copies of the collective's bytes, on which nothing depends, with the collective alone, and with our collective
// and the product one behind the other. One row each: NAME_alone, NAME_beside, NAME_collective, NAME_sequential,
// NAME_ours, and NAME_by_sequential, the ratio of the last two.
#include <dlfcn.h>
#include <shmem.h>
#include <shmemx_overlap.h>

#include <functional>

#include "perftest/device/context.cuh"
#include "perftest/device/overlap/shapes.h"

namespace railshmem::perf::gpu::overlap {
namespace {

using Word = uint16_t;  // a bf16

const std::vector<std::string> kGathers{"32768x16384x8192", "16384x16384x8192", "8192x8192x8192", "4096x8192x4096",
                                        "8192x8192x28672"};
const std::vector<std::string> kScatters{"32768x8192x8192", "16384x8192x8192", "8192x4096x8192", "4096x4096x4096"};

int pieces_of(const std::string& text) {
  if (text == "auto") return 0;
  return text == "whole" ? SHMEMX_PIECES_WHOLE : std::stoi(text);
}
int protocol_of(const std::string& text) {
  return text == "get" ? SHMEMX_PROTOCOL_GET : text == "put" ? SHMEMX_PROTOCOL_PUT : 0;
}

/// Random values in (-1, 1): a GPU multiplies zeros with less power, and so faster.
__global__ void randomize(Word* at, uint64_t n, uint32_t seed) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    uint32_t mixed = (static_cast<uint32_t>(i) + seed) * 0x9E3779B1u;
    mixed = (mixed ^ (mixed >> 15)) * 0x2C1B3C6Du;
    mixed ^= mixed >> 16;
    at[i] = static_cast<Word>(__float_as_uint(static_cast<float>(mixed) * 0x1p-31f - 1.0f) >> 16);
  }
}
void fill(const Symmetric& memory, uint64_t n, uint32_t seed) {
  randomize<<<1024, 256>>>(memory.as<Word>(), n, seed);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

/// A team of this PE alone, of all PEs at once.
shmem_team_t team_of_one(const Context& context) {
  shmem_team_t mine = SHMEM_TEAM_INVALID;
  for (int pe = 0; pe < context.npes; ++pe) {
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, pe, 1, 1, nullptr, 0, &team);
    if (pe == context.pe) mine = team;
  }
  return mine;
}

class Handle {
 public:
  Handle(shmem_team_t team, size_t partial_nbytes) : memory_(shmemx_overlap_workspace(team, partial_nbytes)) {
    if (shmemx_overlap_create(team, memory_.as<void>(), shmemx_overlap_workspace(team, partial_nbytes), &handle_) != 0)
      throw std::runtime_error("shmemx_overlap_create failed");
  }
  ~Handle() {
    if (giving_up()) return;
    job::barrier();
    shmemx_overlap_destroy(handle_);
  }
  Handle(const Handle&) = delete;
  shmemx_overlap_t get() const { return handle_; }

 private:
  Symmetric memory_;
  shmemx_overlap_t handle_ = nullptr;
};

/// The library refused a call: it has said why, and nothing waits.
struct Refused : std::runtime_error {
  Refused() : std::runtime_error("the library refused a call") {}
};

/// Matrices of one shape, and what is measured on them.
class Layer {
 public:
  Layer(Context& context, shmem_team_t alone, Way way, const Shape& shape)
      : context_(context),
        way_(way),
        shape_(shape),
        block_(shape.m / static_cast<size_t>(context.npes) * (way == Way::gather ? shape.k : shape.n)),
        all_(SHMEM_TEAM_WORLD, way == Way::scatter ? shape.m * shape.n * sizeof(Word) : 0),
        single_(alone, 0),
        a_(shape.m * shape.k * sizeof(Word)),
        b_(shape.k * shape.n * sizeof(Word)),
        c_(shape.m * shape.n * sizeof(Word)),
        landing_(way == Way::scatter ? block_ * static_cast<size_t>(context.npes) * sizeof(Word) : 16) {
    fill(a_, shape.m * shape.k, 1);
    fill(b_, shape.k * shape.n, 2);
    for (int i = 1; i < context.npes; ++i) sides_.push_back(make_stream());
    context.barrier();
  }

  uint64_t moved_bytes() const { return block_ * static_cast<size_t>(context_.npes - 1) * sizeof(Word); }

  void alone() { give_alone(context_.stream()); }

  /// The bytes that the collective moves go by copy engines on other streams, and nothing waits for them but the end.
  void beside() {
    CUDA_CHECK(cudaEventRecord(begun_.get(), context_.stream()));
    for (int i = 1; i < context_.npes; ++i) {
      const int other = (context_.pe + i) % context_.npes;
      const cudaStream_t side = sides_[static_cast<size_t>(i) - 1].get();
      CUDA_CHECK(cudaStreamWaitEvent(side, begun_.get(), 0));
      const size_t theirs = static_cast<size_t>(other) * block_, mine = static_cast<size_t>(context_.pe) * block_;
      void *to = a_.as<Word>() + theirs, *from = nullptr;
      if (way_ == Way::gather) {
        from = context_.need_at(to, other);
      } else {
        to = context_.need_at(landing_.as<Word>() + mine, other);
        from = c_.as<Word>() + theirs;
      }
      CUDA_CHECK(cudaMemcpyAsync(to, from, block_ * sizeof(Word), cudaMemcpyDefault, side));
    }
    alone();
    for (const Stream& side : sides_) {
      CUDA_CHECK(cudaEventRecord(done_.get(), side.get()));
      CUDA_CHECK(cudaStreamWaitEvent(context_.stream(), done_.get(), 0));
    }
  }

  void together(int pieces, int protocol = 0) {
    shmemx_gemm_t gemm = product();
    gemm.handle = all_.get();
    gemm.pieces = pieces;
    gemm.protocol = protocol;
    if (way_ == Way::gather) {
      gemm.a = a_.as<Word>() + static_cast<size_t>(context_.pe) * block_;
      gemm.gathered = a_.as<Word>();
      must(shmemx_ag_gemm_on_stream(&gemm, context_.stream()));
    } else {
      must(shmemx_gemm_rs_on_stream(&gemm, context_.stream()));
    }
  }

  /// The whole collective without a product. A reduce-scatter's sums are of nothing in particular.
  void collective() {
    shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
    const size_t mine = static_cast<size_t>(context_.pe) * block_;
    coll.nelems = block_;
    coll.datatype = SHMEMX_DATATYPE_BFLOAT16;
    if (way_ == Way::gather) {
      coll.source = a_.as<Word>() + mine;
      coll.dest = a_.as<Word>();
    } else {
      coll.collective = SHMEMX_COLL_REDUCESCATTER;
      coll.op = SHMEMX_OP_SUM;
      coll.source = c_.as<Word>();
      coll.dest = landing_.as<Word>();
    }
    must(shmemx_coll_on_stream(&coll, context_.stream()));
  }

  /// The library's own choice.
  int suggested() const {
    const auto pieces = way_ == Way::gather ? shmemx_ag_gemm_pieces : shmemx_gemm_rs_pieces;
    shmemx_topology_t where{};
    where.size = sizeof where;
    must(shmemx_topology_get(SHMEM_TEAM_WORLD, &where));
    return pieces(context_.npes, where.nnodes, shape_.m, shape_.n, shape_.k, sizeof(Word));
  }

 private:
  static void must(int status) {
    if (status != 0) throw Refused();
  }
  shmemx_gemm_t product() const {
    shmemx_gemm_t gemm = SHMEMX_GEMM_INITIALIZER;
    gemm.m = shape_.m;
    gemm.n = shape_.n;
    gemm.k = shape_.k;
    gemm.a = a_.as<void>();
    gemm.b = b_.as<void>();
    gemm.c = c_.as<void>();
    return gemm;
  }
  void give_alone(cudaStream_t stream) {
    shmemx_gemm_t gemm = product();
    gemm.handle = single_.get();
    gemm.gathered = a_.as<void>();
    gemm.pieces = 1;
    must(shmemx_ag_gemm_on_stream(&gemm, stream));
  }

  Context& context_;
  const Way way_;
  const Shape shape_;
  const size_t block_;  ///< elements of what a PE contributes to another
  Handle all_, single_;
  Symmetric a_, b_, c_, landing_;
  std::vector<Stream> sides_;
  Event begun_ = make_event(), done_ = make_event();
};

/// Several calls between two events, so that the PEs' start, which is not quite at once, does not count.
double seconds_of(Context& context, long calls, const std::function<void()>& call) {
  const Event begin = make_event(), end = make_event();
  context.barrier();
  CUDA_CHECK(cudaEventRecord(begin.get(), context.stream()));
  for (long i = 0; i < calls; ++i) call();
  CUDA_CHECK(cudaEventRecord(end.get(), context.stream()));
  context.finish();
  float milliseconds = 0;
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
  return 1e-3 * static_cast<double>(milliseconds);
}

struct Candidate {
  std::string name, shape;
  std::function<void()> call;
  std::vector<double> seconds = {};
};

/// Whether all PEs could make the calls. It finds algorithms, and warms up.
bool works(Context& context, long calls, const Candidate& candidate) {
  bool well = true;
  context.barrier();
  try {
    for (long i = 0; i < calls; ++i) candidate.call();
  } catch (const Refused&) {
    well = false;
  }
  context.finish();
  well = context.all(well);
  if (!well && context.first())
    fprintf(stderr, "shmem_gpu_perf: REFUSED %s %s\n", candidate.name.c_str(), candidate.shape.c_str());
  return well;
}

std::vector<Candidate> candidates_of(Context& context, Layer& layer, Way way, const std::string& bench,
                                     const Shape& shape) {
  std::vector<Candidate> candidates{{bench + "_alone", shape.name, [&layer] { layer.alone(); }}};
  const Symmetric probe(16);
  if (context.all(job::mapped(probe.as<>(), (context.pe + 1) % context.npes) != nullptr))
    candidates.push_back({bench + "_beside", shape.name, [&layer] { layer.beside(); }});
  candidates.push_back({bench + "_collective", shape.name, [&layer] { layer.collective(); }});
  candidates.push_back({bench + "_sequential", shape.name, [&layer] { layer.together(SHMEMX_PIECES_WHOLE); }});
  const std::vector<std::string> automatic{"auto"};
  for (const std::string& pieces : context.options.pieces.empty() ? automatic : context.options.pieces) {
    const int suggested = layer.suggested();
    const std::string text =
        pieces != "auto" ? pieces : "auto=" + (suggested < 0 ? "whole" : std::to_string(suggested));
    const bool named = way == Way::gather && !context.options.protocols.empty();
    for (const std::string& protocol : named ? context.options.protocols : automatic)
      candidates.push_back({bench + "_ours", shape.name + " " + text + (named ? " " + protocol : ""),
                            [&layer, n = pieces_of(pieces), how = protocol_of(protocol)] { layer.together(n, how); }});
  }
  return candidates;
}

/// Returns how many candidates were refused; the others have rows.
size_t run_shape(Context& context, shmem_team_t alone, Way way, const std::string& bench, const Shape& shape) {
  Layer layer(context, alone, way, shape);
  std::vector<Candidate> candidates = candidates_of(context, layer, way, bench, shape);
  // About 20 ms a turn: operations of a product by what a GPU of today does.
  const double product =
      2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k) / 650e12;
  const long calls = context.options.common.iters.value_or(std::clamp(static_cast<long>(20e-3 / product), 2L, 200L));
  const size_t refused =
      std::erase_if(candidates, [&](const Candidate& candidate) { return !works(context, calls, candidate); });
  for (int i = 0; i < context.options.common.repetitions; ++i)
    for (Candidate& candidate : candidates) candidate.seconds.push_back(seconds_of(context, calls, candidate.call));
  const auto sequential = std::find_if(candidates.begin(), candidates.end(),
                                       [](const Candidate& one) { return one.name.ends_with("_sequential"); });
  for (const Candidate& candidate : candidates) {
    Row row = context.row("latency", "us", layer.moved_bytes(), 0, 0);
    row.bench = candidate.name;
    row.variant = Variant{"stream", "heap", "bfloat16", true, candidate.shape};
    row.iters = calls * context.options.common.repetitions;
    set_time(row, candidate.seconds, static_cast<double>(calls));
    context.add(row);
    if (sequential == candidates.end() || !candidate.name.ends_with("_ours")) continue;
    row.bench = bench + "_by_sequential";
    row.metric = row.unit = "ratio";
    set_ratio(row, candidate.seconds, sequential->seconds);
    context.add(std::move(row));
  }
  return refused;
}

bool has_cublas() {
  return dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL) != nullptr ||
         dlopen("libcublasLt.so.12", RTLD_NOW | RTLD_LOCAL) != nullptr;
}

void run(Context& context, Way way, const char* bench, const std::vector<std::string>& usual) {
  if (!context.all(has_cublas())) {
    if (context.first())
      fprintf(stderr, "shmem_gpu_perf: %s: SKIPPED: no libcublasLt.so.13 or .12; put its folder into LD_LIBRARY_PATH\n",
              bench);
    return;
  }
  const shmem_team_t alone = team_of_one(context);
  size_t refused = 0;
  for (const Shape& shape : shapes_of(way, context.options.shapes.empty() ? usual : context.options.shapes,
                                      context.npes, context.options.tokens))
    refused += run_shape(context, alone, way, bench, shape);
  context.agree(refused == 0);  // the run fails, behind its other rows
  context.barrier();
  shmem_team_destroy(alone);
}

const Register gathers({"ag_gemm",
                        "all-gather under a bf16 product: alone, beside copies, sequential, ours; --shapes",
                        Part::all,
                        {1, 1},
                        {Scope::thread},
                        false,
                        [](Context& context) { run(context, Way::gather, "ag_gemm", kGathers); }});
const Register scatters({"gemm_rs",
                         "bf16 product over its reduce-scatter: alone, beside copies, sequential, ours",
                         Part::all,
                         {1, 1},
                         {Scope::thread},
                         false,
                         [](Context& context) { run(context, Way::scatter, "gemm_rs", kScatters); }});

}  // namespace
}  // namespace railshmem::perf::gpu::overlap
