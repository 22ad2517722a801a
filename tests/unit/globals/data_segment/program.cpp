// SPDX-License-Identifier: BSD-3-Clause
// One case per run: program CASE. Exit status 0 passed, 1 failed, 77 the data segment cannot be shared here.
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/globals/data_segment/api.h"

namespace {

constexpr size_t kBig = size_t{1} << 30;

int g_number = 12345;
char g_text[64] = "before";
int g_zero;
int* g_pointer = &g_number;
char g_big[kBig];  // .bss that nobody touches
alignas(4096) char g_page[3 * 4096];
std::atomic<long> g_counter[8];
std::string g_string = "constructed before main, long enough to live on the heap";

#define CHECK(condition)                          \
  do {                                            \
    if (!(condition)) fail(__LINE__, #condition); \
  } while (false)

[[noreturn]] void fail(int line, const char* what) {
  std::fprintf(stderr, "line %d: %s\n", line, what);
  _exit(1);
}

[[noreturn]] void skip(const char* what, const char* why) {
  std::fprintf(stderr, "SKIPPED: %s: %s\n", what, why);
  _exit(77);
}

int share() {
  char reason[256];
  const int fd = test_share(reason, sizeof reason);
  if (fd >= 0) return fd;
  skip("not shareable", reason);
}

void unshare() {
  char reason[256];
  if (test_unshare(reason, sizeof reason) == 0) return;
  std::fprintf(stderr, "unshare: %s\n", reason);
  _exit(1);
}

/// Where a peer that maps `fd` sees the object.
template <class T>
T* in_peer(int fd, T& object) {
  char* base = nullptr;
  size_t nbytes = 0;
  test_segment(&base, &nbytes);
  void* seen = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(seen != MAP_FAILED);
  return reinterpret_cast<T*>(static_cast<char*>(seen) + (reinterpret_cast<char*>(&object) - base));
}

template <class F>
int in_child(F body) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void values() {
  g_zero = 7;
  const int fd = share();
  CHECK(g_number == 12345 && g_zero == 7 && g_pointer == &g_number && *g_pointer == 12345);
  CHECK(std::strcmp(g_text, "before") == 0);
  g_string += ", and still whole";
  CHECK(g_string.size() > 60);
  volatile int* peer = in_peer(fd, g_number);
  CHECK(*peer == 12345);
  g_number = 1;
  CHECK(*peer == 1);
  *peer = 2;
  CHECK(*const_cast<volatile int*>(&g_number) == 2);
  const int again = share();
  CHECK(*in_peer(again, g_number) == 2);
}

void unshare_and_share_again() {
  for (int round = 0; round < 5; ++round) {
    const int fd = share();
    volatile int* peer = in_peer(fd, g_number);
    *peer = 100 + round;
    std::snprintf(g_text, sizeof g_text, "round %d", round);
    unshare();
    CHECK(g_number == 100 + round && g_text[6] == '0' + round);
    *peer = -1;
    CHECK(*const_cast<volatile int*>(&g_number) == 100 + round);
    close(fd);
  }
  unshare();
}

void fork_is_private() {
  const int fd = share();
  volatile int* peer = in_peer(fd, g_number);
  g_number = 5;
  CHECK(in_child([] {
          CHECK(g_number == 5 && g_string.size() > 40);
          g_number = 6;
          std::strcpy(g_text, "child");
          CHECK(in_child([] {
                  CHECK(g_number == 6);
                  g_number = 7;
                }) == 0);
          CHECK(g_number == 6);
          close(share());  // the child may start afresh
          g_number = 8;
        }) == 0);
  CHECK(*peer == 5 && g_number == 5 && std::strcmp(g_text, "before") == 0);
  // The parent's stores after fork() are not seen by the child.
  int go[2];
  CHECK(pipe(go) == 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    CHECK(read(go[0], &byte, 1) == 1);
    _exit(g_number == 5 ? 0 : 1);
  }
  g_number = 9;
  *peer = 10;
  CHECK(write(go[1], "x", 1) == 1);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

void failed_fork_does_not_wait() {
  close(share());
  if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
    skip("root has no limit on processes and may not become another user", std::strerror(errno));
  rlimit none{0, 0};
  CHECK(setrlimit(RLIMIT_NPROC, &none) == 0);
  const auto start = std::chrono::steady_clock::now();
  CHECK(fork() == -1);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
}

void spawn_works() {
  close(share());
  pid_t child = 0;
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  CHECK(posix_spawnp(&child, "true", nullptr, nullptr, arguments, environ) == 0);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(std::system("exit 3") == 3 << 8);
}

void untouched_memory_stays_untouched() {
  g_big[kBig / 2] = 1;
  volatile char read_only_access = g_big[kBig / 4];  // maps the zero page; that is no content
  (void)read_only_access;
  const int fd = share();
  struct stat found {};
  CHECK(fstat(fd, &found) == 0);
  CHECK(static_cast<size_t>(found.st_size) > kBig);
  CHECK(found.st_blocks * 512 < 8 << 20);
  CHECK(g_big[kBig / 2] == 1 && *in_peer(fd, g_big[kBig / 2]) == 1);
  CHECK(in_child([] { CHECK(g_big[kBig / 2] == 1); }) == 0);
  unshare();
  CHECK(g_big[kBig / 2] == 1);
}

void writers_lose_nothing() {
  std::atomic<bool> stop{false};
  long expected[4] = {};
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([&stop, &expected, i] {
      long mine = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        g_counter[i].fetch_add(1, std::memory_order_relaxed);
        if (g_counter[i].load(std::memory_order_relaxed) != ++mine) fail(__LINE__, "a counter went back");
        if (i == 3 && mine % 64 == 0) usleep(1);
      }
      expected[i] = mine;
    });
  std::atomic<bool> churn_stop{false};
  std::thread churn([&] {  // threads that come and go meanwhile
    while (!churn_stop.load()) std::thread([] { g_counter[4].fetch_add(1); }).join();
  });
  for (int round = 0; round < 25; ++round) {
    close(share());
    usleep(1000);
    unshare();
    usleep(1000);
  }
  churn_stop = true;
  churn.join();
  stop = true;
  for (auto& writer : writers) writer.join();
  for (int i = 0; i < 4; ++i) CHECK(g_counter[i] == expected[i] && expected[i] > 0);
  std::fprintf(stderr, "%ld %ld %ld %ld stores kept\n", expected[0], expected[1], expected[2], expected[3]);
}

void forks_during_the_move_stay_private() {
  std::atomic<bool> stop{false};
  std::atomic<int> forks{0};
  std::vector<std::thread> forkers;
  for (int i = 0; i < 3; ++i)
    forkers.emplace_back([&, i] {
      for (long mark = 1; !stop; ++mark) {
        g_counter[i] = mark;
        const pid_t child = fork();
        if (child == 0) {
          const bool own = g_counter[i] == mark;
          g_counter[i] = -1;
          _exit(own ? 0 : 1);
        }
        g_counter[i] = mark + 1;
        int status = -1;
        while (waitpid(child, &status, 0) < 0) continue;
        CHECK(status == 0 && g_counter[i] == mark + 1);
        ++forks;
      }
    });
  for (int round = 0; round < 50; ++round) {
    close(share());
    unshare();
  }
  stop = true;
  for (auto& forker : forkers) forker.join();
  std::fprintf(stderr, "%d forks\n", forks.load());
}

void blocked_thread_is_refused() {
  std::atomic<bool> ready{false};
  std::atomic<bool> stop{false};
  std::thread deaf([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    ready = true;
    while (!stop) usleep(100);
    pthread_sigmask(SIG_UNBLOCK, &all, nullptr);  // a signal left pending would kill the process now
  });
  while (!ready) usleep(100);
  char reason[256];
  CHECK(test_share(reason, sizeof reason) == -1);
  CHECK(std::strstr(reason, "blocks") != nullptr);
  g_number = 3;
  stop = true;
  deaf.join();
  CHECK(g_number == 3);
  close(share());
}

void protected_pages_are_refused() {
  CHECK(mprotect(g_page + 4096, 4096, PROT_READ) == 0);
  char reason[256];
  CHECK(test_share(reason, sizeof reason) == -1);
  CHECK(std::strstr(reason, "r--p") != nullptr);
  CHECK(mprotect(g_page + 4096, 4096, PROT_READ | PROT_WRITE) == 0);
  close(share());
}

void timing() {
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const int fd = share();
    const auto middle = std::chrono::steady_clock::now();
    unshare();
    const auto end = std::chrono::steady_clock::now();
    close(fd);
    std::fprintf(stderr, "share %.1f us, unshare %.1f us\n",
                 std::chrono::duration<double>(middle - start).count() * 1e6,
                 std::chrono::duration<double>(end - middle).count() * 1e6);
  }
}

struct Case {
  const char* name;
  void (*run)();
};
constexpr Case kCases[] = {
    {"values", values},
    {"unshare_and_share_again", unshare_and_share_again},
    {"fork_is_private", fork_is_private},
    {"failed_fork_does_not_wait", failed_fork_does_not_wait},
    {"spawn_works", spawn_works},
    {"untouched_memory_stays_untouched", untouched_memory_stays_untouched},
    {"writers_lose_nothing", writers_lose_nothing},
    {"forks_during_the_move_stay_private", forks_during_the_move_stay_private},
    {"blocked_thread_is_refused", blocked_thread_is_refused},
    {"protected_pages_are_refused", protected_pages_are_refused},
    {"timing", timing},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Case& one : kCases) {
    if (argc != 2 || std::strcmp(argv[1], one.name) != 0) continue;
    one.run();
    return 0;
  }
  std::fprintf(stderr, "no such case\n");
  return 2;
}
