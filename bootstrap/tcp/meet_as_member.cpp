// SPDX-License-Identifier: BSD-3-Clause
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bootstrap/tcp/greeting.h"
#include "bootstrap/tcp/meeting.h"
#include "bootstrap/tcp/socket.h"
#include "bootstrap/tcp/tree.h"
#include "src/base/pe_list.h"

namespace railshmem::tcp {
namespace {

std::string failed_at(const Address& address, int why) {
  return text("%s: %s", address.text().c_str(), std::strerror(why));
}

class Member {
 public:
  explicit Member(const Meeting& meeting) : meeting_(meeting), tree_{meeting.npes}, deadline_(Deadline::of_limit(meeting.timeout_s)) {}

  std::vector<Neighbour> meet() {
    Stream root = find_root();
    // PE 0's own verdict names who is missing; it comes when PE 0's time is over, which may be a little later.
    const auto frame = next_frame(root, Deadline::of_limit(meeting_.timeout_s, kSlackSeconds));
    if (frame && frame->kind == refused) throw Error(Unpacker(frame->payload).get_text());
    if (!frame || frame->kind != seat)
      throw Error(text("PE 0 at %s %s before all %d PEs had come", last_.c_str(),
                       root.open() ? "did not answer" : "ended the connection", meeting_.npes));
    Unpacker fields(frame->payload);
    tree_key_ = fields.get<Key>();
    const int parent = fields.get<int>();
    const Address address = unpack_address(fields);
    std::vector<Neighbour> neighbours;
    neighbours.push_back({parent, parent == 0 ? std::move(root) : connect_parent(parent, address)});
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
             meeting_.pe, meeting_.place.c_str(), meeting_.timeout_s, last_.c_str()));
  }

  std::optional<Stream> try_root(const Address& address, double patience_s) {
    UniqueFd fd = connect_to(address, Deadline(std::min(patience_s, deadline_.slice_ms(5000) / 1e3)));
    if (!fd) {
      last_ = failed_at(address, errno);
      return std::nullopt;
    }
    last_ = text("%s: it is held by some other program", address.text().c_str());
    open_listener(local_address(fd.get()));
    Stream stream(std::move(fd));
    Packer packer;
    packer.add(meeting_.key).add(meeting_.pe).add(meeting_.npes);
    pack(packer, announced_);
    stream.push(enroll, packer.add_text(who_am_i()).take());
    const auto answer = next_frame(stream, Deadline(patience_s));
    if (!answer || answer->kind != noticed) return std::nullopt;
    last_ = address.text();
    return stream;
  }

  /// Children will connect where this PE reached PE 0 from, or to the interface that the user chose.
  void open_listener(const Address& towards_root) {
    if (tree_.children(meeting_.pe).empty()) {
      announced_ = towards_root;
      return;
    }
    const Address own = meeting_.interface.empty() ? towards_root : interface_addresses(meeting_.interface).front();
    listener_ = listen_on(own.with_port(0));
    if (!listener_) throw Error(text("PE %d cannot listen at %s", meeting_.pe, failed_at(own, errno).c_str()));
    announced_ = local_address(listener_.get());
  }

  Stream connect_parent(int parent, const Address& address) {
    UniqueFd fd = connect_to(address, Deadline::of_limit(meeting_.timeout_s));
    if (!fd)
      throw Error(
          text("PE %d could not connect to PE %d at %s", meeting_.pe, parent, failed_at(address, errno).c_str()));
    Stream stream(std::move(fd));
    stream.push(child, Packer().add(tree_key_).add(meeting_.pe).take());
    stream.flush(1.0);
    return stream;
  }

  void accept_children(std::vector<Neighbour>& neighbours) {
    std::vector<int> absent = tree_.children(meeting_.pe);
    std::vector<Stream> strangers;
    const Deadline deadline = Deadline::of_limit(meeting_.timeout_s);
    while (!absent.empty()) {
      if (deadline.passed())
        throw Error(text("%s did not connect to PE %d at %s within %g s (SHMEM_TIMEOUT)", pe_list(absent).c_str(),
                         meeting_.pe, announced_.text().c_str(), meeting_.timeout_s));
      while (UniqueFd fd = accept_from(listener_.get())) strangers.emplace_back(std::move(fd));
      std::erase_if(strangers, [&](Stream& stranger) {
        stranger.pump();
        const auto frame = stranger.pop();
        if (!frame) return !stranger.open();
        const int pe = child_named_in(*frame);
        if (std::erase(absent, pe) > 0) neighbours.push_back({pe, std::move(stranger)});
        return true;
      });
      std::vector<pollfd> wait{{listener_.get(), POLLIN, 0}};
      for (const Stream& stranger : strangers) wait.push_back({stranger.fd(), POLLIN, 0});
      if (!absent.empty()) poll(wait.data(), wait.size(), deadline.slice_ms(1000));
    }
    std::sort(neighbours.begin() + 1, neighbours.end(), [](const auto& a, const auto& b) { return a.pe < b.pe; });
  }

  /// -1 when this is no greeting of a child in this job.
  int child_named_in(const Frame& frame) const {
    if (frame.kind != child || frame.payload.size() != sizeof(Key) + sizeof(int)) return -1;
    Unpacker fields(frame.payload);
    return fields.get<Key>() == tree_key_ ? fields.get<int>() : -1;
  }

  const Meeting& meeting_;
  Tree tree_;
  Deadline deadline_;
  std::string last_ = "nothing";
  Address announced_{};
  UniqueFd listener_;
  Key tree_key_{};
};

}  // namespace

std::vector<Neighbour> meet_as_member(const Meeting& meeting) {
  return Member(meeting).meet();
}

}  // namespace railshmem::tcp
