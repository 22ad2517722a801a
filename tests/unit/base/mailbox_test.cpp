// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/mailbox.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "src/base/error.h"
#include "src/base/limit.h"
#include "src/base/log.h"
#include "src/base/mail.h"
#include "tests/support/forked.h"
#include "tests/support/no_descriptors.h"

namespace railshmem {
namespace {

using test::Forked;
using test::Pipe;

Mail mail_of(const std::string& words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}
std::string words_of(std::span<const std::byte> mail) {
  return {reinterpret_cast<const char*>(mail.data()), mail.size()};
}

MailWork echoes() {
  return {{}, [](std::span<const std::byte> message) { return mail_of("re: " + words_of(message)); }, {}};
}
Addressee addressed(const MailAddress& address, double seconds = 20) {
  return {address, "PE 7", limit_ns(seconds), {}};
}
std::string error_of(const Addressee& whom, const std::string& message = "?") {
  try {
    return "answered: " + words_of(ask(whom, mail_of(message)));
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Mailbox, AnswersMessages) {
  Mailbox box(echoes(), "test");
  EXPECT_EQ(words_of(ask(addressed(box.address()), mail_of("hello"))), "re: hello");
  EXPECT_EQ(words_of(ask(addressed(box.address()), {})), "re: ");
  const std::string longest(kLongestMail - 10, 'x');
  EXPECT_EQ(words_of(ask(addressed(box.address()), mail_of(longest))), "re: " + longest);
}

TEST(Mailbox, AnswersEveryThreadsOwnMessage) {
  Mailbox box(echoes(), "test");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        const std::string message = std::to_string(thread * 1000 + i);
        wrong += words_of(ask(addressed(box.address()), mail_of(message))) != "re: " + message;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Mailbox, AMessageWithoutTheKeyGetsNoAnswer) {
  Mailbox box(echoes(), "test");
  MailAddress other = box.address();
  other.key[1] ^= 1;
  EXPECT_NE(error_of(addressed(other)).find("PE 7 cannot be asked (receive: "), std::string::npos);
}

TEST(Mailbox, BeginsInItsThreadBeforeItsFirstWork) {
  std::thread::id began, answered;
  Mailbox box({[&] { began = std::this_thread::get_id(); },
               [&](std::span<const std::byte>) {
                 answered = std::this_thread::get_id();
                 return mail_of("done");
               },
               {}},
              "test");
  EXPECT_EQ(words_of(ask(addressed(box.address()), {})), "done");
  EXPECT_EQ(began, answered);
  EXPECT_NE(began, std::this_thread::get_id());
}

TEST(Mailbox, AnExceptionIsNoAnswerAndTheNextMessageGetsOne) {
  Mailbox box({{},
               [](std::span<const std::byte> message) {
                 if (message.empty()) throw Error("nothing to read");
                 return mail_of("read");
               },
               {}},
              "test");
  EXPECT_NE(error_of(addressed(box.address()), "").find("cannot be asked (receive: the connection was closed)"),
            std::string::npos);
  EXPECT_EQ(words_of(ask(addressed(box.address()), mail_of("x"))), "read");
}

/// Lets the test go on when something has happened in another thread.
class MailBell {
 public:
  void come() {
    const std::lock_guard held(mutex_);
    ++count_;
    changed_.notify_all();
  }
  bool wait(int count = 1) {
    std::unique_lock held(mutex_);
    return changed_.wait_for(held, std::chrono::seconds(20), [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

TEST(Mailbox, WakesItsThread) {
  MailBell woken;
  Mailbox box({{}, [](std::span<const std::byte>) { return Mail(); }, [&] { woken.come(); }}, "test");
  box.wake();
  EXPECT_TRUE(woken.wait(1));
  box.wake();
  EXPECT_TRUE(woken.wait(2));
}

TEST(Mailbox, AMessageThatNeedsNoAnswerIsDelivered) {
  MailBell read;
  Mailbox box({{},
               [&](std::span<const std::byte>) {
                 read.come();
                 return mail_of("who reads this?");
               },
               {}},
              "test");
  EXPECT_TRUE(notify(box.address(), mail_of("x")));
  EXPECT_TRUE(read.wait());
  EXPECT_FALSE(notify(MailAddress(), mail_of("x")));
}

TEST(Mailbox, WhoDoesNotAnswerInTimeIsNamed) {
  MailBell over;
  Mailbox box({{},
               [&](std::span<const std::byte>) {
                 over.wait();
                 return mail_of("late");
               },
               {}},
              "test");
  EXPECT_EQ(error_of(addressed(box.address(), 0.2)).find("PE 7 has not answered within 0.2 s"), 0u);
  over.come();
}

TEST(Mailbox, AnAddressWithoutASocketIsAnErrorAtOnce) {
  EXPECT_NE(error_of(addressed(MailAddress(), 1000)).find("PE 7 cannot be asked (socket: "), std::string::npos);
}

TEST(Mailbox, WhoHasGoneIsAnErrorAtOnce) {
  MailAddress address;
  {
    Mailbox box(echoes(), "test");
    address = box.address();
  }
  EXPECT_NE(error_of(addressed(address, 1000)).find("PE 7 cannot be asked (connect: "), std::string::npos);
}

TEST(Mailbox, TheDeathOfTheOtherProcessEndsTheWait) {
  Forked child([](const Pipe& pipe) -> std::string {
    MailBell never;
    Mailbox box({{},
                 [&](std::span<const std::byte>) {
                   pipe.tell('r');
                   never.wait();
                   return Mail();
                 },
                 {}},
                "test");
    char end = 0;
    if (!pipe.tell(box.address())) return "nobody listens";
    return pipe.hear(end) ? "" : "not killed";
  });
  MailAddress address;
  ASSERT_TRUE(child.pipe().hear(address));
  std::atomic<bool> killed{false};
  std::thread killer([&] {
    char reading = 0;
    EXPECT_TRUE(child.pipe().hear(reading));
    kill(child.pid(), SIGKILL);
    killed = true;
  });
  Addressee whom = addressed(address, 1000);
  whom.death = [&]() -> std::optional<std::string> {
    if (!killed) return std::nullopt;
    return "PE 7 (pid 1 on this host) has ended";
  };
  EXPECT_EQ(error_of(whom), "PE 7 (pid 1 on this host) has ended, so it does not answer; see that PE's own output");
  killer.join();
}

void wait_with_no_descriptors() {
  Mailbox box(echoes(), "test");
  const rlimit one{1, 1};  // poll() takes no more descriptors than a process may have
  setrlimit(RLIMIT_NOFILE, &one);
  box.wake();
  sleep(20);
  _exit(0);
}

TEST(Mailbox, AThreadThatCannotWaitEndsTheJobWithAMessage) {
  EXPECT_EXIT(wait_with_no_descriptors(), testing::ExitedWithCode(1),
              "the thread that answers PEs of this host cannot poll: Invalid argument");
}

TEST(Mailbox, WaitsWhereThereIsNoDescriptorForAClient) {
  Forked child([](const Pipe& pipe) -> std::string {
    Mailbox box(echoes(), "test");
    const std::string wrong = test::wrong_for_lack_of_descriptors([&] { return pipe.tell(box.address()); });
    char answered = 0;
    return wrong.empty() && !pipe.hear(answered) ? "no answer" : wrong;
  });
  MailAddress address;
  ASSERT_TRUE(child.pipe().hear(address));
  EXPECT_EQ(error_of(addressed(address), "x"), "answered: re: x");
  child.pipe().tell('a');
  EXPECT_EQ(child.join(), "");
}

}  // namespace
}  // namespace railshmem
