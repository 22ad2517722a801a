// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/job.h"

#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "bootstrap/local/oshrun/needed.h"
#include "bootstrap/local/oshrun/own_host.h"
#include "bootstrap/local/oshrun/relay_protocol.h"
#include "bootstrap/local/oshrun/say.h"
#include "bootstrap/local/oshrun/signals.h"
#include "bootstrap/local/oshrun/verdict.h"
#include "bootstrap/local/protocol.h"

namespace railshmem::oshrun {
namespace {

constexpr double kGraceSeconds = 1.0;  // for PEs to end with an error of their own, then to obey SIGTERM
constexpr double kEndSeconds = 12.0;   // for PEs that were told the end; their own deadlines are shorter (job_end.cpp)
constexpr int kTimeoutStatus = 124;    // as timeout(1)
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};

constexpr int kMostKills = 5;  // then a host that is silent is given up

ProcessGroupOrder order_for(const Options& options, const Share& share) {
  return {.first = share.first,
          .count = share.count,
          .npes = options.npes,
          .output = options.tag_output ? Output::captured : Output::inherited,
          .bind = options.bind,
          .report = options.verbose ? Report::places : Report::no,
          .environment = options.environment,
          .directory = options.directory,
          .command = options.command};
}

/// The share that needs no ssh; its count is 0 if none exists.
Share local_share(const Options& options) {
  if (options.shares.empty()) return {"", 0, options.npes};
  for (const Share& share : options.shares)
    if (is_this_host(share.host)) return share;
  return {};
}

/// What describes the session on this host means nothing on another one.
bool stays_here(std::string_view name) noexcept {
  if (name == "HOSTNAME" || name == "HOST" || name == "DISPLAY" || name == "SHLVL" || name == "_") return true;
  return name.starts_with("SSH_") || name.starts_with("XDG_") || name.starts_with("DBUS_");
}

/// As local ones, but the environment and the directory of this oshrun have to be said.
ProcessGroupOrder remote_order(const Options& options, const Share& share) {
  ProcessGroupOrder order = order_for(options, share);
  order.environment.clear();
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view both = *entry;
    const size_t equal = both.find('=');
    if (equal != std::string_view::npos && !stays_here(both.substr(0, equal)))
      order.environment.emplace_back(both.substr(0, equal), both.substr(equal + 1));
  }
  order.environment.insert(order.environment.end(), options.environment.begin(), options.environment.end());
  if (order.directory.empty()) order.directory = std::filesystem::current_path();
  return order;
}

/// A process in the background of its terminal would be stopped for reading.
bool may_read_input() noexcept {
  return isatty(STDIN_FILENO) == 0 || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

}  // namespace

Job::Job(Options options)
    : options_(std::move(options)),
      signals_(catch_signals(kSignals)),
      group_(order_for(options_, local_share(options_)), *this),
      allgather_(options_.npes),
      timeout_(options_.timeout_s > 0 ? options_.timeout_s : 1e9) {
  for (int pe = 0; pe < options_.npes; ++pe)
    pes_.push_back({.out = LineTagger::of_pe(pe), .err = LineTagger::of_pe(pe)});
}

int Job::run() {
  start();
  while (goes_on()) {
    step();
    advance();
  }
  for (const auto& remote : remotes_) remote->leave();
  group_.drain_output();
  group_.sweep();
  return status_;
}

void Job::start() {
  running_ = options_.npes;
  if (const std::string foreign = foreign_openshmem(options_.command[0]); !foreign.empty())
    say("'%s' is linked with %s, another OpenSHMEM library, which knows nothing of this launcher: each PE will be a "
        "job of "
        "its own. Compile it with this library's oshcc, or start it with the other library's launcher",
        options_.command[0].c_str(), foreign.c_str());
  const Share here = local_share(options_);
  try {
    for (const Share& share : options_.shares)
      if (here.count == 0 || share.first != here.first)
        remotes_.push_back(std::make_unique<Remote>(share, options_.ssh, remote_order(options_, share), *this));
    group_.start();
  } catch (const CannotStart& e) {
    say("%s", e.what());
    running_ -= here.count - group_.running();
    decide(e.status, Phase::asked);
  }
}

bool Job::goes_on() const {
  return running_ > 0 ||
         std::any_of(remotes_.begin(), remotes_.end(), [](const auto& one) { return !one->finished(); });
}

void Job::step() {
  Poll poll;
  group_.add_to(poll);
  constexpr int kLongestSleepMs = 60000;
  int sleep_ms = (phase_ == Phase::running ? timeout_ : next_phase_).slice_ms(kLongestSleepMs);
  for (const auto& remote : remotes_) {
    remote->add_to(poll);
    sleep_ms = remote->patience_ms(sleep_ms);
    if (input_open_ && remote->wants_input() && may_read_input())
      poll.add(STDIN_FILENO, POLLIN, [this] { feed_input(); });
  }
  // Signals last: the messages of a PE explain its end.
  poll.add(signals_.get(), POLLIN, [this] { on_signals(); });
  poll.wait(sleep_ms);
  // After the signals: a PE that was killed is the reason for which others ask for the end of the job.
  if (asked_ && phase_ == Phase::running) {
    const int others = running_ - (pes_[static_cast<size_t>(asked_->pe)].running ? 1 : 0);
    if (asked_->status != 0 && others > 0) say("PE %d ends the job with status %d", asked_->pe, asked_->status);
    end_as_asked();
  }
}

void Job::feed_input() {
  char buffer[1 << 16];
  const ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  input_open_ = n > 0;
  for (const auto& remote : remotes_)
    if (remote->has(0)) remote->send_input(std::string_view(buffer, static_cast<size_t>(std::max<ssize_t>(n, 0))));
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
    signal_all(signal, from_terminal ? Where::other_hosts : Where::everywhere);
    if (signal == SIGTSTP) raise(SIGSTOP);
    if (!ends) continue;
    if (forwarded_ != 0 && phase_ == Phase::running) decide(128 + signal, Phase::asked);  // asked twice: insist
    forwarded_ = signal;
  }
  on_child_exits();
}

void Job::on_child_exits() {
  int wait_status = 0;
  for (pid_t pid; (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;)
    if (!group_.ended(pid, wait_status))
      for (const auto& remote : remotes_)
        if (remote->ended(pid, wait_status)) break;
}

void Job::on_exit(int pe, pid_t pid, int wait_status) {
  Pe& self = pes_[static_cast<size_t>(pe)];
  self.running = false;
  --running_;
  allgather_.leave(pe);
  // Who wants the end decides the status. An error may be the consequence of the exit that comes here.
  if (phase_ != Phase::running || (asked_ && (asked_->wanted || asked_->pe == pe))) return;
  const int status = exit_status_of(wait_status);
  const std::string how = name(pe, pid) + " " + describe(wait_status);
  if (status != 0 && options_.survive && forwarded_ == 0) {
    say("%s%s", how.c_str(), running_ > 0 ? "; the other PEs go on (--survive)" : "");
    if (status_ == 0) status_ = status;
    send_to_all(local::lost, std::make_shared<const Bytes>(Packer().add(pe).take()));
    notify_all(how);
  } else if (status != 0) {
    if (forwarded_ == 0 || status != 128 + forwarded_)
      say("%s%s", how.c_str(), running_ > 0 ? "; ending the other PEs" : "");
    notify_all(how);
    decide(status, Phase::told);
  } else if (self.member == Member::joined) {
    // Whether that is an error is for the PEs to say: only those that wait for it care.
    notify_all(name(pe, pid) + " exited without finalizing");
  } else if (const auto stuck = allgather_.stuck()) {
    notify_all(*stuck);
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
      send(pe, local::missing, Packer().add_text(allgather_.missing()).take());
    } else if (frame.kind == local::abort) {
      on_abort(pe, frame);
    }
  } catch (const Error& e) {
    notify_all(e.what());
  }
}

void Job::on_abort(int pe, const Frame& frame) {
  Unpacker fields(frame.payload);
  const int status = fields.get<int>() & 0xff;
  const bool wanted = fields.get_text().empty();
  if (phase_ != Phase::running) return send(pe, local::end, end_message());  // it waits for an answer
  if (!asked_ || (wanted && !asked_->wanted)) asked_ = Asked{pe, status, wanted};
}

Bytes Job::end_message() const {
  const bool wanted = asked_ && asked_->wanted;
  return Packer().add(status_).add(static_cast<uint8_t>(wanted)).take();
}

void Job::end_as_asked() {
  decide(asked_->status, Phase::told);
  send_to_all(local::end, std::make_shared<const Bytes>(end_message()));
  // Those that do not listen are not waited for long: they have not started the library, or have left it.
  const bool all_listen =
      std::all_of(pes_.begin(), pes_.end(), [](const Pe& pe) { return !pe.running || pe.member == Member::joined; });
  if (all_listen) next_phase_ = Deadline(kEndSeconds);
}

void Job::on_contribution(int pe, Bytes bytes) {
  if (const auto all = allgather_.contribute(pe, std::move(bytes)))
    send_to_all(local::gathered, all);
  else if (const auto stuck = allgather_.stuck())
    notify_all(*stuck);
}

void Job::on_output(int pe, int fd, std::string_view bytes) {
  Pe& self = pes_[static_cast<size_t>(pe)];
  LineTagger& lines = fd == STDOUT_FILENO ? self.out : self.err;
  const bool is_read =
      !options_.tag_output ? write_all(fd, bytes) : write_all(fd, bytes.empty() ? lines.finish() : lines.feed(bytes));
  // As a PE would end that writes to the pipe itself.
  if (!is_read && fd == STDOUT_FILENO && phase_ == Phase::running) decide(128 + SIGPIPE, Phase::asked);
}

void Job::on_note(const std::string& note) {
  say("%s", note.c_str());
}

void Job::on_host_failure(const Share& share, const std::string& why, int status) {
  int lost = 0;
  for (int pe = share.first; pe < share.first + share.count; ++pe) {
    Pe& self = pes_[static_cast<size_t>(pe)];
    lost += self.running ? 1 : 0;
    self.running = false;
    allgather_.leave(pe);
  }
  running_ -= lost;
  if (phase_ == Phase::running || lost > 0) say("%s%s", why.c_str(), running_ > 0 ? "; ending the other PEs" : "");
  if (phase_ != Phase::running) return;
  notify_all(why);
  decide(status, Phase::told);
}

std::string Job::name(int pe, pid_t pid) const {
  for (const auto& remote : remotes_)
    if (remote->has(pe)) return text("PE %d (pid %d on %s)", pe, static_cast<int>(pid), remote->share().host.c_str());
  return text("PE %d (pid %d)", pe, static_cast<int>(pid));
}

void Job::send(int pe, uint32_t kind, Bytes payload) {
  for (const auto& remote : remotes_)
    if (remote->has(pe)) return remote->send(pe, kind, payload);
  group_.send(pe, kind, std::make_shared<const Bytes>(std::move(payload)));
}

void Job::send_to_all(uint32_t kind, const std::shared_ptr<const Bytes>& payload) {
  group_.send_to_all(kind, payload);
  if (remotes_.empty()) return;
  const auto message = Remote::message_for(relay::kEveryPe, kind, *payload);
  for (const auto& remote : remotes_) remote->pass_on(message);
}

void Job::signal_all(int signal, Where where) {
  if (where == Where::everywhere) group_.signal_all(signal);
  for (const auto& remote : remotes_) remote->signal_all(signal);
}

void Job::decide(int status, Phase next) {
  if (phase_ == Phase::running) status_ = status;
  phase_ = next;
  next_phase_ = Deadline(kGraceSeconds);
  if (next != Phase::asked) return;
  announce_end();
  signal_all(SIGTERM);
}

void Job::announce_end() {
  send_to_all(local::ending, std::make_shared<const Bytes>());
}

void Job::notify_all(const std::string& why) {
  send_to_all(local::notice, std::make_shared<const Bytes>(Packer().add_text(why).take()));
}

void Job::advance() {
  for (const auto& remote : remotes_) remote->check();
  if (phase_ == Phase::running && timeout_.passed()) {
    say("the job did not end within %g s (--timeout); ending it", options_.timeout_s);
    decide(kTimeoutStatus, Phase::asked);
  } else if (phase_ == Phase::told && next_phase_.passed()) {
    decide(status_, Phase::asked);
  } else if ((phase_ == Phase::asked || phase_ == Phase::killed) && next_phase_.passed()) {
    signal_all(SIGKILL);
    decide(status_, Phase::killed);
    if (++kills_ <= kMostKills) return;
    for (const auto& remote : remotes_)
      remote->fail(remote->share().host + " does not answer any more: PEs may still run there", status_);
  }
}

}  // namespace railshmem::oshrun
