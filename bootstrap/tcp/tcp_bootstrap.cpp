// SPDX-License-Identifier: BSD-3-Clause
// The exchange: contributions travel up the tree, the whole comes down. What may happen meanwhile is in tcp_links.cpp.
#include "bootstrap/tcp/tcp_bootstrap.h"

#include <unistd.h>

#include "bootstrap/common/running_exchange.h"

namespace railshmem {

TcpBootstrap::TcpBootstrap(tcp::Meeting meeting)
    : TcpBootstrap{meeting.pe, meeting.npes, meeting.timeout_s, tcp::meet(std::move(meeting))} {}

TcpBootstrap::TcpBootstrap(int pe, int npes, double timeout_s, std::vector<tcp::Neighbour> neighbours)
    : timeout_s_(timeout_s), pe_(pe), tree_{npes}, owner_(getpid()) {
  for (tcp::Neighbour& neighbour : neighbours)
    links_.push_back({neighbour.pe, std::move(neighbour.stream), Presence::here, {}});
}

void TcpBootstrap::allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (all.size() != mine.size() * static_cast<size_t>(npes()))
    throw Error(text("an exchange of %zu bytes per PE among %d PEs has room for %zu", mine.size(), npes(), all.size()));
  const RunningExchange running(mutex_, exchanging_);
  Bytes up = gather_up(mine);
  if (!has_parent()) {
    auto ordered = std::make_shared<Bytes>(all.size());
    size_t from = 0;
    for (const int pe : tree_.subtree(0)) {
      const auto slot = std::span(*ordered).subspan(static_cast<size_t>(pe) * mine.size(), mine.size());
      std::copy_n(up.begin() + static_cast<ptrdiff_t>(from), mine.size(), slot.begin());
      from += mine.size();
    }
    std::copy(ordered->begin(), ordered->end(), all.begin());
    hand_down(ordered);
    return;
  }
  Link& parent = links_.front();
  {
    const std::lock_guard lock(mutex_);
    parent.stream.push(tcp::up, Packer().add(static_cast<uint64_t>(mine.size())).add_bytes(up).take());
  }
  // Every level above may wait out its own time first; its verdict says more than ours.
  auto answers = await({&parent, 1}, tcp::down, Deadline::of_limit(timeout_s_, 0.5 * (tree_.height(0) + 1)));
  auto whole = std::make_shared<const Bytes>(std::move(answers.front()));
  if (whole->size() != all.size())
    fail(text("PE %d expected %zu bytes of an exchange and got %zu", pe_, all.size(), whole->size()));
  std::copy(whole->begin(), whole->end(), all.begin());
  hand_down(whole);
}

Bytes TcpBootstrap::gather_up(std::span<const std::byte> mine) {
  Bytes up(mine.begin(), mine.end());
  const std::vector<int> below = tree_.children(pe_);
  const std::vector<Bytes> payloads =
      await(children(), tcp::up, Deadline::of_limit(timeout_s_, 0.5 * (tree_.height(pe_) - 1)));
  for (size_t i = 0; i < payloads.size(); ++i) {
    Unpacker fields(payloads[i]);
    const auto each = fields.get<uint64_t>();
    if (each != mine.size() || fields.rest().size() != each * tree_.subtree(below[i]).size())
      fail(
          text("PE %d came to an exchange of %zu bytes, PE %d to one of %zu bytes: the PEs do not make the same calls "
               "in the same order",
               pe_, mine.size(), below[i], static_cast<size_t>(each)));
    up.insert(up.end(), fields.rest().begin(), fields.rest().end());
  }
  return up;
}

void TcpBootstrap::hand_down(const std::shared_ptr<const Bytes>& all) {
  const Deadline deadline = Deadline::of_limit(timeout_s_);
  {
    const std::lock_guard lock(mutex_);
    for (Link& link : children()) link.stream.push(tcp::down, all);
  }
  // Everything must be on its way before the caller goes off to compute: nobody else writes our sockets.
  for (;;) {
    bool pending = false;
    {
      const std::lock_guard lock(mutex_);
      pump();
      for (const Link& link : children()) pending = pending || (link.stream.open() && link.stream.has_output());
    }
    if (!pending) return;
    if (deadline.passed()) fail(text("PE %d could not send an exchange to the PEs below it in time", pe_));
    poll_links(kWaitSliceMs);
  }
}

void TcpBootstrap::barrier() {
  allgather({}, {});
}

}  // namespace railshmem
