// SPDX-License-Identifier: BSD-3-Clause
//
// usage: thread_pes N PROGRAM.so: runs a conformance program with N PEs that are threads of this process.
//
// Every PE loads a copy of the program of its own, so that static variables are private to it as in processes; all
// copies call the one library in this executable. This is how the suite runs over SHMEM_TRANSPORT=loopback.
#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "src/api/job.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "tests/support/thread_bootstrap.h"

namespace {

using namespace railshmem;
using Main = int (*)(int, char**);

/// A copy of the file, loaded: the loader knows files by inode, so each memfd is another library to it.
Main load_copy(const std::string& bytes, int pe) {
  const int fd = memfd_create("conformance", 0);
  check_errno(fd >= 0, "memfd_create");
  check_errno(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "write");
  void* program = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!program) throw Error(text("PE %d: %s", pe, dlerror()));
  auto* entry = reinterpret_cast<Main>(dlsym(program, "main"));
  if (!entry) throw Error(text("PE %d: %s", pe, dlerror()));
  return entry;
}

int run_pe(const Env& env, ThreadMeeting& meeting, int pe, Main entry) {
  set_log_pe(pe);
  ThreadBootstrap bootstrap(meeting, pe);
  World world(env, bootstrap, {.several_threads_call = false, .pes_are_threads = true});
  job::bind_world(&world);
  char name[] = "program";
  char* arguments[] = {name, nullptr};
  const int status = entry(1, arguments);
  job::bind_world(nullptr);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: thread_pes N PROGRAM.so\n");
    return 2;
  }
  const int npes = std::atoi(argv[1]);
  std::ifstream file(argv[2], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<int> status(static_cast<size_t>(npes), 1);
  try {
    const Env env = Env::parse();
    ThreadMeeting meeting(npes);
    std::vector<Main> entries;
    for (int pe = 0; pe < npes; ++pe) entries.push_back(load_copy(bytes, pe));
    std::vector<std::thread> pes;
    for (int pe = 0; pe < npes; ++pe)
      pes.emplace_back(
          [&, pe] { status[static_cast<size_t>(pe)] = run_pe(env, meeting, pe, entries[static_cast<size_t>(pe)]); });
    for (std::thread& pe : pes) pe.join();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "thread_pes: %s\n", e.what());
    return 1;
  }
  for (const int one : status)
    if (one != 0) return one;
  return 0;
}
