// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/fd_ticket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "src/base/cpu.h"
#include "src/base/error.h"
#include "src/base/fd_offers.h"
#include "src/base/fds.h"
#include "src/base/host_socket.h"
#include "src/base/log.h"
#include "tests/support/forked.h"
#include "tests/support/no_descriptors.h"

namespace railshmem {
namespace {

using test::Forked;
using test::Pipe;

UniqueFd fd_with_number(uint64_t number) {
  UniqueFd fd(memfd_create("fd-ticket-test", MFD_CLOEXEC));
  EXPECT_EQ(write(fd.get(), &number, sizeof number), static_cast<ssize_t>(sizeof number));
  return fd;
}

/// A second descriptor of the open file of `fd`, for the test to look at while the offer owns `fd`.
UniqueFd another(const UniqueFd& fd) {
  return UniqueFd(fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
}

uint64_t number_in(int fd) {
  uint64_t number = 0;
  return pread(fd, &number, sizeof number, 0) == sizeof number ? number : 0;
}

/// In a child: takes the descriptor of the ticket that comes, in this way, and says what is wrong with it.
std::string take_and_look(const Pipe& pipe, FdWay way, uint64_t expected) {
  FdTicket ticket;
  if (!pipe.hear(ticket)) return "no ticket came";
  const UniqueFd fd = take_fd(ticket, way);
  if (number_in(fd.get()) != expected) return "another file";
  if ((fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) == 0) return "not closed on exec";
  // The very descriptor: what it has, the offset too, is shared.
  if (lseek(fd.get(), 3, SEEK_SET) != 3) return "lseek";
  return {};
}

void drop_right_to_trace() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (syscall(SYS_capget, &header, sets) != 0) return;
  for (__user_cap_data_struct& set : sets) set.effective = set.permitted = set.inheritable = 0;
  syscall(SYS_capset, &header, sets);
}

std::string error_of(const FdTicket& ticket, FdWay way) {
  try {
    take_fd(ticket, way);
  } catch (const Error& e) {
    return e.what();
  }
  return "taken";
}

TEST(FdTicket, AnotherProcessTakesTheVeryDescriptorAsATracer) {
  Forked child([](const Pipe& pipe) { return take_and_look(pipe, FdWay::pidfd, 71); });
  FdOffers offers;
  const UniqueFd fd = fd_with_number(71);
  const FdOffer offer = offers.offer(another(fd));
  ASSERT_TRUE(child.pipe().tell(offer.ticket()));
  const std::string wrong = child.join();
  if (wrong.find("Operation not permitted") != std::string::npos || wrong.find("not implemented") != std::string::npos)
    GTEST_SKIP() << "this machine forbids it: " << wrong;
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_CUR), 3);
}

TEST(FdTicket, AnotherProcessGetsTheVeryDescriptorOverTheSocket) {
  Forked child([](const Pipe& pipe) { return take_and_look(pipe, FdWay::socket, 72); });
  FdOffers offers;
  const UniqueFd fd = fd_with_number(72);
  const FdOffer offer = offers.offer(another(fd));
  ASSERT_TRUE(child.pipe().tell(offer.ticket()));
  EXPECT_EQ(child.join(), "");
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_CUR), 3);
}

TEST(FdTicket, WhoMayNotTraceGetsItOverTheSocketUnasked) {
  Forked child([](const Pipe& pipe) {
    drop_right_to_trace();
    return take_and_look(pipe, FdWay::any, 73);
  });
  // A process that is not dumpable is traced by the privileged alone, which the child gave up.
  ASSERT_EQ(prctl(PR_SET_DUMPABLE, 0), 0);
  std::string wrong;
  std::string tracing;
  {
    FdOffers offers;
    const UniqueFd fd = fd_with_number(73);
    const FdOffer offer = offers.offer(another(fd));
    const FdTicket ticket = offer.ticket();
    EXPECT_TRUE(child.pipe().tell(ticket));
    wrong = child.join();
    Forked tracer([ticket](const Pipe&) {
      drop_right_to_trace();
      prctl(PR_SET_DUMPABLE, 0);
      return error_of(ticket, FdWay::pidfd);
    });
    tracing = tracer.join();
  }
  prctl(PR_SET_DUMPABLE, 1);
  EXPECT_EQ(wrong, "");
  EXPECT_NE(tracing.find("cap-add=SYS_PTRACE"), std::string::npos) << tracing;
}

TEST(FdTicket, ThreadsOfOneProcessShareToo) {
  FdOffers offers;
  const UniqueFd fd = fd_with_number(74);
  const FdOffer offer = offers.offer(another(fd));
  const FdTicket ticket = offer.ticket();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 50; ++turn) {
        const UniqueFd taken = take_fd(ticket, i % 2 == 0 ? FdWay::any : FdWay::socket);
        EXPECT_EQ(number_in(taken.get()), 74u);
        EXPECT_NE(taken.get(), fd.get());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(FdTicket, WithdrawnOffersAreGone) {
  FdOffers offers;
  const UniqueFd first = fd_with_number(75);
  const UniqueFd second = fd_with_number(76);
  FdOffer kept = offers.offer(another(first));
  const FdTicket withdrawn = kept.ticket();
  EXPECT_EQ(number_in(take_fd(withdrawn, FdWay::socket).get()), 75u);
  kept = offers.offer(another(second));
  const std::string error = error_of(withdrawn, FdWay::socket);
  EXPECT_NE(error.find("does not offer this one any more"), std::string::npos) << error;
  EXPECT_EQ(number_in(take_fd(kept.ticket(), FdWay::socket).get()), 76u);
}

TEST(FdTicket, AGuessedKeyGetsNothing) {
  FdOffers offers;
  const UniqueFd fd = fd_with_number(77);
  const FdOffer offer = offers.offer(another(fd));
  FdTicket guessed = offer.ticket();
  guessed.key[1] ^= 1;
  EXPECT_NE(error_of(guessed, FdWay::socket).find("does not offer"), std::string::npos);
}

TEST(FdTicket, AnotherUserGetsNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Forked child([](const Pipe& pipe) -> std::string {
    FdTicket ticket;
    if (!pipe.hear(ticket)) return "no ticket came";
    if (setresuid(65534, 65534, 65534) != 0) return "setresuid";
    return error_of(ticket, FdWay::socket);
  });
  FdOffers offers;
  const UniqueFd fd = fd_with_number(81);
  const FdOffer offer = offers.offer(another(fd));
  ASSERT_TRUE(child.pipe().tell(offer.ticket()));
  const std::string error = child.join();
  EXPECT_NE(error.find("cannot take file descriptor"), std::string::npos) << error;
}

TEST(FdTicket, WhoIsGoneIsNamedWithTheRemedy) {
  FdTicket ticket;
  {
    FdOffers offers;
    const UniqueFd fd = fd_with_number(78);
    ticket = offers.offer(another(fd)).ticket();
  }
  ticket.pid = 0x7ffffffe;
  const std::string error = error_of(ticket, FdWay::any);
  EXPECT_NE(error.find("process 2147483646"), std::string::npos) << error;
  EXPECT_NE(error.find("Connection refused"), std::string::npos) << error;
  EXPECT_NE(error.find("--net=host"), std::string::npos) << error;
}

TEST(FdTicket, ANamesakeIsNotMistakenForThePeer) {
  Forked child([](const Pipe& pipe) { return pipe.meet() ? "" : "no meeting"; });
  FdOffers offers;
  const UniqueFd fd = fd_with_number(79);
  const FdOffer offer = offers.offer(another(fd));
  FdTicket ticket = offer.ticket();
  ticket.pid = child.pid();
  ticket.started += 1000;  // ticks: the child started at most some after this process
  EXPECT_NE(error_of(ticket, FdWay::pidfd).find("another one here"), std::string::npos);
  ticket.pid_namespace ^= 1;
  EXPECT_NE(error_of(ticket, FdWay::pidfd).find("another PID namespace"), std::string::npos);
  EXPECT_TRUE(child.pipe().meet());
  EXPECT_EQ(child.join(), "");
}

TEST(FdTicket, ASilentClientDelaysTheOthersByASecondAtMost) {
  FdOffers offers;
  const UniqueFd fd = fd_with_number(80);
  const FdOffer offer = offers.offer(another(fd));
  const FdTicket ticket = offer.ticket();
  const UniqueFd silent(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const AbstractAddress server(ticket.socket);
  ASSERT_EQ(connect(silent.get(), server.get(), server.nbytes()), 0);
  const uint64_t began = now_ns();
  EXPECT_EQ(number_in(take_fd(ticket, FdWay::socket).get()), 80u);
  EXPECT_LT(now_ns() - began, 5'000'000'000u);
}

TEST(FdTicket, OnlyOpenDescriptorsAreOffered) {
  FdOffers offers;
  EXPECT_THROW(offers.offer(UniqueFd()), Error);
}

TEST(FdTicket, OffersWaitWhereThereIsNoDescriptorForAClient) {
  Forked child([](const Pipe& pipe) -> std::string {
    FdOffers offers;
    const FdOffer offer = offers.offer(fd_with_number(81));
    const std::string wrong = test::wrong_for_lack_of_descriptors([&] { return pipe.tell(offer.ticket()); });
    char taken = 0;
    return wrong.empty() && !pipe.hear(taken) ? "not taken" : wrong;
  });
  FdTicket ticket;
  ASSERT_TRUE(child.pipe().hear(ticket));
  EXPECT_EQ(number_in(take_fd(ticket, FdWay::socket).get()), 81u);
  child.pipe().tell('t');
  EXPECT_EQ(child.join(), "");
}

std::atomic<int> signals_handled{0};

/// Handles SIGUSR1, and lets it interrupt system calls.
class Interrupts {
 public:
  Interrupts() {
    struct sigaction action {};
    action.sa_handler = [](int) { ++signals_handled; };
    sigaction(SIGUSR1, &action, &before_);
  }
  ~Interrupts() { sigaction(SIGUSR1, &before_, nullptr); }
  Interrupts(const Interrupts&) = delete;

 private:
  struct sigaction before_ {};
};

/// Whether that thread is inside connect().
bool connects(pid_t thread) {
  const std::string call = read_file("/proc/self/task/" + std::to_string(thread) + "/syscall");
  return call.rfind(std::to_string(SYS_connect) + " ", 0) == 0;
}

TEST(FdTicket, ASignalDoesNotEndTheWaitForABusyPeer) {
  const UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  FdTicket ticket;
  text("railshmem-test-%d", getpid()).copy(ticket.socket.data(), ticket.socket.size() - 1);
  const AbstractAddress address(ticket.socket);
  ASSERT_EQ(bind(listener.get(), address.get(), address.nbytes()), 0);
  ASSERT_EQ(listen(listener.get(), 0), 0);
  const UniqueFd first(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(first.get(), address.get(), address.nbytes()), 0);  // the queue is full now
  const Interrupts interrupts;
  std::atomic<pid_t> thread{0};
  std::atomic<bool> ended{false};
  std::string result;
  std::thread client([&] {
    thread = gettid();
    try {
      result = std::to_string(number_in(take_fd(ticket, FdWay::socket).get()));
    } catch (const Error& error) {
      result = error.what();
    }
    ended = true;
  });
  const auto until_it_connects = [&] {
    for (int ms = 0; ms < 5000 && !ended; ++ms, usleep(1000))
      if (thread != 0 && connects(thread)) return true;
    return false;
  };
  const bool waited = until_it_connects();
  const int handled = signals_handled;
  pthread_kill(client.native_handle(), SIGUSR1);
  for (int ms = 0; ms < 5000 && signals_handled == handled; ++ms) usleep(1000);
  const bool waits_on = until_it_connects();
  UniqueFd taken[2];  // open until the client ends: closed with its request unread, the answer would be lost
  for (int i = 0; i < 2 && waits_on; ++i) {
    taken[i] = UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (i == 1) send_fd(taken[i].get(), fd_with_number(82).get());
  }
  client.join();
  EXPECT_TRUE(waited);
  EXPECT_EQ(result, "82");
}

}  // namespace
}  // namespace railshmem
