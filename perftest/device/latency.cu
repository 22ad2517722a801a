// SPDX-License-Identifier: BSD-3-Clause
// put_lat, get_lat, p_lat, g_lat: one operation at a time until it is complete at the peer. In warp and block scope the
// threads meet, one of them calls quiet, and they meet again.
#include "perftest/device/api.cuh"
#include "perftest/device/measure.cuh"

namespace railshmem::perf::gpu {
namespace {

template <Scope kScope>
__global__ void __launch_bounds__(most_threads(kScope))
    put_latency(Loop loop, char* dest, const char* source, uint64_t nbytes, int pe) {
  timed<kScope>(loop, [&](uint64_t, uint64_t) {
    api::put_nbi<kScope>(dest, source, nbytes, pe);
    sync<kScope>();
    if (leads<kScope>()) api::quiet();
    sync<kScope>();
    return true;
  });
}

template <Scope kScope>
__global__ void __launch_bounds__(most_threads(kScope))
    get_latency(Loop loop, char* dest, const char* source, uint64_t nbytes, int pe) {
  timed<kScope>(loop, [&](uint64_t, uint64_t) {
    api::get<kScope>(dest, source, nbytes, pe);
    return true;
  });
}

__global__ void p_latency(Loop loop, uint64_t* dest, int pe) {
  timed<Scope::thread>(loop, [&](uint64_t turn, uint64_t) {
    api::put_value(dest, turn + 1, pe);
    api::quiet();
    return true;
  });
}

/// The next address depends on the value (always 0) that came, so that no two are under way.
__global__ void g_latency(Loop loop, const uint64_t* source, int pe, uint64_t* last) {
  uint64_t value = 0;
  timed<Scope::thread>(loop, [&](uint64_t, uint64_t) {
    value = api::get_value(source + value, pe);
    return true;
  });
  *last = value;
}

void run_put(Context& context) {
  const Symmetric from(context.largest()), to(context.largest());
  for (const uint64_t bytes : context.sizes) {
    const auto launch = [&](const Loop& loop) {
      with_scope(context.scope, [&]<Scope kScope>() {
        context.launch(put_latency<kScope>, 1, context.scope_threads(), loop, to.as<>(), from.as<const char>(), bytes,
                       context.target);
      });
    };
    std::optional<bool> validated;
    if (context.options.common.validate) {
      to.clear();
      if (context.first()) context.fill(from.as<>(), bytes, 0);
      self_timed(context, 1, launch);
      validated = context.agree(!context.is_target() || context.matches(to.as<>(), bytes, 0));
    }
    add_time(context, "latency", bytes, 200, validated, launch);
  }
}

void run_get(Context& context) {
  const Symmetric from(context.largest()), to(context.largest());
  for (const uint64_t bytes : context.sizes) {
    const auto launch = [&](const Loop& loop) {
      with_scope(context.scope, [&]<Scope kScope>() {
        context.launch(get_latency<kScope>, 1, context.scope_threads(), loop, to.as<>(), from.as<const char>(), bytes,
                       context.target);
      });
    };
    std::optional<bool> validated;
    if (context.options.common.validate) {
      to.clear();
      if (context.is_target()) context.fill(from.as<>(), bytes, 0);
      self_timed(context, 1, launch);
      validated = context.agree(!context.first() || context.matches(to.as<>(), bytes, 0));
    }
    add_time(context, "latency", bytes, 200, validated, launch);
  }
}

void run_p(Context& context) {
  const Symmetric word(sizeof(uint64_t));
  add_time(context, "latency", sizeof(uint64_t), 200, std::nullopt,
           [&](const Loop& loop) { context.launch(p_latency, 1, 1, loop, word.as<uint64_t>(), context.target); });
}

void run_g(Context& context) {
  const Symmetric word(sizeof(uint64_t));
  const Gpu<uint64_t> last = allocate_gpu<uint64_t>(1);
  add_time(context, "latency", sizeof(uint64_t), 200, std::nullopt, [&](const Loop& loop) {
    context.launch(g_latency, 1, 1, loop, word.as<const uint64_t>(), context.target, last.get());
  });
}

const Register put_lat({"put_lat",
                        "put_nbi and quiet by a thread, a warp, a block of --threads",
                        Part::one_sided,
                        {8, 32 << 10},
                        {Scope::thread, Scope::warp, Scope::block},
                        true,
                        run_put});
const Register get_lat({"get_lat",
                        "get by a thread, a warp, a block of --threads",
                        Part::one_sided,
                        {8, 32 << 10},
                        {Scope::thread, Scope::warp, Scope::block},
                        true,
                        run_get});
const Register p_lat(
    {"p_lat", "8-byte p and quiet by one thread", Part::one_sided, {8, 8}, {Scope::thread}, false, run_p});
const Register g_lat({"g_lat", "8-byte g by one thread", Part::one_sided, {8, 8}, {Scope::thread}, false, run_g});

}  // namespace
}  // namespace railshmem::perf::gpu
