// SPDX-License-Identifier: BSD-3-Clause
// put_on_stream, get_on_stream, put_signal_on_stream, barrier_on_stream, fcollect_on_stream, alltoall_on_stream,
// reduce_on_stream: calls of the host in the order of a stream, one after the other between two events. *_blocking_*:
// the forms that need no quiet. floor_launch: empty kernels, one after the other between two events.
#include <algorithm>
#include <chrono>
#include <optional>

#include "perftest/device/api.cuh"
#include "perftest/device/blocks.cuh"
#include "perftest/device/measure.cuh"
#include "perftest/device/replay.cuh"

namespace railshmem::perf::gpu::streams {
namespace {

__global__ void empty_kernel() {}

/// Adds the row of `call(i)`. All PEs that act put equally many calls into their streams; i counts from 1 and never
/// back.
template <class Call>
void add_stream_time(Context& context, uint64_t bytes, long usual_iters, std::optional<bool> validated, uint64_t& calls,
                     Call&& call) {
  const long iters = iterations(context.options, bytes, usual_iters);
  const auto launch = [&](long n) {
    for (long i = 0; i < n; ++i) call(++calls);
  };
  const std::vector<double> seconds = event_timed(
      context, iters, [] {}, launch);
  Row row = context.row("latency", "us", bytes, 0, 0);
  row.iters = iters * context.options.common.repetitions;
  row.validated = validated;
  set_time(row, seconds, static_cast<double>(iters));
  context.add(std::move(row));
}

/// `nbi(i)` again and again, with one quiet at the end: what the calls move together.
template <class Nbi>
void add_stream_bandwidth(Context& context, uint64_t bytes, std::optional<bool> validated, Nbi&& nbi) {
  const long iters = messages_of(context.options, bytes);
  const auto launch = [&](long n) {
    for (long i = 0; i < n; ++i) nbi();
    api::on_stream::quiet(context.stream());
  };
  const std::vector<double> seconds = event_timed(
      context, iters, [] {}, launch);
  Row row = context.row("bandwidth", "GB/s", bytes, 0, 0);
  row.validated = validated;
  add_throughput(context, std::move(row), iters, seconds, static_cast<double>(bytes) * static_cast<double>(iters), 1e9);
}

enum class Way : uint8_t { put, get };
enum class Form : uint8_t { nbi, blocking };

void run_copies(Context& context, Way way, Form form) {
  const Symmetric from(context.largest()), to(context.largest());
  uint64_t calls = 0;
  for (const uint64_t bytes : context.sizes) {
    const auto nbi = [&] {
      if (way == Way::put)
        api::on_stream::put_nbi(to.as<>(), from.as<>(), bytes, context.peer(), context.stream());
      else
        api::on_stream::get_nbi(to.as<>(), from.as<>(), bytes, context.peer(), context.stream());
    };
    const auto call = [&](uint64_t) {
      if (form == Form::nbi) {
        nbi();
        api::on_stream::quiet(context.stream());
      } else if (way == Way::put) {
        api::on_stream::put(to.as<>(), from.as<>(), bytes, context.peer(), context.stream());
      } else {
        api::on_stream::get(to.as<>(), from.as<>(), bytes, context.peer(), context.stream());
      }
    };
    std::optional<bool> validated;
    if (context.options.common.validate) {
      to.clear();
      context.fill(from.as<>(), bytes, context.pe);
      context.barrier();
      if (context.acts()) call(0);
      context.barrier();
      const bool receives = way == Way::put ? context.is_target() : context.first();
      validated = context.agree(!receives || context.matches(to.as<>(), bytes, way == Way::put ? 0 : context.target));
    }
    add_stream_time(context, bytes, 200, validated, calls, call);
    if (form == Form::nbi) add_stream_bandwidth(context, bytes, validated, nbi);
  }
}
void run_put(Context& context) {
  run_copies(context, Way::put, Form::nbi);
}
void run_get(Context& context) {
  run_copies(context, Way::get, Form::nbi);
}
void run_put_blocking(Context& context) {
  run_copies(context, Way::put, Form::blocking);
}
void run_get_blocking(Context& context) {
  run_copies(context, Way::get, Form::blocking);
}

/// There and back.
void run_put_signals(Context& context, Form form) {
  const Symmetric from(context.largest()), to(context.largest()), signal(sizeof(uint64_t));
  uint64_t calls = 0;
  for (const uint64_t bytes : context.sizes) {
    const auto give = [&](uint64_t i) {
      const auto put_signal = form == Form::nbi ? api::on_stream::put_signal_nbi : api::on_stream::put_signal;
      put_signal(to.as<>(), from.as<>(), bytes, signal.as<uint64_t>(), i, context.peer(), context.stream());
    };
    const auto call = [&](uint64_t i) {
      if (context.first()) give(i);
      api::on_stream::wait_signal(signal.as<uint64_t>(), i, context.stream());
      if (!context.first()) give(i);
    };
    std::optional<bool> validated;
    if (context.options.common.validate) {
      to.clear();
      context.fill(from.as<>(), bytes, context.pe);
      context.barrier();
      if (context.acts()) call(++calls);
      context.barrier();
      validated = context.agree(!context.acts() || context.matches(to.as<>(), bytes, context.peer()));
    }
    add_stream_time(context, bytes, 200, validated, calls, call);
  }
}
void run_put_signal(Context& context) {
  run_put_signals(context, Form::nbi);
}
void run_put_signal_blocking(Context& context) {
  run_put_signals(context, Form::blocking);
}

/// Adds the row of `call()` as the GPU alone sees it: a graph of many calls is replayed, so no CPU launches anything
/// between.
template <class Call>
void add_graph_time(Context& context, Call&& call) {
  constexpr long kCalls = 50;
  std::optional<Replay> replay;
  if (context.acts()) replay.emplace(context.stream(), kCalls, call);
  const std::vector<double> seconds = event_timed(
      context, kCalls * 4, [] {},
      [&](long n) {
        for (long i = 0; i < n; i += kCalls) replay->launch();
      });
  Row row = context.row("latency", "us", 0, 0, 0);
  row.iters = kCalls * 4 * context.options.common.repetitions;
  set_time(row, seconds, static_cast<double>(kCalls * 4));
  context.add(std::move(row));
}

/// Adds the row of the time that `call()` takes on the CPU.
template <class Call>
void add_cpu_time(Context& context, Call&& call) {
  constexpr int kCalls = 50;  // few enough for any queue of a stream
  std::vector<double> seconds;
  context.barrier();
  for (int r = 0; context.acts() && r < context.options.common.repetitions; ++r) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    context.finish();
  }
  context.barrier();
  if (!context.first()) seconds.clear();
  Row row = context.row("latency", "us", 0, 0, 0);
  row.iters = kCalls * context.options.common.repetitions;
  set_time(row, seconds, static_cast<double>(kCalls));
  context.add(std::move(row));
}

void run_barrier(Context& context) {
  uint64_t calls = 0;
  add_stream_time(context, 0, 200, std::nullopt, calls, [&](uint64_t) { api::on_stream::barrier(context.stream()); });
}
void run_barrier_graph(Context& context) {
  add_graph_time(context, [&] { api::on_stream::barrier(context.stream()); });
}
void run_barrier_cpu(Context& context) {
  add_cpu_time(context, [&] { api::on_stream::barrier(context.stream()); });
}

using Blocks = int (*)(uint64_t*, const uint64_t*, size_t, cudaStream_t);

void run_blocks(Context& context, Blocks collective, Pattern pattern) {
  const auto npes = static_cast<uint64_t>(context.npes);
  const uint64_t capacity = context.largest() + 8 * npes;
  const Symmetric from(capacity), to(capacity);
  uint64_t calls = 0;
  for (const uint64_t size : context.sizes) {
    const uint64_t block = std::max<uint64_t>(8, size / npes / 8 * 8);
    const auto call = [&](uint64_t) {
      if (collective(to.as<uint64_t>(), from.as<const uint64_t>(), block / 8, context.stream()) != 0)
        throw std::runtime_error(std::string(context.bench->name) + " was refused");
    };
    std::optional<bool> validated;
    if (context.options.common.validate) {
      to.clear();
      fill_blocks(context, pattern, from.as<>(), block);
      context.barrier();
      call(0);
      context.barrier();
      validated = check_blocks(context, pattern, to.as<>(), block);
    }
    add_stream_time(context, block * npes, 100, validated, calls, call);
  }
}
void run_fcollect(Context& context) {
  run_blocks(context, api::on_stream::fcollect, Pattern::fcollect);
}
void run_alltoall(Context& context) {
  run_blocks(context, api::on_stream::alltoall, Pattern::alltoall);
}

/// Every PE gives its number and one, so the sum is known.
void run_reduce(Context& context) {
  const Symmetric from(context.largest() + sizeof(float)), to(context.largest() + sizeof(float));
  uint64_t calls = 0;
  for (const uint64_t size : context.sizes) {
    const uint64_t n = std::max<uint64_t>(1, size / sizeof(float));
    const auto call = [&](uint64_t) {
      if (api::on_stream::sum(to.as<float>(), from.as<const float>(), n, context.stream()) != 0)
        throw std::runtime_error("reduce_on_stream was refused");
    };
    std::vector<float> values(n, static_cast<float>(context.pe + 1));
    CUDA_CHECK(cudaMemcpy(from.as<>(), values.data(), n * sizeof(float), cudaMemcpyDefault));
    std::optional<bool> validated;
    if (context.options.common.validate) {
      to.clear();
      context.barrier();
      call(0);
      context.barrier();
      CUDA_CHECK(cudaMemcpy(values.data(), to.as<>(), n * sizeof(float), cudaMemcpyDefault));
      const auto sum = static_cast<float>(context.npes * (context.npes + 1) / 2);
      validated = context.agree(std::all_of(values.begin(), values.end(), [&](float v) { return v == sum; }));
    }
    add_stream_time(context, n * sizeof(float), 100, validated, calls, call);
  }
}

void run_launch(Context& context) {
  uint64_t calls = 0;
  add_stream_time(context, 0, 200, std::nullopt, calls,
                  [&](uint64_t) { empty_kernel<<<1, 1, 0, context.stream()>>>(); });
}

void run_launch_graph(Context& context) {
  add_graph_time(context, [&] { empty_kernel<<<1, 1, 0, context.stream()>>>(); });
}
void run_launch_cpu(Context& context) {
  add_cpu_time(context, [&] { empty_kernel<<<1, 1, 0, context.stream()>>>(); });
}

constexpr Range kSizes{8, 4 << 20};
constexpr Range kBlockSizes{256, 1 << 20};
const std::vector<Scope> kOnce{Scope::thread};
const Register benches[] = {
    Register({"put_on_stream", "put and quiet; and puts with one quiet: GB/s", Part::one_sided, kSizes, kOnce, false,
              run_put}),
    Register({"get_on_stream", "get and quiet; and gets with one quiet: GB/s", Part::one_sided, kSizes, kOnce, false,
              run_get}),
    Register({"put_signal_on_stream", "put_signal there and back, each awaited on its stream", Part::two_sided, kSizes,
              kOnce, false, run_put_signal}),
    Register({"put_blocking_on_stream", "puts that return when the source may change", Part::one_sided, kSizes, kOnce,
              false, run_put_blocking}),
    Register(
        {"get_blocking_on_stream", "gets that need no quiet", Part::one_sided, kSizes, kOnce, false, run_get_blocking}),
    Register({"put_signal_blocking_on_stream", "as put_signal_on_stream, by the form that is not nbi", Part::two_sided,
              kSizes, kOnce, false, run_put_signal_blocking}),
    Register({"barrier_on_stream", "barrier_all", Part::all, {0, 0}, kOnce, false, run_barrier}),
    Register({"barrier_in_graph",
              "barrier_all of a stream, replayed by a graph: no CPU between",
              Part::all,
              {0, 0},
              kOnce,
              false,
              run_barrier_graph}),
    Register({"barrier_on_cpu",
              "barrier_all of a stream: what the call costs the CPU",
              Part::all,
              {0, 0},
              kOnce,
              false,
              run_barrier_cpu}),
    Register({"fcollect_on_stream", "fcollect; bytes: N blocks together", Part::all, kBlockSizes, kOnce, false,
              run_fcollect}),
    Register({"alltoall_on_stream", "alltoall; bytes: N blocks together", Part::all, kBlockSizes, kOnce, false,
              run_alltoall}),
    Register({"reduce_on_stream", "sum of floats; bytes: the vector of one PE", Part::all, kBlockSizes, kOnce, false,
              run_reduce}),
    Register({"floor_launch", "empty kernels one after the other", Part::one_sided, {0, 0}, kOnce, false, run_launch}),
    Register({"floor_launch_in_graph",
              "empty kernels one after the other, replayed by a graph",
              Part::one_sided,
              {0, 0},
              kOnce,
              false,
              run_launch_graph}),
    Register({"floor_launch_on_cpu",
              "what launching one costs the CPU",
              Part::one_sided,
              {0, 0},
              kOnce,
              false,
              run_launch_cpu}),
};

}  // namespace
}  // namespace railshmem::perf::gpu::streams
