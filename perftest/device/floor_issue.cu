// SPDX-License-Identifier: BSD-3-Clause
// floor_ticket, floor_issue, floor_issue_fence: how one thread gives a CPU 64 bytes, in bare instructions. floor_ticket
// takes a number from this GPU's memory; floor_issue also stores to the place in pinned memory that the number names;
// floor_issue_fence has a fence between the two.
#include "perftest/device/api.cuh"
#include "perftest/device/measure.cuh"

namespace railshmem::perf::gpu {
namespace {

constexpr uint32_t kSlots = 1024, kSlotWords = 8;

enum class Step : uint8_t { ticket, store, fence_and_store };

template <Step kStep>
__global__ void issue_kernel(Loop loop, unsigned long long* head, uint64_t* slots) {
  timed<Scope::thread>(
      loop,
      [&](uint64_t turn, uint64_t) {
        uint64_t ticket;
        asm volatile("atom.global.add.relaxed.gpu.u64 %0, [%1], 1;" : "=l"(ticket) : "l"(head) : "memory");
        if (kStep == Step::ticket) return ticket != ~uint64_t{0};
        if (kStep == Step::fence_and_store) asm volatile("fence.acq_rel.sys;" ::: "memory");
        uint64_t* const slot = slots + ticket % kSlots * kSlotWords;
#pragma unroll
        for (uint32_t i = 0; i < kSlotWords; i += 2) {
          asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(slot + i), "l"(turn), "l"(ticket)
                       : "memory");
        }
        return true;
      },
      [] { __threadfence_system(); });
}

template <Step kStep>
void run_issue(Context& context) {
  const Gpu<unsigned long long> head = allocate_gpu<unsigned long long>(1);
  const Pinned<uint64_t> slots = allocate_pinned<uint64_t>(kSlots * kSlotWords);
  // Parameters are those of ring_issue.
  add_time(context, "issue", sizeof(uint64_t), 64, std::nullopt,
           [&](const Loop& loop) { context.launch(issue_kernel<kStep>, 1, 1, loop, head.get(), slots.get()); });
}

constexpr Range kTicket{8, 8};
const Register ticket({"floor_ticket",
                       "raw atomic add on a word of this GPU, with its result",
                       Part::one_sided,
                       kTicket,
                       {Scope::thread},
                       false,
                       run_issue<Step::ticket>});
const Register issue({"floor_issue",
                      "raw atomic add with its result, and 64 bytes in four stores to pinned memory",
                      Part::one_sided,
                      kTicket,
                      {Scope::thread},
                      false,
                      run_issue<Step::store>});
const Register fenced({"floor_issue_fence",
                       "raw atomic add, a fence of system scope, and 64 bytes in four stores to pinned memory",
                       Part::one_sided,
                       kTicket,
                       {Scope::thread},
                       false,
                       run_issue<Step::fence_and_store>});

}  // namespace
}  // namespace railshmem::perf::gpu
