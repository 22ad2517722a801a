// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/kernel_watch.h"

#include <chrono>
#include <utility>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/pe_list.h"
#include "src/base/thread.h"
#include "src/plugin/device_access.h"

namespace railshmem {
namespace {

constexpr std::chrono::milliseconds kPeriod{5};  // a look is a load; five in a thousand of a core at most
constexpr int kLooksPerDeath = 20;               // asking for deaths costs a system call a peer

bool is_of_experts(const FaultRecord& fault) {
  return fault.call == DeviceCall::moe_dispatch || fault.call == DeviceCall::moe_combine ||
         fault.call == DeviceCall::moe_bulk_layout;
}
bool is_of_many_tokens(const FaultRecord& fault) {
  return fault.call == DeviceCall::moe_bulk_dispatch || fault.call == DeviceCall::moe_bulk_combine;
}

std::string reason(const FaultRecord& fault, int npes, const std::string& death) {
  switch (static_cast<ChannelStatus>(fault.status)) {
    case ChannelStatus::ok:
      break;
    case ChannelStatus::timeout:
      if (fault.call == DeviceCall::coll_on_stream)
        return text(
            "PE %d did not join this collective, or sent nothing, within SHMEM_WAIT_TIMEOUT; check that PE %d calls "
            "the "
            "team's collectives in the order of the other members, or raise the limit",
            fault.pe, fault.pe);
      if ((is_of_experts(fault) || is_of_many_tokens(fault)) && fault.pe < 0)
        return "what this PE has put did not arrive within SHMEM_WAIT_TIMEOUT; look for a PE that has stopped, or "
               "raise it";
      if (is_of_experts(fault) || is_of_many_tokens(fault))
        return text(
            "PE %d did not come to it within SHMEM_WAIT_TIMEOUT; look whether PE %d makes the handle's calls in the "
            "order of the others, or raise it",
            fault.pe, fault.pe);
      return "nothing came within SHMEM_WAIT_TIMEOUT; look for a PE that does not take part, or raise it";
    case ChannelStatus::stopped:
      return "the library was stopped while the kernel ran; call shmem_finalize after the last kernel has ended";
    case ChannelStatus::peer_lost:
      return death.empty() ? "a peer is lost" : death + "; see that PE's own output";
    case ChannelStatus::failed:
      return "the network failed; see the messages before this";
    case ChannelStatus::bad_pe:
      return text("PE %d does not exist there; this job has %s", fault.pe, all_pes(npes).c_str());
    case ChannelStatus::bad_address:
      return text(
          "address %#llx (for PE %d) is not symmetric, or the range runs past its end; allocate with shmem_malloc "
          "after the GPU was chosen",
          static_cast<unsigned long long>(fault.address), fault.pe);
    case ChannelStatus::bad_handle:
      return "no such context or team, or this PE is not in it";
    case ChannelStatus::bad_argument:
      if (is_of_experts(fault))
        return text("token %llu names expert %d, which does not exist; pass -1 for no expert",
                    static_cast<unsigned long long>(fault.address), fault.pe);
      if (is_of_many_tokens(fault) && fault.pe < 0)
        return text("%llu rows come, which is more than there is room for; give room for as many as begins says",
                    static_cast<unsigned long long>(fault.address));
      if (is_of_many_tokens(fault))
        return text("token %llu has the number %d at a member; numbers are less than max_tokens",
                    static_cast<unsigned long long>(fault.address), fault.pe);
      return "an argument makes no sense";
    case ChannelStatus::no_channel:
      return text("PE %d is not mapped here and this job has no network; add ofi to SHMEM_TRANSPORT", fault.pe);
    case ChannelStatus::unsupported:
      return "kernels have no values of this type; call it on the host";
    case ChannelStatus::promised:
      return text("PE %d is on another node and may only set this word: %s", fault.pe, kPromises);
    case ChannelStatus::closed:
      return "a graph was launched that captured this call, but its team has been destroyed; destroy the graph before";
  }
  return text("status %llu", static_cast<unsigned long long>(fault.status));
}

}  // namespace

std::string describe(const FaultRecord& fault, int npes, const std::string& death) {
  return text("shmem_%s in a kernel (block %u, thread %u): %s", name_of(fault.call), fault.block, fault.thread,
              reason(fault, npes, death).c_str());
}

KernelWatch::KernelWatch(KernelChannels& channels, int pe, int npes, Death death)
    : channels_(channels),
      pe_(pe),
      npes_(npes),
      death_(std::move(death)),
      thread_(start_thread({"railshmem-gpu", "the watch over kernels"}, pe, [this] { run(); })) {}

KernelWatch::~KernelWatch() {
  {
    const std::lock_guard held(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void KernelWatch::run() noexcept {
  std::unique_lock held(mutex_);
  while (!wake_.wait_for(held, kPeriod, [this] { return stop_; })) look();
  look();  // what failed last is told as well
}

void KernelWatch::look() {
  if (dead_.empty() && ++looks_ % kLooksPerDeath == 0) {
    if (const auto death = death_()) {
      dead_ = *death;
      channels_.fail(ChannelStatus::peer_lost);
    }
  }
  if (const FaultRecord* const fault = channels_.take_fault()) die("%s", describe(*fault, npes_, dead_).c_str());
}

}  // namespace railshmem
