// SPDX-License-Identifier: BSD-3-Clause
// A PE of a job that ends early: job_end_probe HOW STATUS OTHERS [FOLDER]
//   HOW     what PE 0 does: exit (shmem_global_exit), thread_exit (the same by a second thread), error (a mistake that
//           ends the job), return (from main, with STATUS, after start_pes), plain (the same without the library), kill
//           (it kills itself; kill_last: the last PE does), and with "stop_" before it: PE 0 stops its launcher first
//   OTHERS  what the other PEs do meanwhile: barrier, wait, compute, sleep, deaf (sleep, and ignore SIGTERM); and
//           "reader" or "writer" behind a colon: on every PE a second thread sits in getchar() or fills stdout; or
//           "slow": the exit handlers of every PE take 3 s
//   FOLDER  where each PE leaves a file of stdio and one of a stream, both unflushed
#include <shmem.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

namespace {

constexpr int kUnnoticed = 3;

std::ofstream stream;  // destroyed at the end of the program, as members of static objects are

void write_without_flush(const std::string& folder, int pe) {
  std::cout << "cout of PE " << pe << "\n";
  std::printf("printf of PE %d\n", pe);
  if (folder.empty()) return;
  stream.open(folder + "/stream." + std::to_string(pe));
  stream << "line";
  std::FILE* const file = std::fopen((folder + "/file." + std::to_string(pe)).c_str(), "w");
  if (file) std::fputs("line", file);
}

void start_thread(const std::string& what) {
  if (what == "reader") std::thread([] { std::getchar(); }).detach();
  if (what == "writer")
    std::thread([] {
      for (;;) std::puts("a line that nobody reads");
    }).detach();
  if (!what.empty()) usleep(200000);  // until it has the lock of stdin or stdout; no test fails where it has not
}

int end(std::string how, int status) {
  const std::string stop = "stop_";
  if (how.rfind(stop, 0) == 0) {
    how.erase(0, stop.size());
    kill(getppid(), SIGSTOP);
  }
  if (how == "exit") shmem_global_exit(status);
  if (how == "thread_exit") {
    std::thread([status] { shmem_global_exit(status); }).detach();
    for (;;) pause();
  }
  if (how == "kill" || how == "kill_last") raise(SIGKILL);
  static long word;
  if (how == "error") shmem_long_p(&word, 1, 99);
  return how == "return" ? status : kUnnoticed;
}

void go_on(const std::string& how) {
  static long word;
  if (how == "barrier") shmem_barrier_all();
  if (how == "wait") shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
  if (how == "compute")
    for (volatile unsigned long i = 0;;) i = i + 1;
  if (how == "deaf") signal(SIGTERM, SIG_IGN);
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return kUnnoticed;
  const std::string how = argv[1];
  std::string others = argv[3], thread;
  if (const size_t colon = others.find(':'); colon != std::string::npos) {
    thread = others.substr(colon + 1);
    others.erase(colon);
  }
  alarm(50);  // a hang must not outlive the test
  std::ios::sync_with_stdio(false);
  std::atexit([] { std::puts("the exit handler ran"); });
  if (thread == "slow") std::atexit([] { sleep(3); });
  if (how == "plain") {
    start_thread(thread);
    return std::atoi(argv[2]);
  }
  if (how == "return")
    start_pes(0);
  else
    shmem_init();
  const int me = shmem_my_pe();
  write_without_flush(argc > 4 ? argv[4] : "", me);
  start_thread(thread);
  shmem_barrier_all();
  if (me == (how == "kill_last" ? shmem_n_pes() - 1 : 0)) return end(how, std::atoi(argv[2]));
  if (others == "return") return 0;
  go_on(others);
  return kUnnoticed;
}
