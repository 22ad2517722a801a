// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bootstrap/local/oshrun/verdict.h"
#include "bootstrap/local/protocol.h"

namespace railshmem::oshrun {
namespace {

constexpr double kGraceSeconds = 1.0;  // for PEs to end with an error of their own, then to obey SIGTERM
constexpr int kTimeoutStatus = 124;    // as timeout(1)
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};

UniqueFd catch_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kSignals) sigaddset(&set, signal);
  check_errno(sigprocmask(SIG_BLOCK, &set, nullptr) == 0, "sigprocmask");
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  check_errno(static_cast<bool>(fd), "signalfd");
  return fd;
}

void raise_descriptor_limit(int npes) noexcept {
  constexpr rlim_t kPerPe = 3, kOwn = 32;
  const rlim_t need = static_cast<rlim_t>(npes) * kPerPe + kOwn;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) return;
  limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void write_all(int fd, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EAGAIN) {
      pollfd wait{fd, POLLOUT, 0};
      poll(&wait, 1, -1);
    } else if (n < 0 && errno != EINTR) {
      return;
    } else if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
}

[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) noexcept {
  va_list args;
  va_start(args, format);
  char line[1024];
  const int n = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (n > 0) write_all(STDERR_FILENO, std::string_view(line, std::min(static_cast<size_t>(n), sizeof line - 1)));
}

}  // namespace

Job::Job(Options options)
    : options_(std::move(options)),
      signals_(catch_signals()),
      rendezvous_(options_.npes),
      timeout_(options_.timeout_s > 0 ? options_.timeout_s : 1e9) {}

int Job::run() {
  raise_descriptor_limit(options_.npes);
  // What PEs leave running becomes ours, so that an aborted job leaves nothing behind.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  start();
  while (running_ > 0) {
    step();
    advance();
  }
  drain_output();
  if (phase_ != Phase::running) kill_orphans();
  return status_;
}

void Job::start() {
  for (int pe = 0; pe < options_.npes && phase_ == Phase::running; ++pe) {
    Child child = spawn(options_, pe);
    if (child.exec_errno != 0) {
      say("oshrun: cannot start '%s': %s\n", options_.command[0].c_str(), strerror(child.exec_errno));
      // As shells: 127 not found, 126 found but not executable.
      decide(child.exec_errno == ENOENT ? 127 : 126, Phase::asked);
      return;
    }
    pes_.push_back({child.pid,
                    true,
                    Member::stranger,
                    Stream(std::move(child.control)),
                    {std::move(child.out), STDOUT_FILENO, LineTagger(pe)},
                    {std::move(child.err), STDERR_FILENO, LineTagger(pe)}});
    ++running_;
  }
}

void Job::step() {
  std::vector<pollfd> wait{{signals_.get(), POLLIN, 0}};
  for (const Pe& pe : pes_) {
    const short events = static_cast<short>(POLLIN | (pe.control.has_output() ? POLLOUT : 0));
    wait.push_back({pe.control.open() ? pe.control.fd() : -1, events, 0});
    wait.push_back({pe.out.from.get(), POLLIN, 0});
    wait.push_back({pe.err.from.get(), POLLIN, 0});
  }
  constexpr int kLongestSleepMs = 60000;
  const int until_timeout = timeout_.slice_ms(kLongestSleepMs);
  poll(wait.data(), wait.size(), phase_ == Phase::running ? until_timeout : next_phase_.slice_ms(kLongestSleepMs));
  for (size_t i = 0; i < pes_.size(); ++i) {
    // Messages before exits: a PE's abort or goodbye explains the exit that follows it.
    if (wait[1 + 3 * i].revents) on_messages(static_cast<int>(i));
    if (wait[2 + 3 * i].revents) read_output(pes_[i].out);
    if (wait[3 + 3 * i].revents) read_output(pes_[i].err);
  }
  if (wait[0].revents) on_signals();
}

void Job::on_signals() {
  signalfd_siginfo one{};
  while (read(signals_.get(), &one, sizeof one) == sizeof one) {
    const int signal = static_cast<int>(one.ssi_signo);
    if (signal == SIGCHLD) continue;
    // The terminal signals the whole process group itself: passing it on would deliver it twice.
    const bool from_terminal = one.ssi_code == SI_KERNEL;
    if (!from_terminal) signal_all(signal);
    if (signal == SIGTSTP) raise(SIGSTOP);
    if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP) continue;
    if (forwarded_ != 0 && phase_ == Phase::running) decide(128 + signal, Phase::asked);  // asked twice: insist
    forwarded_ = signal;
  }
  on_child_exits();
}

void Job::on_child_exits() {
  int wait_status = 0;
  for (pid_t pid; (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;)
    for (size_t pe = 0; pe < pes_.size(); ++pe)
      if (pes_[pe].pid == pid && pes_[pe].running) on_exit(static_cast<int>(pe), wait_status);
}

void Job::on_exit(int pe, int wait_status) {
  Pe& self = pes_[static_cast<size_t>(pe)];
  on_messages(pe);
  self.running = false;
  --running_;
  rendezvous_.leave(pe);
  if (phase_ != Phase::running) return;
  const int status = exit_status_of(wait_status);
  const std::string how = describe(wait_status);
  if (status != 0) {
    if (forwarded_ == 0 || status != 128 + forwarded_)
      say("oshrun: PE %d (pid %d) %s%s\n", pe, static_cast<int>(self.pid), how.c_str(),
          running_ > 0 ? "; ending the other PEs" : "");
    tell_all(text("PE %d (pid %d) %s", pe, static_cast<int>(self.pid), how.c_str()));
    decide(status, Phase::told);
  } else if (self.member == Member::joined) {
    // Whether that is an error is for the PEs to say: only those that wait for it care.
    tell_all(text("PE %d (pid %d) exited without finalizing", pe, static_cast<int>(self.pid)));
  } else if (const auto stuck = rendezvous_.stuck()) {
    tell_all(*stuck);
  }
}

void Job::on_messages(int pe) {
  Pe& self = pes_[static_cast<size_t>(pe)];
  self.control.pump();
  try {
    while (auto frame = self.control.pop()) on_message(pe, *frame);
  } catch (const Error& e) {
    tell_all(e.what());
  }
}

void Job::on_message(int pe, const Frame& frame) {
  Pe& self = pes_[static_cast<size_t>(pe)];
  if (frame.kind == local::hello) {
    self.member = Member::joined;
    self.control.push(local::welcome);
  } else if (frame.kind == local::goodbye) {
    self.member = Member::finished;
  } else if (frame.kind == local::contribute) {
    on_contribution(pe, frame.payload);
  } else if (frame.kind == local::who) {
    self.control.push(local::missing, Packer().add_text(rendezvous_.missing()).take());
  } else if (frame.kind == local::abort && phase_ == Phase::running) {
    const int status = Unpacker(frame.payload).get<int>() & 0xff;
    if (status != 0 && running_ > 1) say("oshrun: PE %d ends the job with status %d\n", pe, status);
    decide(status, Phase::asked);
  }
  self.control.pump_output();
}

void Job::on_contribution(int pe, Bytes bytes) {
  if (const auto all = rendezvous_.contribute(pe, std::move(bytes))) {
    for (Pe& other : pes_) {
      other.control.push(local::gathered, all);
      other.control.pump_output();
    }
  } else if (const auto stuck = rendezvous_.stuck()) {
    tell_all(*stuck);
  }
}

void Job::read_output(Output& output) {
  char buffer[1 << 16];
  const ssize_t n = read(output.from.get(), buffer, sizeof buffer);
  if (n > 0) {
    write_all(output.to, output.lines.feed(std::string_view(buffer, static_cast<size_t>(n))));
  } else if (n == 0 || errno != EINTR) {
    write_all(output.to, output.lines.finish());
    output.from.reset();
  }
}

void Job::decide(int status, Phase next) {
  if (phase_ == Phase::running) status_ = status;
  if (next == Phase::asked) signal_all(SIGTERM);
  phase_ = next;
  next_phase_ = Deadline(kGraceSeconds);
}

void Job::tell_all(const std::string& why) {
  const auto message = std::make_shared<const Bytes>(Packer().add_text(why).take());
  for (Pe& pe : pes_) {
    if (!pe.running) continue;
    pe.control.push(local::notice, message);
    pe.control.pump_output();
  }
}

void Job::advance() {
  if (phase_ == Phase::running && timeout_.passed()) {
    say("oshrun: the job did not end within %g s (--timeout); ending it\n", options_.timeout_s);
    decide(kTimeoutStatus, Phase::asked);
  } else if (phase_ == Phase::told && next_phase_.passed()) {
    decide(status_, Phase::asked);
  } else if ((phase_ == Phase::asked || phase_ == Phase::killed) && next_phase_.passed()) {
    signal_all(SIGKILL);
    decide(status_, Phase::killed);
  }
}

void Job::signal_all(int signal) noexcept {
  for (const Pe& pe : pes_) {
    if (!pe.running) continue;
    kill(pe.pid, signal);
    // A stopped PE could not obey.
    if (signal == SIGTERM) kill(pe.pid, SIGCONT);
  }
}

void Job::drain_output() {
  const Deadline enough(0.2);  // what a PE started in the background may hold the pipe open for ever
  for (Pe& pe : pes_) {
    for (Output* output : {&pe.out, &pe.err}) {
      while (output->from) {
        pollfd wait{output->from.get(), POLLIN, 0};
        if (poll(&wait, 1, enough.slice_ms(200)) <= 0) break;
        read_output(*output);
      }
      write_all(output->to, output->lines.finish());
    }
  }
}

void Job::kill_orphans() noexcept {
  // In rounds: a killed process hands its own children on to us.
  for (int round = 0; round < 16; ++round) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", static_cast<int>(getpid()));
    const UniqueFd list(open(path, O_RDONLY | O_CLOEXEC));
    char pids[4096] = {};
    if (!list || read(list.get(), pids, sizeof pids - 1) <= 0) return;
    char* end = nullptr;
    // NOLINTNEXTLINE(bugprone-infinite-loop): strtol moves `end`
    for (const char* at = pids; const long pid = strtol(at, &end, 10); at = end) kill(static_cast<pid_t>(pid), SIGKILL);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
  }
}

}  // namespace railshmem::oshrun
