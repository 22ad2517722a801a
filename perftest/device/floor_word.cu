// SPDX-License-Identifier: BSD-3-Clause
// floor_store, floor_load, floor_atomic, floor_flag, floor_pinned: single words over the link, without a library.
#include <cstring>
#include <memory>
#include <thread>

#include "perftest/device/measure.cuh"

namespace railshmem::perf::gpu {
namespace {

/// The floor of p_lat and the small put_lat: a store, and the fence that completes it.
__global__ void store_kernel(Loop loop, uint64_t* there) {
  timed<Scope::thread>(loop, [&](uint64_t turn, uint64_t) {
    store_word(there, turn);
    __threadfence_system();
    return true;
  });
}

/// The floor of g_lat.
__global__ void load_kernel(Loop loop, const uint64_t* there, uint64_t* last) {
  uint64_t value = 0;
  timed<Scope::thread>(loop, [&](uint64_t, uint64_t) {
    value = load_word(there + value);
    return true;
  });
  *last = value;
}

/// The floor of amo_lat with add.
__global__ void atomic_kernel(Loop loop, uint64_t* there) {
  timed<Scope::thread>(loop, [&](uint64_t, uint64_t) {
    asm volatile("red.relaxed.sys.global.add.u64 [%0], %1;" ::"l"(there), "l"(uint64_t{1}) : "memory");
    __threadfence_system();
    return true;
  });
}

/// The floor of both ping-pongs: `here` is written by the peer, `there` is the peer's word.
__global__ void flag_kernel(Loop loop, const uint64_t* here, uint64_t* there, bool serves) {
  timed<Scope::thread>(loop, [&](uint64_t turn, uint64_t deadline) {
    if (serves) store_word(there, turn + 1);
    const bool well = await_word(here, turn + 1, deadline);
    if (well && !serves) store_word(there, turn + 1);
    return well;
  });
}

void run_store(Context& context) {
  const Symmetric word(sizeof(uint64_t));
  add_time(context, "latency", sizeof(uint64_t), 200, std::nullopt, [&](const Loop& loop) {
    context.launch(store_kernel, 1, 1, loop, static_cast<uint64_t*>(context.need_at_peer(word.as<>())));
  });
}

void run_load(Context& context) {
  const Symmetric word(sizeof(uint64_t));
  const Gpu<uint64_t> last = allocate_gpu<uint64_t>(1);
  add_time(context, "latency", sizeof(uint64_t), 200, std::nullopt, [&](const Loop& loop) {
    const auto* const there = static_cast<const uint64_t*>(context.need_at_peer(word.as<>()));
    context.launch(load_kernel, 1, 1, loop, there, last.get());
  });
}

void run_atomic(Context& context) {
  const Symmetric word(sizeof(uint64_t));
  add_time(context, "add", sizeof(uint64_t), 200, std::nullopt, [&](const Loop& loop) {
    context.launch(atomic_kernel, 1, 1, loop, static_cast<uint64_t*>(context.need_at_peer(word.as<>())));
  });
}

void run_flag(Context& context) {
  const Symmetric word(sizeof(uint64_t));
  add_time(context, "round_trip", sizeof(uint64_t), 200, std::nullopt, [&](const Loop& loop) {
    auto* const there = static_cast<uint64_t*>(context.need_at_peer(word.as<>()));
    context.launch(flag_kernel, 1, 1, loop, word.as<const uint64_t>(), there, context.first());
  });
}

/// A CPU thread that sends each value back, until stopped.
class Echo {
 public:
  Echo() {
    std::memset(words_.get(), 0, 2 * kApart * sizeof(uint64_t));
    thread_ = std::jthread([question = question(), answer = answer()](const std::stop_token& stop) {
      uint64_t last = 0;
      while (!stop.stop_requested()) {
        for (int i = 0; i < 1000; ++i) {
          // relaxed: the word alone travels, as in the kernel.
          const uint64_t value = __atomic_load_n(question, __ATOMIC_RELAXED);
          if (value != last) __atomic_store_n(answer, last = value, __ATOMIC_RELAXED);
        }
      }
    });
  }
  uint64_t* question() const { return words_.get(); }
  uint64_t* answer() const { return words_.get() + kApart; }

 private:
  static constexpr size_t kApart = 32;  // two lines of the CPU's, and not neighbours

  Pinned<uint64_t> words_ = allocate_pinned<uint64_t>(2 * kApart);
  std::jthread thread_;  // ends before the words go
};

void run_pinned(Context& context) {
  const std::unique_ptr<const Echo> echo = context.acts() ? std::make_unique<const Echo>() : nullptr;
  add_time(context, "round_trip", sizeof(uint64_t), 200, std::nullopt,
           [&](const Loop& loop) { context.launch(flag_kernel, 1, 1, loop, echo->answer(), echo->question(), true); });
}

constexpr Range kWord{8, 8};
const Register store({"floor_store",
                      "raw 8-byte store to the peer and a fence",
                      Part::one_sided,
                      kWord,
                      {Scope::thread},
                      false,
                      run_store});
const Register load(
    {"floor_load", "raw 8-byte load from the peer", Part::one_sided, kWord, {Scope::thread}, false, run_load});
const Register atomic({"floor_atomic",
                       "raw atomic add at the peer and a fence",
                       Part::one_sided,
                       kWord,
                       {Scope::thread},
                       false,
                       run_atomic});
const Register flag({"floor_flag",
                     "raw flag between two GPUs, there and back",
                     Part::two_sided,
                     kWord,
                     {Scope::thread},
                     false,
                     run_flag});
const Register pinned({"floor_pinned",
                       "raw word in pinned memory, GPU to CPU and back",
                       Part::one_sided,
                       kWord,
                       {Scope::thread},
                       false,
                       run_pinned});

}  // namespace
}  // namespace railshmem::perf::gpu
