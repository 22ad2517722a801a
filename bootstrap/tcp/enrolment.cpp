// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/enrolment.h"

#include <poll.h>

#include "bootstrap/tcp/random_bytes.h"
#include "bootstrap/tcp/tree.h"
#include "src/base/pe_list.h"

namespace railshmem::tcp {
namespace {

constexpr uint64_t kLargestGreeting = 4096;  // strangers may send anything
constexpr double kLastWordsSeconds = 0.5;

}  // namespace

Enrolment::Enrolment(const Meeting& meeting, UniqueFd listener)
    : meeting_(meeting), listener_(std::move(listener)), members_(static_cast<size_t>(meeting.npes)) {
  members_[0].who = who_am_i();
}

void Enrolment::wait_for_all() {
  const Deadline deadline = Deadline::of_limit(meeting_.timeout_s);
  std::vector<int> absent = missing();
  while (!absent.empty()) {
    if (deadline.passed())
      refuse_all(
          text("%s of %d did not connect within %g s (SHMEM_TIMEOUT); PE 0 waits at %s. Were they started, and "
               "do their hosts reach this one?",
               pe_list(absent).c_str(), meeting_.npes, meeting_.timeout_s, meeting_.place.c_str()));
    poll_all(deadline);
    absent = missing();
  }
}

void Enrolment::poll_all(Deadline deadline) {
  std::vector<pollfd> wait{{listener_.get(), POLLIN, 0}};
  for (const Stream& stranger : strangers_) wait.push_back({stranger.fd(), POLLIN, 0});
  for (const Member& member : members_) wait.push_back({member.stream.open() ? member.stream.fd() : -1, POLLIN, 0});
  constexpr int kSliceMs = 1000;
  poll(wait.data(), wait.size(), deadline.slice_ms(kSliceMs));
  // A member that closes its connection has died or lost patience; its place is free again.
  for (size_t pe = 0; pe < members_.size(); ++pe)
    if (wait[1 + strangers_.size() + pe].revents) members_[pe].stream.pump();
  std::erase_if(strangers_, [this](Stream& stranger) { return greet(stranger); });
  while (UniqueFd fd = accept_from(listener_.get())) {
    Stream stranger(std::move(fd));
    stranger.distrust(kLargestGreeting);
    if (!greet(stranger)) strangers_.push_back(std::move(stranger));
  }
}

bool Enrolment::greet(Stream& stranger) {
  stranger.pump();
  const auto frame = stranger.pop();
  if (!frame) return !stranger.open();
  constexpr size_t kSmallest = sizeof(Key) + 2 * sizeof(int) + kPackedAddress + sizeof(uint32_t);
  if (frame->kind == enroll && frame->payload.size() >= kSmallest) enroll_member(stranger, *frame);
  return true;
}

void Enrolment::enroll_member(Stream& stream, const Frame& frame) {
  Unpacker fields(frame.payload);
  if (fields.get<Key>() != meeting_.key) return;  // another job's: closing sends it on to the next port
  const int pe = fields.get<int>();
  const int npes = fields.get<int>();
  const Address address = unpack_address(fields);
  const std::string who = fields.get_text();
  std::string wrong;
  if (npes != meeting_.npes) {
    wrong = text("PE %d (%s) has WORLD_SIZE %d, but PE 0 (%s) has %d; all PEs need the same", pe, who.c_str(), npes,
                 members_[0].who.c_str(), meeting_.npes);
  } else if (pe < 0 || pe >= npes) {
    wrong = text("RANK %d (%s) is out of range: WORLD_SIZE is %d", pe, who.c_str(), npes);
  } else if (pe == 0 || members_[static_cast<size_t>(pe)].stream.open()) {
    wrong = text("RANK %d was given twice: to %s and to %s; every PE needs its own", pe,
                 members_[static_cast<size_t>(pe)].who.c_str(), who.c_str());
  }
  stream.push(noticed);
  if (!wrong.empty()) {
    stream.push(refused, Packer().add_text(wrong).take());
    stream.flush(kLastWordsSeconds);
    refuse_all(wrong);
  }
  stream.pump();
  members_[static_cast<size_t>(pe)] = {std::move(stream), address, who};
}

void Enrolment::refuse_all(const std::string& why) {
  for (Member& member : members_) {
    if (!member.stream.open()) continue;
    member.stream.push(refused, Packer().add_text(why).take());
    member.stream.flush(kLastWordsSeconds);
  }
  throw Error(why);
}

std::vector<int> Enrolment::missing() const {
  std::vector<int> out;
  for (size_t pe = 1; pe < members_.size(); ++pe)
    if (!members_[pe].stream.open()) out.push_back(static_cast<int>(pe));
  return out;
}

std::vector<Neighbour> Enrolment::hand_out_seats() {
  const Tree tree{meeting_.npes};
  const Key tree_key = random_bytes<Key>();
  std::vector<Neighbour> children;
  for (int pe = 1; pe < meeting_.npes; ++pe) {
    Member& member = members_[static_cast<size_t>(pe)];
    const int parent = tree.parent(pe);
    Packer packer;
    packer.add(tree_key).add(parent);
    pack(packer, parent == 0 ? member.address : members_[static_cast<size_t>(parent)].address);
    member.stream.push(seat, packer.take());
    member.stream.flush(kLastWordsSeconds);
    if (parent != 0) continue;
    member.stream.trust();
    children.push_back({pe, std::move(member.stream)});
  }
  return children;
}

}  // namespace railshmem::tcp
