// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/rendezvous.h"

#include "bootstrap/common/deadline.h"
#include "bootstrap/tcp/random_bytes.h"
#include "bootstrap/tcp/tree.h"
#include "src/base/pe_list.h"

namespace railshmem::tcp {
namespace {

constexpr size_t kLongestWho = 300;  // a host name has at most 255 characters
constexpr double kLastWordsSeconds = 0.5;

void say_refused(Stream& stream, const std::string& why) {
  stream.push(refused, Packer().add_text(why).take());
  stream.flush(kLastWordsSeconds);
}

}  // namespace

Rendezvous::Rendezvous(const Meeting& meeting, std::vector<UniqueFd> listeners)
    : meeting_(meeting),
      pending_(std::move(listeners), join, meeting.secret),
      members_(static_cast<size_t>(meeting.npes)) {
  members_[0].who = who_am_i();
}

void Rendezvous::wait_for_all() {
  const Deadline deadline = Deadline::of_limit(meeting_.timeout_s);
  std::vector<int> absent = missing();
  while (!absent.empty()) {
    if (deadline.passed())
      refuse_all(
          text("%s of %d did not connect within %g s (SHMEM_TIMEOUT); PE 0 waits at %s. Were they started, and "
               "do their hosts reach this one?%s%s",
               pe_list(absent).c_str(), meeting_.npes, meeting_.timeout_s, meeting_.place.c_str(),
               turned_away_.empty() ? "" : " Turned away was: ", turned_away_.c_str()));
    step(deadline.slice_ms(PendingConnections::kLookEveryMs));
    absent = missing();
  }
}

void Rendezvous::step(int timeout_ms) {
  std::vector<pollfd> wait;
  for (const Member& member : members_) wait.push_back({member.stream.open() ? member.stream.fd() : -1, POLLIN, 0});
  for (const Guest& guest : guests_) wait.push_back({guest.member.stream.fd(), POLLIN, 0});
  pending_.watch(wait);
  poll(wait.data(), wait.size(), timeout_ms);
  for (size_t pe = 0; pe < members_.size(); ++pe)
    if (wait[pe].revents) look_after(members_[pe]);
  for (size_t i = 0; i < guests_.size();) {
    if (leaves_the_guests(guests_[i]))
      guests_.erase(guests_.begin() + static_cast<ptrdiff_t>(i));
    else
      ++i;
  }
  std::vector<Arrival> arrivals;
  try {
    arrivals = pending_.look();
  } catch (const Error& e) {
    refuse_all(e.what());
  }
  for (Arrival& arrival : arrivals) notice_arrival(std::move(arrival));
}

/// A member says nothing before it has its seat. One that closes its connection has died; its place is free again.
void Rendezvous::look_after(Member& member) {
  member.stream.pump();
  if (member.stream.has_input()) turn_out(member);
}

void Rendezvous::turn_out(Member& member) {
  pending_.turned_away(member.from, "it sent more data before PE 0 had answered it");
  member.stream.close();
}

/// A guest says that it is here, and becomes a member. One that closes its connection has lost patience.
bool Rendezvous::leaves_the_guests(Guest& guest) {
  Member& member = guest.member;
  member.stream.pump();
  const auto frame = member.stream.pop();
  if (!frame) return !member.stream.open();
  if (frame->kind != here || !frame->payload.empty())
    turn_out(member);
  else
    make_member(guest);
  return true;
}

void Rendezvous::make_member(Guest& guest) {
  Member& place = members_[static_cast<size_t>(guest.pe)];
  look_after(place);  // it may have closed its connection a moment ago
  const std::string wrong = objection(guest.pe, meeting_.npes, guest.member.who);
  if (!wrong.empty()) return refuse(guest.member.stream, guest.member.from, wrong);
  place = std::move(guest.member);
}

void Rendezvous::notice_arrival(Arrival arrival) {
  Key key;
  int pe = 0, npes = 0;
  Address address{};
  std::string who;
  try {
    Unpacker fields(arrival.claim);
    key = fields.get<Key>();
    pe = fields.get<int>();
    npes = fields.get<int>();
    address = unpack_address(fields);
    who = fields.get_text();
    if (!fields.rest().empty() || who.size() > kLongestWho) throw Error("its greeting is longer than ours are");
  } catch (const Error& e) {
    return pending_.turned_away(arrival.from, e.what());
  }
  if (key != meeting_.key) {
    // Closing sends it on to the next port. Jobs of one host meet this way all the time, so that is not worth a line.
    turned_away_ = text("PE %d (%s) of another job, or with another MASTER_PORT", pe, who.c_str());
    return;
  }
  arrival.stream.push(noticed, std::move(arrival.proof));
  if (pe > 0 && pe < meeting_.npes) look_after(members_[static_cast<size_t>(pe)]);
  const std::string wrong = objection(pe, npes, who);
  if (!wrong.empty()) return refuse(arrival.stream, arrival.from, wrong);
  arrival.stream.pump_output();
  if (guests_.size() >= members_.size() + pending_.capacity()) {
    pending_.turned_away(guests_.front().member.from, "too many others came, and it has not said that it is here");
    guests_.erase(guests_.begin());
  }
  guests_.push_back({pe, {std::move(arrival.stream), address, who, std::move(arrival.from)}});
}

/// Without a secret it may be a stranger, so the job goes on without it.
void Rendezvous::refuse(Stream& stream, const std::string& from, const std::string& why) {
  say_refused(stream, why);
  if (!meeting_.secret.empty()) refuse_all(why);
  turned_away_ = why;
  pending_.turned_away(from, why);
}

std::string Rendezvous::objection(int pe, int npes, const std::string& who) const {
  if (npes != meeting_.npes)
    return text("PE %d (%s) has WORLD_SIZE %d, but PE 0 (%s) has %d; all PEs need the same", pe, who.c_str(), npes,
                members_[0].who.c_str(), meeting_.npes);
  if (pe < 0 || pe >= npes) return text("RANK %d (%s) is out of range: WORLD_SIZE is %d", pe, who.c_str(), npes);
  const Member& there = members_[static_cast<size_t>(pe)];
  if (pe == 0 || there.stream.open())
    return text("RANK %d was given twice: to %s and to %s; every PE needs its own", pe, there.who.c_str(), who.c_str());
  return {};
}

void Rendezvous::refuse_all(const std::string& why) {
  for (Member& member : members_)
    if (member.stream.open()) say_refused(member.stream, why);
  for (Guest& guest : guests_) say_refused(guest.member.stream, why);
  throw Error(why);
}

std::vector<int> Rendezvous::missing() const {
  std::vector<int> out;
  for (size_t pe = 1; pe < members_.size(); ++pe)
    if (!members_[pe].stream.open()) out.push_back(static_cast<int>(pe));
  return out;
}

std::vector<Neighbour> Rendezvous::hand_out_seats() {
  const Tree tree{meeting_.npes};
  const Key tree_key = random_bytes<Key>();
  std::vector<Neighbour> children;
  // All places are taken, so whoever is still a guest has somebody else's rank.
  for (Guest& guest : guests_) say_refused(guest.member.stream, objection(guest.pe, meeting_.npes, guest.member.who));
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
