// SPDX-License-Identifier: BSD-3-Clause
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bootstrap/tcp/greeting.h"
#include "bootstrap/tcp/listeners.h"
#include "bootstrap/tcp/membership.h"
#include "bootstrap/tcp/pending_connections.h"
#include "bootstrap/tcp/socket.h"
#include "bootstrap/tcp/tree.h"
#include "src/base/log.h"
#include "src/base/pe_list.h"

namespace railshmem::tcp {
namespace {

std::string failed_at(const Address& address, int why) {
  return text("%s: %s", address.text().c_str(), std::strerror(why));
}

class Member {
 public:
  explicit Member(const Meeting& meeting)
      : meeting_(meeting), tree_{meeting.npes}, deadline_(Deadline::of_limit(meeting.timeout_s)) {}

  std::vector<Neighbour> meet() {
    Stream root = find_root();
    // PE 0's own verdict names who is missing; it comes when PE 0's time is over, which may be a little later.
    const auto frame = next_frame(root, Deadline::of_limit(meeting_.timeout_s, kSlackSeconds));
    if (frame && frame->kind == refused) throw Error(Unpacker(frame->payload).get_text());
    if (!frame || frame->kind != seat)
      throw Error(text("PE 0 at %s %s before all %d PEs had come", last_.c_str(),
                       root.open() ? "did not answer" : "ended the connection", meeting_.npes));
    const Seat seat = read_seat(frame->payload, meeting_.npes);
    tree_key_ = seat.tree_key;
    root.trust();
    std::vector<Neighbour> neighbours;
    neighbours.push_back(
        {seat.parent, seat.parent == 0 ? std::move(root) : connect_parent(seat.parent, seat.parent_address)});
    accept_children(neighbours);
    return neighbours;
  }

 private:
  static constexpr double kSlackSeconds = 2.0;

  Stream find_root() {
    double patience_s = 0.5;  // for one handshake; grows because a busy PE 0 is slow, while a stranger stays silent
    do {
      for (int port = meeting_.first_port; port < meeting_.first_port + meeting_.nports && port < 65536; ++port) {
        for (const Address& address : meeting_.addresses) {
          if (auto root = try_root(address.with_port(port), patience_s)) return std::move(*root);
        }
      }
      poll(nullptr, 0, deadline_.slice_ms(50));
      patience_s = std::min(patience_s * 2, 5.0);
    } while (!deadline_.passed());
    throw Error(
        text("PE %d could not reach PE 0 at %s within %g s (SHMEM_TIMEOUT); last tried %s. Is PE 0 running there, "
             "and do firewalls let this host through?",
             meeting_.pe, meeting_.place.c_str(), meeting_.timeout_s,
             stranger_.empty() ? last_.c_str() : stranger_.c_str()));
  }

  std::optional<Stream> try_root(const Address& address, double patience_s) {
    UniqueFd fd = connect_to(address, Deadline(std::min(patience_s, deadline_.slice_ms(5000) / 1e3)));
    if (!fd) {
      last_ = failed_at(address, errno);
      return std::nullopt;
    }
    open_listener(local_address(fd.get()));
    Stream stream(std::move(fd));
    const Reception reception = introduce(stream, address.port(), join, join_claim(meeting_, announced_),
                                          meeting_.secret, Deadline(patience_s));
    if (reception == Reception::welcome) {
      last_ = address.text();
      stream.push(here);
      stream.pump_output();
      return stream;
    }
    last_ = text("%s: %s", address.text().c_str(), explain(reception));
    // Without a secret, whoever listens at MASTER_ADDR is believed.
    if (reception == Reception::asks_secret) throw Error(text("PE %d found PE 0 at %s", meeting_.pe, last_.c_str()));
    // With one it may be a stranger, so the search goes on.
    if (reception != Reception::silence) {
      if (stranger_.empty())
        log_warn("PE %d has not found PE 0 yet and goes on looking; at %s", meeting_.pe, last_.c_str());
      stranger_ = last_;
    }
    return std::nullopt;
  }

  /// Children will connect where this PE reached PE 0 from, or to the interface that the user chose.
  void open_listener(const Address& towards_root) {
    if (tree_.children(meeting_.pe).empty()) {
      announced_ = towards_root;
      return;
    }
    const Address own = meeting_.interface.empty() ? towards_root : interface_addresses(meeting_.interface).front();
    listeners_ = open_listeners({own}, 0);
    if (listeners_.empty()) throw Error(text("PE %d cannot listen at %s", meeting_.pe, failed_at(own, errno).c_str()));
    announced_ = local_address(listeners_.front().get());
  }

  Stream connect_parent(int parent, const Address& address) {
    const Deadline deadline = Deadline::of_limit(meeting_.timeout_s);
    const Bytes claim = Packer().add(tree_key_).add(meeting_.pe).take();
    for (;;) {
      UniqueFd fd = connect_to(address, deadline);
      if (!fd)
        throw Error(
            text("PE %d could not connect to PE %d at %s", meeting_.pe, parent, failed_at(address, errno).c_str()));
      Stream stream(std::move(fd));
      const Reception reception = introduce(stream, address.port(), child, claim, meeting_.secret, deadline);
      if (reception == Reception::welcome) {
        stream.trust();
        return stream;
      }
      // A parent beset by strangers may have dropped us.
      if (reception != Reception::silence || deadline.passed())
        throw Error(text("PE %d could not connect to PE %d at %s: %s", meeting_.pe, parent, address.text().c_str(),
                         reception == Reception::silence ? "it does not answer" : explain(reception)));
      poll(nullptr, 0, deadline.slice_ms(50));
    }
  }

  void accept_children(std::vector<Neighbour>& neighbours) {
    std::vector<int> absent = tree_.children(meeting_.pe);
    if (absent.empty()) return;
    PendingConnections pending(std::move(listeners_), child, meeting_.secret);
    const Deadline deadline = Deadline::of_limit(meeting_.timeout_s);
    while (!absent.empty()) {
      if (deadline.passed())
        throw Error(text("%s did not connect to PE %d at %s within %g s (SHMEM_TIMEOUT)", pe_list(absent).c_str(),
                         meeting_.pe, announced_.text().c_str(), meeting_.timeout_s));
      std::vector<pollfd> wait;
      pending.watch(wait);
      poll(wait.data(), wait.size(), deadline.slice_ms(PendingConnections::kLookEveryMs));
      for (Arrival& arrival : pending.look()) take_child(pending, std::move(arrival), absent, neighbours);
    }
    std::sort(neighbours.begin() + 1, neighbours.end(), [](const auto& a, const auto& b) { return a.pe < b.pe; });
  }

  void take_child(PendingConnections& pending, Arrival arrival, std::vector<int>& absent,
                  std::vector<Neighbour>& neighbours) const {
    const int pe = child_named_in(arrival.claim, tree_key_);
    if (std::erase(absent, pe) == 0)
      return pending.turned_away(arrival.from, text("it is not one of the PEs that PE %d waits for", meeting_.pe));
    arrival.stream.trust();
    arrival.stream.push(noticed, std::move(arrival.proof));
    arrival.stream.pump_output();
    neighbours.push_back({pe, std::move(arrival.stream)});
  }

  const Meeting& meeting_;
  Tree tree_;
  Deadline deadline_;
  std::string last_ = "nothing";
  Address announced_{};
  std::vector<UniqueFd> listeners_;
  std::string stranger_;  ///< who answered at PE 0's place, and what is wrong with it
  Key tree_key_{};
};

}  // namespace

std::vector<Neighbour> meet_as_member(const Meeting& meeting) {
  return Member(meeting).meet();
}

}  // namespace railshmem::tcp
