// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/job.h"

#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bootstrap/local/oshrun/say.h"
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

CrewOrder local_order(const Options& options) {
  return {.first = 0,
          .count = options.npes,
          .npes = options.npes,
          .output = options.tag_output ? Output::captured : Output::inherited,
          .environment = options.environment,
          .command = options.command};
}

}  // namespace

Job::Job(Options options)
    : options_(std::move(options)),
      signals_(catch_signals()),
      crew_(local_order(options_), *this),
      rendezvous_(options_.npes),
      timeout_(options_.timeout_s > 0 ? options_.timeout_s : 1e9) {
  for (int pe = 0; pe < options_.npes; ++pe) pes_.push_back({.out = LineTagger(pe), .err = LineTagger(pe)});
}

int Job::run() {
  start();
  while (running_ > 0) {
    step();
    advance();
  }
  crew_.drain_output();
  crew_.sweep();
  return status_;
}

void Job::start() {
  try {
    crew_.start();
  } catch (const CannotStart& e) {
    say("%s", e.what());
    decide(e.status, Phase::asked);
  }
  running_ = crew_.running();
}

void Job::step() {
  Poll poll;
  crew_.add_to(poll);
  // Signals last: the messages of a PE explain its end.
  poll.add(signals_.get(), POLLIN, [this] { on_signals(); });
  constexpr int kLongestSleepMs = 60000;
  poll.wait((phase_ == Phase::running ? timeout_ : next_phase_).slice_ms(kLongestSleepMs));
}

void Job::on_signals() {
  signalfd_siginfo one{};
  while (read(signals_.get(), &one, sizeof one) == sizeof one) {
    const int signal = static_cast<int>(one.ssi_signo);
    if (signal == SIGCHLD) continue;
    // The terminal signals the whole process group itself: passing it on would deliver it twice.
    const bool from_terminal = one.ssi_code == SI_KERNEL;
    const bool ends = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
    if (ends) announce_end();
    if (!from_terminal) crew_.signal_all(signal);
    if (signal == SIGTSTP) raise(SIGSTOP);
    if (!ends) continue;
    if (forwarded_ != 0 && phase_ == Phase::running) decide(128 + signal, Phase::asked);  // asked twice: insist
    forwarded_ = signal;
  }
  on_child_exits();
}

void Job::on_child_exits() {
  int wait_status = 0;
  for (pid_t pid; (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;) crew_.ended(pid, wait_status);
}

void Job::on_exit(int pe, pid_t pid, int wait_status) {
  Pe& self = pes_[static_cast<size_t>(pe)];
  self.running = false;
  --running_;
  rendezvous_.leave(pe);
  if (phase_ != Phase::running) return;
  const int status = exit_status_of(wait_status);
  const std::string how = text("PE %d (pid %d) %s", pe, static_cast<int>(pid), describe(wait_status).c_str());
  if (status != 0) {
    if (forwarded_ == 0 || status != 128 + forwarded_)
      say("%s%s", how.c_str(), running_ > 0 ? "; ending the other PEs" : "");
    tell_all(how);
    decide(status, Phase::told);
  } else if (self.member == Member::joined) {
    // Whether that is an error is for the PEs to say: only those that wait for it care.
    tell_all(text("PE %d (pid %d) exited without finalizing", pe, static_cast<int>(pid)));
  } else if (const auto stuck = rendezvous_.stuck()) {
    tell_all(*stuck);
  }
}

void Job::on_message(int pe, Frame frame) {
  Pe& self = pes_[static_cast<size_t>(pe)];
  try {
    if (frame.kind == local::hello) {
      self.member = Member::joined;
      send(pe, local::welcome);
    } else if (frame.kind == local::goodbye) {
      self.member = Member::finished;
    } else if (frame.kind == local::contribute) {
      on_contribution(pe, std::move(frame.payload));
    } else if (frame.kind == local::who) {
      send(pe, local::missing, Packer().add_text(rendezvous_.missing()).take());
    } else if (frame.kind == local::abort && phase_ == Phase::running) {
      const int status = Unpacker(frame.payload).get<int>() & 0xff;
      if (status != 0 && running_ > 1) say("PE %d ends the job with status %d", pe, status);
      decide(status, Phase::asked);
    }
  } catch (const Error& e) {
    tell_all(e.what());
  }
}

void Job::on_contribution(int pe, Bytes bytes) {
  if (const auto all = rendezvous_.contribute(pe, std::move(bytes)))
    crew_.send_to_all(local::gathered, all);
  else if (const auto stuck = rendezvous_.stuck())
    tell_all(*stuck);
}

void Job::on_output(int pe, int fd, std::string_view bytes) {
  Pe& self = pes_[static_cast<size_t>(pe)];
  LineTagger& lines = fd == STDOUT_FILENO ? self.out : self.err;
  write_all(fd, bytes.empty() ? lines.finish() : lines.feed(bytes));
}

void Job::on_note(const std::string& note) {
  say("%s", note.c_str());
}

void Job::send(int pe, uint32_t kind, Bytes payload) {
  crew_.send(pe, kind, std::make_shared<const Bytes>(std::move(payload)));
}

void Job::decide(int status, Phase next) {
  if (phase_ == Phase::running) status_ = status;
  if (next == Phase::asked) {
    announce_end();
    crew_.signal_all(SIGTERM);
  }
  phase_ = next;
  next_phase_ = Deadline(kGraceSeconds);
}

void Job::announce_end() {
  crew_.send_to_all(local::ending, std::make_shared<const Bytes>());
}

void Job::tell_all(const std::string& why) {
  crew_.send_to_all(local::notice, std::make_shared<const Bytes>(Packer().add_text(why).take()));
}

void Job::advance() {
  if (phase_ == Phase::running && timeout_.passed()) {
    say("the job did not end within %g s (--timeout); ending it", options_.timeout_s);
    decide(kTimeoutStatus, Phase::asked);
  } else if (phase_ == Phase::told && next_phase_.passed()) {
    decide(status_, Phase::asked);
  } else if ((phase_ == Phase::asked || phase_ == Phase::killed) && next_phase_.passed()) {
    crew_.signal_all(SIGKILL);
    decide(status_, Phase::killed);
  }
}

}  // namespace railshmem::oshrun
