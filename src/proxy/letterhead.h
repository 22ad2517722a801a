// SPDX-License-Identifier: BSD-3-Clause
// The parts that all messages of one endpoint have in common.
#pragma once

#include "src/plugin/network.h"
#include "src/proxy/cell_pool.h"
#include "src/proxy/message.h"
#include "src/proxy/scope.h"

namespace railshmem {

struct Letterhead {
  Port port;
  int pe;

  /// `replied`: the cell that the reply names; null for a message that is acknowledged.
  MessageHeader header(MessageKind kind, uint8_t op, uint8_t width, SegmentId segment, const NetContext& scope,
                       const OpCell* replied) const noexcept {
    return {kind,
            op,
            width,
            replied != nullptr ? Answer::reply : Answer::acknowledge,
            port,
            segment,
            scope.id,
            pe,
            replied != nullptr ? replied->index : kNoCell};
  }

  SignalMessage signal(const NetContext& scope, const NetSignal& signal, const OpCell* replied) const noexcept {
    return {header(MessageKind::signal, static_cast<uint8_t>(signal.op), 8, signal.segment, scope, replied),
            signal.offset, signal.value};
  }

  FlagMessage flag(Remote to, uint64_t value) const noexcept {
    return {{MessageKind::flag, 0, 8, Answer::none, port, to.segment, 0, pe, kNoCell}, to.offset, value};
  }
};

}  // namespace railshmem
