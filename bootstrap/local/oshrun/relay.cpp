// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/relay.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "bootstrap/local/oshrun/relay_protocol.h"
#include "bootstrap/local/oshrun/signals.h"

#include "src/base/fds.h"

namespace railshmem::oshrun {
namespace {

constexpr double kOrderSeconds = 60.0;  // an oshrun that has started this sends it at once
constexpr double kGraceSeconds = 1.0;   // for PEs to obey SIGTERM
// How long oshrun may take nothing of what is left when all PEs have ended. Somebody may page through it; but a dead
// connection must not keep the relay, least of all when it was asked to end.
constexpr double kFarewellSeconds = 600.0;
constexpr double kHurriedFarewellSeconds = 10.0;
constexpr int kLost = 1;
constexpr int kSignals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};

UniqueFd taken_over(int fd) {
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  check_errno(static_cast<bool>(copy), "fcntl(F_DUPFD_CLOEXEC)");
  return copy;
}

void replace(int fd, int by) {
  check_errno(dup2(by, fd) >= 0, "dup2");
}

}  // namespace

Relay::Relay() : stream_(taken_over(STDIN_FILENO), taken_over(STDOUT_FILENO)), signals_(catch_signals(kSignals)) {
  replace(STDOUT_FILENO, STDERR_FILENO);  // nothing else may write to the connection
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  check_errno(static_cast<bool>(null), "open of /dev/null");
  replace(STDIN_FILENO, null.get());
}

int Relay::run() {
  say(relay::ready, Packer().add_text(RAILSHMEM_VERSION_TEXT));
  if (!await_order()) return 1;
  group_ = std::make_unique<ProcessGroup>(*order_, *this);
  start();
  read();
  while (group_->running() > 0) step();
  group_->drain_output();
  group_->sweep();
  say(relay::done, {});
  release_signals(kSignals);  // nobody is left to be asked to end
  const double patience = ending_ ? kHurriedFarewellSeconds : kFarewellSeconds;
  if (stream_.deliver(patience)) return 0;
  std::fprintf(stderr, "what PEs wrote at the end is lost: nobody has taken any of it for %g s\n", patience);
  return kLost;
}

bool Relay::await_order() {
  const Deadline deadline(kOrderSeconds);
  while (!order_ && stream_.open() && !deadline.passed()) {
    Poll poll;
    poll.add(stream_, [this] { read(); });
    poll.wait(deadline.slice_ms(1000));
  }
  return order_.has_value();
}

void Relay::start() {
  FdPipe input = make_pipe();
  input_ = std::move(input.write);
  const UniqueFd null = taken_over(STDIN_FILENO);
  replace(STDIN_FILENO, input.read.get());
  input.read.reset();
  try {
    group_->start();
  } catch (const CannotStart& e) {
    say(relay::failed, Packer().add(e.status).add_text(e.what()));
    group_->signal_all(SIGKILL);
  }
  replace(STDIN_FILENO, null.get());
  fcntl(input_.get(), F_SETFL, O_WRONLY | O_NONBLOCK);
  if (order_->first != 0) input_.reset();
}

void Relay::step() {
  Poll poll;
  // While oshrun does not take what the PEs wrote, they have to wait.
  group_->add_to(poll, stream_.has_output() ? ProcessGroup::Outputs::later : ProcessGroup::Outputs::now);
  poll.add(stream_, [this] { read(); });
  if (input_ && !unread_.empty()) poll.add(input_.get(), POLLOUT, [this] { write_input(); });
  poll.add(signals_.get(), POLLIN, [this] { on_signals(); });
  constexpr int kLongestSleepMs = 60000;
  poll.wait(ending_ ? patience_.slice_ms(kLongestSleepMs) : kLongestSleepMs);
  if (!ending_ && !stream_.open()) end_pes();
  if (ending_ && patience_.passed()) {
    group_->signal_all(SIGKILL);
    patience_ = Deadline(kGraceSeconds);
  }
}

void Relay::end_pes() noexcept {
  ending_ = true;
  patience_ = Deadline(kGraceSeconds);
  group_->signal_all(SIGTERM);
}

void Relay::read() {
  stream_.pump();
  // What follows the order is for PEs, which have to be started first.
  while (order_.has_value() == (group_ != nullptr)) {
    const auto frame = stream_.pop();
    if (!frame) return;
    on_frame(*frame);
  }
}

void Relay::on_frame(const Frame& frame) {
  Unpacker fields(frame.payload);
  if (frame.kind == relay::order) {
    if (order_) throw Error("a second order came");
    order_ = relay::unpack_order(frame.payload);
  } else if (!group_) {
    throw Error("a message came before the order");
  } else if (frame.kind == relay::to_pe) {
    const relay::MessageToPe message = relay::unpack_to_pe(frame.payload, *order_);
    if (message.pe == relay::kEveryPe)
      group_->send_to_all(message.kind, message.payload);
    else
      group_->send(message.pe, message.kind, message.payload);
  } else if (frame.kind == relay::signal_all) {
    const int signal = fields.get<int>();
    // The kernel ignores SIGTSTP where no shell of the session is there to continue a stopped process, as under sshd.
    group_->signal_all(signal == SIGTSTP ? SIGSTOP : signal);
  } else if (frame.kind == relay::input) {
    unread_ = frame.payload;
    if (unread_.empty()) input_.reset();
    write_input();
  }
}

void Relay::write_input() {
  if (!input_ || unread_.empty()) return;
  const ssize_t n = write(input_.get(), unread_.data(), unread_.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n < 0) {  // PE 0 has closed its stdin: what is still to come is nobody's
    input_.reset();
    unread_.clear();
    return;
  }
  unread_.erase(unread_.begin(), unread_.begin() + n);
  if (unread_.empty()) say(relay::input_taken, {});
}

void Relay::on_signals() {
  signalfd_siginfo one{};
  while (::read(signals_.get(), &one, sizeof one) == sizeof one)
    if (static_cast<int>(one.ssi_signo) != SIGCHLD) end_pes();
  int wait_status = 0;
  for (pid_t pid; (pid = waitpid(-1, &wait_status, WNOHANG)) > 0;) group_->ended(pid, wait_status);
}

void Relay::say(uint32_t kind, Packer packer) {
  stream_.push(kind, packer.take());
  stream_.pump_output();
}

void Relay::on_message(int pe, Frame frame) {
  say(relay::from_pe, std::move(Packer().add(pe).add(frame.kind).add_bytes(frame.payload)));
}

void Relay::on_output(int pe, int fd, std::string_view bytes) {
  say(relay::output,
      std::move(Packer().add(pe).add(fd).add_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())))));
}

void Relay::on_exit(int pe, pid_t pid, int wait_status) {
  say(relay::exited, std::move(Packer().add(pe).add(pid).add(wait_status)));
}

void Relay::on_note(const std::string& note) {
  say(relay::note, std::move(Packer().add_text(note)));
}

}  // namespace railshmem::oshrun
