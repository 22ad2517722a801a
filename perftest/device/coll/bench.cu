// SPDX-License-Identifier: BSD-3-Clause
// allgather, reducescatter, allreduce, alltoall: the collectives of training, called by the host in the order of a
// stream. bytes: the full vector, that is the blocks of all PEs together, as nccl-tests count.
#include "perftest/device/coll/buffer.cuh"
#include "perftest/device/coll/calls.cuh"
#include "perftest/device/coll/elements.cuh"

namespace railshmem::perf::gpu::coll {
namespace {

/// One collective of one size, in buffers that a larger one may share.
class Case {
 public:
  Case(Context& context, Kind kind, Memory memory, uint64_t size, char* source, char* dest)
      : context_(context),
        kind_(kind),
        shape_(shape_of(kind, context.options.dtype, size, context.npes)),
        sums_(kind == Kind::reducescatter || kind == Kind::allreduce),
        values_(values_for(context.options.dtype, sums_ ? context.npes : 1)),
        call_{kind, context.options.dtype, shape_.nelems, source, dest, memory, context.options.ctas.value_or(0)} {
    if (!context.options.in_place) return;
    const uint64_t mine = static_cast<uint64_t>(context.pe) * shape_.block_bytes;
    if (kind == Kind::allgather) call_.source = dest + mine;
    if (kind == Kind::reducescatter) call_.dest = source + mine;
    if (kind == Kind::allreduce || kind == Kind::alltoall) call_.source = dest;
  }

  /// Fills the source, and leaves nothing in dest that looks like a result.
  void prepare() const {
    CUDA_CHECK(cudaMemsetAsync(call_.dest, 0xA5, shape_.dest_bytes, context_.stream()));
    fill({call_.source, call_.dtype, shape_.source_bytes / facts_of(call_.dtype).nbytes, 0}, values_, context_.pe,
         context_.stream());
  }
  void enqueue() const { coll::enqueue(call_, context_.stream()); }

  /// Whether a call does not change its source, so that a second call gives an equal result.
  bool repeats() const { return !context_.options.in_place || kind_ == Kind::allgather; }

  /// Waits for the calls so far and compares. Collective.
  bool right() const {
    const auto npes = static_cast<uint64_t>(context_.npes), me = static_cast<uint64_t>(context_.pe);
    bool well = true;
    context_.finish();
    if (sums_) {
      well = right_block(0, kind_ == Kind::allreduce ? 0 : me * shape_.nelems, 0, context_.npes);
    } else {
      for (uint64_t k = 0; k < npes; ++k) {
        const auto from = static_cast<int>(k);
        well &= right_block(k, kind_ == Kind::alltoall ? me * shape_.nelems : 0, from, from + 1);
      }
    }
    return context_.agree(well);
  }

  Row row() const {
    Row row = context_.row("latency", "us", shape_.bytes, call_.blocks, 0);
    row.variant = {order_of(context_.options), name_of(call_.memory), facts_of(call_.dtype).name,
                   context_.options.in_place};
    return row;
  }
  double factor() const { return bus_factor(kind_, context_.npes); }

 private:
  /// Block `number` of dest against sums over PEs, whose elements begin at index `first` of their sources.
  bool right_block(uint64_t number, uint64_t first, int low, int high) const {
    const char* const at = static_cast<const char*>(call_.dest) + number * shape_.block_bytes;
    const std::optional<Mismatch> wrong =
        check({at, call_.dtype, shape_.nelems, first}, values_, low, high, context_.stream());
    if (!wrong) return true;
    fprintf(
        stderr,
        "shmem_gpu_perf: PE %d: %s of %s, %llu bytes: %llu elements of block %llu are wrong; number %llu is 0x%llx, "
        "expected 0x%llx\n",
        context_.pe, context_.bench->name, facts_of(call_.dtype).name, whole(shape_.bytes), whole(wrong->count),
        whole(number), whole(wrong->first), whole(wrong->found), whole(wrong->expected));
    return false;
  }
  static unsigned long long whole(uint64_t value) { return value; }

  Context& context_;
  Kind kind_;
  Shape shape_;
  bool sums_;
  Values values_;
  Call call_;
};

void run_size(Context& context, const Case& one) {
  Row row = one.row();
  one.prepare();
  one.enqueue();  // libraries connect and allocate in the first call
  if (context.options.common.validate) {
    row.validated = one.right();
    one.prepare();
  }
  context.barrier();
  time_calls(context, row, one.factor(), [&] { one.enqueue(); });
  // Hundreds of calls without a pause between them, or of replays, have left the result of one.
  if (context.options.common.validate && one.repeats()) row.validated = one.right() && *row.validated;
  context.add(std::move(row));
}

void run_memory(Context& context, Kind kind, Memory memory) {
  const Shape largest = shape_of(kind, context.options.dtype, context.largest(), context.npes);
  // In place the larger of the two buffers serves as both.
  const bool has_source = !context.options.in_place || kind == Kind::reducescatter;
  const bool has_dest = !context.options.in_place || kind != Kind::reducescatter;
  std::optional<Buffer> source, dest;
  if (has_source) source.emplace(memory, largest.source_bytes);
  if (has_dest) dest.emplace(memory, largest.dest_bytes);
  for (const std::optional<Buffer>* const buffer : {&source, &dest}) {
    if (!*buffer || context.all((*buffer)->at() != nullptr)) continue;
    if (context.first())
      fprintf(stderr, "shmem_gpu_perf: %s in %s memory: SKIPPED: %s\n", context.bench->name, name_of(memory),
              (*buffer)->missing().c_str());
    return;
  }
  for (const uint64_t size : context.sizes)
    run_size(context, Case(context, kind, memory, size, source ? source->at() : nullptr, dest ? dest->at() : nullptr));
}

void run(Context& context, Kind kind) {
  if (context.options.memories.empty()) return run_memory(context, kind, Memory::heap);
  for (const Memory memory : context.options.memories) run_memory(context, kind, memory);
}

constexpr Range kSizes{uint64_t{8} << 10, uint64_t{1} << 30};
const std::vector<Scope> kHost{Scope::thread};
const Register benches[] = {
    Register({"allgather", "all-gather on a stream; bytes: all blocks together", Part::all, kSizes, kHost, false,
              [](Context& context) { run(context, Kind::allgather); }}),
    Register({"reducescatter", "reduce-scatter on a stream, sum; bytes: all blocks together", Part::all, kSizes, kHost,
              false, [](Context& context) { run(context, Kind::reducescatter); }}),
    Register({"allreduce", "all-reduce on a stream, sum; bytes: the vector of one PE", Part::all, kSizes, kHost, false,
              [](Context& context) { run(context, Kind::allreduce); }}),
    Register({"alltoall", "all-to-all on a stream; bytes: all blocks of one PE together", Part::all, kSizes, kHost,
              false, [](Context& context) { run(context, Kind::alltoall); }}),
};

}  // namespace
}  // namespace railshmem::perf::gpu::coll
