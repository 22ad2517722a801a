// SPDX-License-Identifier: BSD-3-Clause
// gemm_beside: a product of bf16 matrices on all PEs at once, alone, beside eight all-gathers on another stream, and
// beside bare copies of those bytes by copy engines, in turns. Rows: gemm_alone, gemm_beside_allgather and
// gemm_beside_copies; "latency" is the product's time, "span" the time until product and company are both done.
#include <array>

#include "perftest/device/coll/buffer.cuh"
#include "perftest/device/coll/calls.cuh"
#include "perftest/device/coll/exchange.cuh"
#include "perftest/device/coll/product.h"

namespace railshmem::perf::gpu::coll::beside {
namespace {

constexpr long kCalls = 8;
// Kernels of the company have their multiprocessors before the product, whose blocks fill the GPU, takes the rest.
constexpr uint64_t kHeadStartNs = 30'000;

/// Holds its stream until the host has put everything into the other streams.
__global__ void gate_kernel(volatile uint32_t* open, uint64_t limit_ns) {
  const uint64_t deadline = now_ns() + limit_ns;
  while (*open == 0 && now_ns() < deadline) {
  }
}
__global__ void delay_kernel(uint64_t ns) {
  const uint64_t end = now_ns() + ns;
  while (now_ns() < end) {
  }
}

struct Times {
  std::vector<double> product, span;  ///< seconds
};

/// The product on a stream of its own, the company on the context's.
class Race {
 public:
  /// Runs everything once without a gate: CUDA may load kernels at their first launch, and waits for the GPU then.
  template <class... Companies>
  Race(Context& context, Product& product, Companies&&... companies) : context_(context), product_(product) {
    *open_.get() = 1;
    gate_kernel<<<1, 1, 0, context.stream()>>>(open_.get(), 0);
    delay_kernel<<<1, 1, 0, context.stream()>>>(0);
    product.enqueue(context.stream());
    (companies(), ...);
    context.finish();
  }

  /// One round of all PEs; `company()` puts its calls into the context's stream.
  template <class Company>
  void run(Times& times, Company&& company) {
    *open_.get() = 0;
    context_.barrier();
    gate_kernel<<<1, 1, 0, gate_.get()>>>(open_.get(), context_.limit_ns());
    CUDA_CHECK(cudaGetLastError());
    record(opened_, gate_.get());
    wait(context_.stream(), opened_);
    record(begin_span_, context_.stream());
    company();
    wait(products_.get(), opened_);
    delay_kernel<<<1, 1, 0, products_.get()>>>(kHeadStartNs);
    record(begin_, products_.get());
    product_.enqueue(products_.get());
    record(end_, products_.get());
    wait(context_.stream(), end_);
    record(end_span_, context_.stream());
    *static_cast<volatile uint32_t*>(open_.get()) = 1;
    context_.finish();
    times.product.push_back(between(begin_, end_));
    times.span.push_back(between(begin_span_, end_span_));
  }

 private:
  static void record(const Event& event, cudaStream_t stream) { CUDA_CHECK(cudaEventRecord(event.get(), stream)); }
  static void wait(cudaStream_t stream, const Event& event) { CUDA_CHECK(cudaStreamWaitEvent(stream, event.get(), 0)); }
  static double between(const Event& from, const Event& to) {
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, from.get(), to.get()));
    return 1e-3 * static_cast<double>(milliseconds);
  }

  Context& context_;
  Product& product_;
  Pinned<uint32_t> open_ = allocate_pinned<uint32_t>(1);
  Stream gate_ = make_stream(), products_ = make_stream();
  Event opened_ = make_event(), begin_ = make_event(), end_ = make_event(), begin_span_ = make_event(),
        end_span_ = make_event();
};

void add_rows(Context& context, const char* name, uint64_t bytes, const Variant& variant, const Times& times) {
  for (const auto& [metric, seconds] : {std::pair("latency", &times.product), std::pair("span", &times.span)}) {
    Row row = context.row(metric, "us", bytes, 0, 0);
    row.bench = name;
    row.variant = variant;
    row.iters = static_cast<long>(seconds->size());
    set_time(row, *seconds, 1);
    context.add(std::move(row));
  }
}

void run_memory(Context& context, Product& product, Memory memory) {
  const Dtype dtype = context.options.dtype;
  const uint64_t size = context.largest();
  const Shape shape = shape_of(Kind::allgather, dtype, size, context.npes);
  const Buffer source(memory, shape.source_bytes), dest(memory, shape.dest_bytes);
  if (!context.all(source.at() != nullptr && dest.at() != nullptr)) {
    if (context.first())
      fprintf(stderr, "shmem_gpu_perf: gemm_beside in %s memory: SKIPPED: %s%s\n", name_of(memory),
              source.missing().c_str(), dest.missing().c_str());
    return;
  }
  const Symmetric probe(16);
  std::optional<Exchange> exchange;  // where PEs' memory is mapped
  if (context.all(job::mapped(probe.as<>(), (context.pe + 1) % context.npes) != nullptr))
    exchange.emplace(context, shape.bytes);
  const Call call{
      Kind::allgather, dtype, shape.nelems, source.at(), dest.at(), memory, context.options.ctas.value_or(0)};
  const auto gathers = [&] {
    for (long i = 0; i < kCalls; ++i) enqueue(call, context.stream());
  };
  const auto copies = [&] {
    if (!exchange) return;
    for (long i = 0; i < kCalls; ++i) exchange->enqueue_copies(shape.block_bytes, context.stream());
  };
  Race race(context, product, gathers, copies);
  Times alone, beside_gathers, beside_copies;
  for (int i = 0; i < context.options.common.repetitions; ++i) {
    race.run(alone, [] {});
    if (exchange) race.run(beside_copies, copies);
    race.run(beside_gathers, gathers);
  }
  const Variant variant{"stream", name_of(memory), facts_of(dtype).name, false};
  add_rows(context, "gemm_alone", shape.bytes, variant, alone);
  if (exchange) add_rows(context, "gemm_beside_copies", shape.bytes, variant, beside_copies);
  add_rows(context, "gemm_beside_allgather", shape.bytes, variant, beside_gathers);
}

void run(Context& context) {
  std::string why;
  const std::unique_ptr<Product> product = Product::make(why);
  if (!context.all(product != nullptr)) {
    if (context.first())
      fprintf(stderr, "shmem_gpu_perf: gemm_beside: SKIPPED: %s\n",
              why.empty() ? "another PE has no cuBLAS" : why.c_str());
    return;
  }
  if (context.options.memories.empty()) return run_memory(context, *product, Memory::heap);
  for (const Memory memory : context.options.memories) run_memory(context, *product, memory);
}

const Register bench({"gemm_beside",
                      "bf16 product alone, beside 8 all-gathers, and beside bare copies of their bytes",
                      Part::all,
                      {uint64_t{256} << 20, uint64_t{256} << 20},
                      {Scope::thread},
                      false,
                      run});

}  // namespace
}  // namespace railshmem::perf::gpu::coll::beside
