// SPDX-License-Identifier: BSD-3-Clause
// PE 0's list of who has come.
#pragma once

#include "bootstrap/tcp/meeting.h"
#include "bootstrap/tcp/socket.h"

namespace railshmem::tcp {

class Enrolment {
 public:
  Enrolment(const Meeting& meeting, UniqueFd listener);
  /// Waits for everyone; throws Error, after telling those who are there, when somebody is missing or wrong.
  void wait_for_all();
  /// Gives every PE its parent; the connections of PE 0's own children stay.
  std::vector<Neighbour> hand_out_seats();

 private:
  struct Member {
    Stream stream;
    Address address;
    std::string who;
  };

  void poll_all(Deadline deadline);
  /// Takes a stranger's first message; true when the stranger is dealt with.
  bool greet(Stream& stranger);
  void enroll_member(Stream& stream, const Frame& frame);
  [[noreturn]] void refuse_all(const std::string& why);
  std::vector<int> missing() const;

  const Meeting& meeting_;
  UniqueFd listener_;
  std::vector<Stream> strangers_;
  std::vector<Member> members_;  ///< by PE; PE 0 is this process
};

}  // namespace railshmem::tcp
