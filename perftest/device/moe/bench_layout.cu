// SPDX-License-Identifier: BSD-3-Clause
// moe_bulk_layout: counts and numbers of many tokens for a route, with the members' counts, the way DeepEP's calls take
// them. A token names 8 random experts. Times and --shapes are those of moe_dispatch. --ctas: multiprocessors.
#include <shmem.h>
#include <shmemx_moe.h>

#include "perftest/device/moe/common.cuh"

namespace railshmem::perf::gpu {
namespace {

constexpr int kChosen = 8;

class Layout {
 public:
  Layout(Context& context, const MoeShape& shape)
      : context_(context),
        shape_(shape),
        config_(configuration(context)),
        nbytes_(shmemx_moe_bulk_workspace_of(context.npes, &config_)),
        workspace_(nbytes_),
        chosen_(allocate_gpu<int64_t>(size_of(shape.tokens) * kChosen)),
        numbers_(allocate_gpu<int32_t>(places())),
        in_member_(allocate_gpu<uint8_t>(places())),
        to_members_(allocate_gpu<int32_t>(size_of(context.npes))),
        to_experts_(allocate_gpu<int32_t>(size_of(shape.experts))),
        begins_(allocate_gpu<int32_t>(size_of(context.npes) + 1)),
        received_(allocate_gpu<int32_t>(size_of(shape.experts))) {
    must(shmemx_moe_bulk_create(SHMEM_TEAM_WORLD, &config_, workspace_.as<void>(), nbytes_, &handle_));
    for (int t = 0; t < shape.tokens; ++t)
      for (int k = 0; k < kChosen; ++k) experts_.push_back(expert(context.pe, t, k));
    CUDA_CHECK(cudaMemcpy(chosen_.get(), experts_.data(), experts_.size() * sizeof(int64_t), cudaMemcpyDefault));
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
    context.barrier();
  }
  ~Layout() {
    if (giving_up()) return;
    job::barrier();
    shmemx_moe_bulk_destroy(handle_);
  }
  Layout(const Layout&) = delete;

  void dispatch() {
    shmemx_moe_bulk_layout_t call = SHMEMX_MOE_BULK_LAYOUT_INITIALIZER;
    call.handle = handle_;
    call.tokens = shape_.tokens;
    call.topk = kChosen;
    call.experts = shape_.experts;
    call.chosen = chosen_.get();
    call.numbers = numbers_.get(), call.in_member = in_member_.get();
    call.to_members = to_members_.get(), call.to_experts = to_experts_.get();
    call.begins = begins_.get(), call.received = received_.get();
    must(shmemx_moe_bulk_layout_on_stream(&call, context_.stream()));
  }
  static bool combines() { return false; }
  static void combine() {}

  /// Whether numbers and begins are those of the host.
  bool right() const {
    std::vector<int32_t> numbers(places()), begins(size_of(context_.npes) + 1), wanted{0};
    CUDA_CHECK(cudaMemcpy(numbers.data(), numbers_.get(), numbers.size() * sizeof(int32_t), cudaMemcpyDefault));
    CUDA_CHECK(cudaMemcpy(begins.data(), begins_.get(), begins.size() * sizeof(int32_t), cudaMemcpyDefault));
    bool equal = true;
    for (int pe = 0; pe < context_.npes; ++pe) {
      std::vector<int32_t> before(size_of(context_.npes));
      for (int t = 0; t < shape_.tokens; ++t)
        for (int to = 0; to < context_.npes; ++to) {
          const int32_t number = goes(pe, t, to) ? before[size_of(to)]++ : -1;
          if (pe == context_.pe) equal = equal && numbers[size_of(t) * size_of(context_.npes) + size_of(to)] == number;
        }
      wanted.push_back(wanted.back() + before[size_of(context_.pe)]);
    }
    return equal && begins == wanted;
  }
  /// Experts that are read, and numbers that are written.
  uint64_t nbytes() const { return experts_.size() * sizeof(int64_t) + places() * (sizeof(int32_t) + 1); }

 private:
  static shmemx_moe_bulk_config_t configuration(const Context& context) {
    shmemx_moe_bulk_config_t config = SHMEMX_MOE_BULK_CONFIG_INITIALIZER;
    config.hidden = 8;
    config.max_tokens = 1;  // counts need no room for rows
    config.multiprocessors = static_cast<int>(context.ctas(0));
    return config;
  }
  static size_t size_of(int count) { return static_cast<size_t>(count); }
  size_t places() const { return size_of(shape_.tokens) * size_of(context_.npes); }
  int64_t expert(int pe, int t, int k) const {
    return mixed(static_cast<uint32_t>(t * 64 + k), static_cast<uint32_t>(pe) + 7) %
           static_cast<uint32_t>(shape_.experts);
  }
  bool goes(int pe, int t, int to) const {
    for (int k = 0; k < kChosen; ++k)
      if (expert(pe, t, k) / (shape_.experts / context_.npes) == to) return true;
    return false;
  }

  Context& context_;
  const MoeShape shape_;
  const shmemx_moe_bulk_config_t config_;
  const size_t nbytes_;
  Symmetric workspace_;
  Gpu<int64_t> chosen_;
  Gpu<int32_t> numbers_;
  Gpu<uint8_t> in_member_;
  Gpu<int32_t> to_members_, to_experts_, begins_, received_;
  shmemx_moe_bulk_t handle_ = nullptr;
  std::vector<int64_t> experts_;
};

void run_shape(Context& context, const MoeShape& shape) {
  Layout layout(context, shape);
  const long iters = iterations(context.options, layout.nbytes(), 200);
  std::optional<Graphs<Layout>> graphs;
  if (context.options.graph) graphs.emplace(context, layout, iters);
  const auto measured = [&] { return graphs ? graphs->times() : times_of(context, layout, iters); };
  measured();  // warms up
  std::vector<double> seconds;
  for (int i = 0; i < context.options.common.repetitions; ++i) seconds.push_back(measured().dispatch);
  std::optional<bool> validated;
  if (context.options.common.validate) validated = context.all(layout.right());
  Row row = context.row("latency", "us", layout.nbytes(), 0, 0);
  row.variant = Variant{context.options.graph ? "graph" : "stream", "heap", "int64", false, shape.name};
  row.iters = iters * context.options.common.repetitions;
  row.validated = validated;
  set_time(row, seconds, static_cast<double>(iters));
  context.add(std::move(row));
  if (validated && !*validated) context.agree(false);
}

const Register layouts(
    {"moe_bulk_layout",
     "counts and numbers of many tokens, and the members' counts; --shapes tokens x channels x experts",
     Part::all,
     {1, 1},
     {Scope::thread},
     false,
     [](Context& context) {
       const std::vector<std::string> usual{"512x7168x256", "4096x7168x256", "16384x7168x256"};
       for (const std::string& word : context.options.shapes.empty() ? usual : context.options.shapes)
         run_shape(context, shape_of(word));
     }});

}  // namespace
}  // namespace railshmem::perf::gpu
