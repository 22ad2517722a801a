// SPDX-License-Identifier: BSD-3-Clause
#include "src/world/job_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/thread_bootstrap.h"

namespace railshmem::test {
namespace {

/// A process that only exists.
class Peer {
 public:
  Peer() : pid_(fork()) {
    if (pid_ == 0)
      for (;;) pause();
  }
  ~Peer() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const noexcept { return pid_; }

 private:
  const pid_t pid_;
};

/// `body` under the watch of a thread that has lost patience after 0.2 s.
template <class Body>
void watched(Body&& body) {
  ThreadMeeting meeting(2);
  ThreadBootstrap bootstrap(meeting, 0);
  const Peer peer;
  Liveness liveness(bootstrap, {{1, peer.pid()}});
  const JobWatch watch(bootstrap, liveness, 0.2);
  body(peer, liveness);
}

TEST(JobWatch, EndsWhoNeverReturns) {
  EXPECT_EXIT(watched([](const Peer& peer, Liveness&) {
                kill(peer.pid(), SIGKILL);
                for (;;) pause();
              }),
              testing::ExitedWithCode(1), "PE 0: error: PE 1 .pid .* has ended, and 0.2 s later this PE still runs");
}

TEST(JobWatch, LeavesAloneWhosePeersLive) {
  watched([](const Peer&, Liveness&) { usleep(600'000); });
}

// A process that dies because another one died is not the one to blame.
TEST(JobWatch, NamesAllWhoDied) {
  ThreadMeeting meeting(2);
  ThreadBootstrap bootstrap(meeting, 0);
  const Peer alive, first, second;
  Liveness liveness(bootstrap, {{1, alive.pid()}, {2, second.pid()}, {3, first.pid()}});
  EXPECT_EQ(liveness.dead_peer(), std::nullopt);
  for (const Peer* const peer : {&first, &second}) {
    kill(peer->pid(), SIGKILL);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(peer->pid()), &ended, WEXITED | WNOWAIT);
  }
  std::string death = "nobody";
  for (int i = 0; i < 1000 && death == "nobody"; ++i) {  // the bootstrap explains nothing here
    death = liveness.dead_peer().value_or(death);
    usleep(10'000);
  }
  EXPECT_EQ(death.find("PE 1 "), std::string::npos) << death;
  EXPECT_NE(death.find("PE 2 (pid "), std::string::npos) << death;
  EXPECT_NE(death.find(", PE 3 (pid "), std::string::npos) << death;
}

TEST(JobWatch, PeersMayLeaveAtTheEnd) {
  watched([](const Peer& peer, Liveness& liveness) {
    liveness.peers_may_leave();
    kill(peer.pid(), SIGKILL);
    usleep(600'000);
  });
}

}  // namespace
}  // namespace railshmem::test
