// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/share_client.h"

#include <algorithm>
#include <exception>

#include "src/base/error.h"
#include "src/base/log.h"
#include "src/gpu/share_messages.h"

namespace railshmem {
namespace {

// A peer answers in microseconds, unless its driver waits for a kernel, which may wait for this very PE.
constexpr uint64_t kWithdrawalNs = 1'000'000'000;

}  // namespace

ShareClient::Answer ShareClient::import(const SharedAllocation& allocation, size_t slot) const {
  const cuda::ShareableMemory& memory = allocation.memory;
  ImportRequest request;
  request.pe = me_;
  request.number = allocation.number;
  request.address = memory.start();
  request.nbytes = memory.nbytes();
  request.nextents = static_cast<uint32_t>(memory.nextents());
  request.by = static_cast<uint32_t>(memory.by());
  ImportAnswer answer;
  for (size_t first = 0; answer.here == 0; first += kDescriptorsPerMessage) {
    if (first >= memory.nextents()) throw Error(text("%s has all extents and no address", name(slot).c_str()));
    const size_t count = std::min(kDescriptorsPerMessage, memory.nextents() - first);
    std::vector<FdOffer> offered;  // until the peer has taken them
    const std::vector<cuda::ShareDescriptor> descriptors = memory.descriptors(first, count, offers_, offered);
    request.first_extent = static_cast<uint32_t>(first);
    request.ndescriptors = static_cast<uint32_t>(count);
    Mail mail;
    append(mail, request);
    for (const cuda::ShareDescriptor& descriptor : descriptors) append(mail, descriptor);
    const Mail reply = ask(by_slot_[slot], mail);
    std::span<const std::byte> rest(reply);
    if (!take(rest, answer)) throw Error(text("%s answers with %zu bytes", name(slot).c_str(), reply.size()));
    answer.why[sizeof answer.why - 1] = '\0';
    if (answer.why[0] != '\0') return {0, answer.later != 0, answer.why};
  }
  return {answer.here};
}

bool ShareClient::withdraw(uint64_t number, size_t slot, Withdrawal how) const noexcept {
  try {
    WithdrawRequest request;
    request.pe = me_;
    request.number = number;
    Mail mail;
    append(mail, request);
    if (how == Withdrawal::only_notifies) {
      if (!notify(by_slot_[slot].address, mail)) log_debug("%s was not told to unmap", name(slot).c_str());
      return false;
    }
    Addressee whom = by_slot_[slot];
    whom.patience_ns = std::min(whom.patience_ns, kWithdrawalNs);
    const Mail reply = ask(whom, mail);
    std::span<const std::byte> rest(reply);
    WithdrawAnswer answer;
    return take(rest, answer) && answer.unmapped != 0;
  } catch (const std::exception& error) {
    log_debug("a withdrawn allocation: %s", error.what());
    return false;
  }
}

}  // namespace railshmem
