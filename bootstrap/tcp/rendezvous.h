// SPDX-License-Identifier: BSD-3-Clause
// PE 0's list of who has come.
#pragma once

#include "bootstrap/tcp/meeting.h"
#include "bootstrap/tcp/pending_connections.h"

namespace railshmem::tcp {

class Rendezvous {
 public:
  /// The meeting must live as long.
  Rendezvous(const Meeting& meeting, std::vector<UniqueFd> listeners);
  /// Waits for everyone; throws Error, after telling those who are there, when somebody is missing. Where a secret says
  /// that it is a PE who errs (a rank that is there already), that is an error at once; without one it may be a
  /// stranger, who is turned away.
  void wait_for_all();
  /// Gives every PE its parent; the connections of PE 0's own children stay.
  std::vector<Neighbour> hand_out_seats();

  /// One turn of wait_for_all().
  void step(int timeout_ms);
  std::vector<int> missing() const;
  PendingConnections& pending() noexcept { return pending_; }

 private:
  struct Member {
    Stream stream;
    Address address;
    std::string who;
    std::string from;
  };
  /// One that was noticed and has not said yet that it is here. A PE that PE 0 kept waiting may have begun anew before
  /// it heard of that, so a guest holds no place, and several may have one rank.
  struct Guest {
    int pe;
    Member member;
  };

  void look_after(Member& member);
  void turn_out(Member& member);
  bool leaves_the_guests(Guest& guest);
  void make_member(Guest& guest);
  void notice_arrival(Arrival arrival);
  void refuse(Stream& stream, const std::string& from, const std::string& why);
  /// What is wrong with a PE that says so of itself; empty: nothing.
  std::string objection(int pe, int npes, const std::string& who) const;
  [[noreturn]] void refuse_all(const std::string& why);

  const Meeting& meeting_;
  PendingConnections pending_;
  std::vector<Member> members_;  ///< by PE; PE 0 is this process
  std::vector<Guest> guests_;    ///< the oldest first
  std::string turned_away_;      ///< the last one that looked like a PE, and why
};

}  // namespace railshmem::tcp
