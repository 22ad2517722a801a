// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "bootstrap/local/protocol.h"
#include "src/base/error.h"

namespace railshmem::oshrun {
namespace {

struct Pipe {
  UniqueFd read, write;
};

Pipe make_pipe() {
  int ends[2];
  check_errno(pipe2(ends, O_CLOEXEC) == 0, "pipe2 (try a higher limit with ulimit -n)");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// Runs in the child between fork and exec; returns errno when the program cannot be started.
int become_pe(const Options& options, int pe, pid_t launcher, int control, const Pipe& out, const Pipe& err) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing is left behind when oshrun itself is killed
  if (getppid() != launcher) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (pe != 0) {
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0) return errno;
  }
  if (out.write && dup2(out.write.get(), STDOUT_FILENO) < 0) return errno;
  if (err.write && dup2(err.write.get(), STDERR_FILENO) < 0) return errno;
  if (fcntl(control, F_SETFD, 0) != 0) return errno;
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  setenv(local::kFdVariable, std::to_string(control).c_str(), 1);
  setenv(local::kPeVariable, std::to_string(pe).c_str(), 1);
  setenv(local::kNpesVariable, std::to_string(options.npes).c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& argument : options.command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  return errno;
}

}  // namespace

Child spawn(const Options& options, int pe) {
  int control[2];
  check_errno(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) == 0,
              "socketpair (try a higher limit with ulimit -n)");
  Child child;
  child.control = UniqueFd(control[0]);
  const UniqueFd theirs(control[1]);
  Pipe out, err;
  if (options.tag_output) {
    out = make_pipe();
    err = make_pipe();
  }
  // exec closes this pipe; a program that cannot be started writes errno to it instead.
  Pipe report = make_pipe();
  const pid_t launcher = getpid();
  child.pid = fork();
  check_errno(child.pid >= 0, "fork");
  if (child.pid == 0) {
    const int failed = become_pe(options, pe, launcher, theirs.get(), out, err);
    [[maybe_unused]] const ssize_t written = write(report.write.get(), &failed, sizeof failed);
    _exit(127);
  }
  report.write.reset();
  if (read(report.read.get(), &child.exec_errno, sizeof child.exec_errno) != sizeof child.exec_errno)
    child.exec_errno = 0;
  else
    waitpid(child.pid, nullptr, 0);
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  return child;
}

}  // namespace railshmem::oshrun
