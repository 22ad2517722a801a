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
#include "src/base/fds.h"
#include "src/base/system_limits.h"

namespace railshmem::oshrun {
namespace {

struct Failure {
  Step step;
  int error;
};

/// Runs in the child between fork and exec; returns when the program cannot be started.
Failure become_pe(const ProcessGroupOrder& order, int pe, pid_t launcher, int control, const FdPipe& out,
                  const FdPipe& err, const Descriptors& descriptors, const cpu_set_t* cpus) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing is left behind when oshrun itself is killed
  if (getppid() != launcher) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (cpus && sched_setaffinity(0, sizeof *cpus, cpus) != 0) return {Step::bind, errno};
  if (pe != 0) {
    const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null || dup2(null.get(), STDIN_FILENO) < 0) return {Step::run, errno};
  }
  if (out.write && dup2(out.write.get(), STDOUT_FILENO) < 0) return {Step::run, errno};
  if (err.write && dup2(err.write.get(), STDERR_FILENO) < 0) return {Step::run, errno};
  if (fcntl(control, F_SETFD, 0) != 0) return {Step::run, errno};
  for (const auto& [name, value] : order.environment) setenv(name.c_str(), value.c_str(), 1);
  if (!order.directory.empty()) {
    if (chdir(order.directory.c_str()) != 0) return {Step::enter, errno};
    setenv("PWD", order.directory.c_str(), 1);
  }
  setenv(local::kFdVariable, std::to_string(control).c_str(), 1);
  setenv(local::kPeVariable, std::to_string(pe).c_str(), 1);
  setenv(local::kNpesVariable, std::to_string(order.npes).c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& argument : order.command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  descriptors.restore();  // last: the steps above may need more
  execvp(argv[0], argv.data());
  return {Step::run, errno};
}

}  // namespace

Child spawn(const ProcessGroupOrder& order, int pe, const Descriptors& descriptors, const cpu_set_t* cpus) {
  auto [ours, theirs] = make_socket_pair();
  Child child;
  child.control = std::move(ours);
  FdPipe out, err;
  if (order.output == Output::captured) {
    out = make_pipe();
    err = make_pipe();
  }
  // exec closes this pipe; a program that cannot be started writes the reason to it instead.
  FdPipe report = make_pipe();
  const pid_t launcher = getpid();
  child.pid = fork();
  if (child.pid < 0) throw Error(text("fork failed: %s", task_refusal_text(errno).c_str()));
  if (child.pid == 0) {
    const Failure failure = become_pe(order, pe, launcher, theirs.get(), out, err, descriptors, cpus);
    [[maybe_unused]] const ssize_t written = write(report.write.get(), &failure, sizeof failure);
    _exit(127);
  }
  report.write.reset();
  Failure failure{};
  if (read(report.read.get(), &failure, sizeof failure) == sizeof failure) {
    child.failed = failure.step;
    child.error = failure.error;
    waitpid(child.pid, nullptr, 0);
  }
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  return child;
}

}  // namespace railshmem::oshrun
