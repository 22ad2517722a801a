// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/remote.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "bootstrap/local/oshrun/relay_protocol.h"
#include "bootstrap/local/oshrun/say.h"
#include "bootstrap/local/oshrun/verdict.h"

#include "src/base/fds.h"
#include "src/base/system_limits.h"

namespace railshmem::oshrun {
namespace {

constexpr double kAnswerSeconds = 60.0;  // includes ssh's own attempts to connect
constexpr double kEndSeconds = 3.0;
constexpr int kFailed = 1;

/// The path of this program, which is also the relay: it must be installed at this path on all hosts.
std::string own_path() {
  char path[PATH_MAX] = "";
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  check_errno(n > 0, "readlink of /proc/self/exe");
  return std::string(path, static_cast<size_t>(n));
}

/// Quotes a word for the shell that runs on the other host.
std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

[[noreturn]] void become_ssh(const std::vector<std::string>& words, int connection, int complaints) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();  // the terminal's signals are for oshrun, which passes them on
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(connection, STDIN_FILENO);
  dup2(connection, STDOUT_FILENO);
  dup2(complaints, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  const std::string why = text("cannot run '%s': %s\n", argv[0], strerror(errno));
  write_all(STDERR_FILENO, why);
  _exit(127);
}

}  // namespace

Remote::Remote(Share share, const std::vector<std::string>& ssh, const ProcessGroupOrder& order, RemoteEvents& events)
    : share_(std::move(share)),
      events_(events),
      talk_(share_.first, share_.count),
      complaint_lines_("oshrun: " + share_.host + ": "),
      order_(relay::pack(order)),
      answer_(kAnswerSeconds) {
  std::vector<std::string> words = ssh;
  words.push_back(share_.host);
  words.push_back("exec " + quoted(own_path()) + " " + relay::kOption);
  command_ = joined(words);
  auto [ours, theirs] = make_socket_pair();
  stream_ = Stream(std::move(ours));
  FdPipe complaints = make_pipe();
  complaints_ = std::move(complaints.read);
  ssh_ = fork();
  if (ssh_ < 0) throw Error(text("fork failed: %s", task_refusal_text(errno).c_str()));
  if (ssh_ == 0) become_ssh(words, theirs.get(), complaints.write.get());
}

std::shared_ptr<const Bytes> Remote::message_for(int pe, uint32_t kind, const Bytes& payload) {
  return std::make_shared<const Bytes>(Packer().add(pe).add(kind).add_bytes(payload).take());
}

void Remote::add_to(Poll& poll) {
  if (complaints_) poll.add(complaints_.get(), POLLIN, [this] { read_complaints(); });
  poll.add(stream_, [this] { read(); });
}

bool Remote::ended(pid_t pid, int wait_status) {
  if (pid != ssh_) return false;
  ssh_ = -1;
  read();
  if (complaints_) read_complaints();
  lose("'" + command_ + "' " + describe(wait_status));
  return true;
}

void Remote::send(int pe, uint32_t kind, const Bytes& payload) {
  pass_on(message_for(pe, kind, payload));
}

void Remote::pass_on(const std::shared_ptr<const Bytes>& message) {
  if (state_ != State::running) return;  // no relay runs
  stream_.push(relay::to_pe, message);
  stream_.pump_output();
}

void Remote::signal_all(int signal) {
  const bool ends = signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGKILL;
  if (state_ == State::starting && ends) return fail(share_.host + " has not answered yet; giving it up", 128 + signal);
  if (state_ != State::running) return;
  stream_.push(relay::signal_all, Packer().add(signal).take());
  stream_.pump_output();
}

void Remote::send_input(std::string_view bytes) {
  wants_input_ = false;
  stream_.push(relay::input, Packer().add_bytes(std::as_bytes(std::span(bytes.data(), bytes.size()))).take());
  stream_.pump_output();
}

int Remote::patience_ms(int longest) const noexcept {
  return state_ == State::starting || (closed_ && !finished()) ? answer_.slice_ms(longest) : longest;
}

void Remote::check() {
  if (finished() || !answer_.passed()) return;
  if (closed_) return lose("its other end has closed it");
  if (state_ != State::starting) return;
  fail(
      text("%s did not answer within %g s; the command was: %s", share_.host.c_str(), kAnswerSeconds, command_.c_str()),
      kFailed);
}

void Remote::fail(const std::string& why, int status) {
  if (finished()) return;
  state_ = State::finished;
  stream_.close();
  if (ssh_ > 0) kill(ssh_, SIGKILL);
  events_.on_host_failure(share_, why, status);
}

void Remote::lose(const std::string& how) {
  if (state_ == State::starting)
    fail(text("cannot start on %s: %s; is that host reached without a password, and RailSHMEM installed there in the "
              "place that it has here?",
              share_.host.c_str(), how.c_str()),
         kFailed);
  else
    fail(text("the connection to %s broke: %s", share_.host.c_str(), how.c_str()), kFailed);
}

void Remote::read() {
  stream_.pump();
  while (!finished()) {
    const auto frame = stream_.pop();
    if (!frame) break;
    try {
      on_frame(*frame);
    } catch (const Error& e) {
      fail(text("%s: %s", share_.host.c_str(), e.what()), kFailed);
    }
  }
  if (stream_.state() == Stream::State::garbled)
    fail(text("%s answered something that is not oshrun's; does a start-up file of the shell there print something? "
              "The command was: %s",
              share_.host.c_str(), command_.c_str()),
         kFailed);
  if (stream_.state() != Stream::State::closed || closed_ || finished()) return;
  closed_ = true;
  answer_ = Deadline(kEndSeconds);  // ssh should end soon, and its end says why
}

void Remote::leave() noexcept {
  stream_.close();
  complaints_.reset();
  const Deadline deadline(kEndSeconds);
  while (ssh_ > 0 && waitpid(ssh_, nullptr, WNOHANG) == 0) {
    if (deadline.passed()) kill(ssh_, SIGKILL);
    poll(nullptr, 0, 1);
  }
  ssh_ = -1;
}

void Remote::on_frame(const Frame& frame) {
  RelayMessage said = talk_.read(frame);
  switch (said.kind) {
    case relay::ready:
      return on_ready(said.text);
    case relay::done:
      state_ = State::finished;
      return;
    case relay::failed:
      return fail(text("%s: %s", share_.host.c_str(), said.text.c_str()), said.number);
    case relay::note:
      return events_.on_note(share_.host + ": " + said.text);
    case relay::input_taken:
      wants_input_ = share_.first == 0;
      return;
    case relay::from_pe:
      return events_.on_message(said.pe, std::move(said.message));
    case relay::output:
      return events_.on_output(said.pe, said.number,
                               std::string_view(reinterpret_cast<const char*>(said.output.data()), said.output.size()));
    default:  // exited
      events_.on_exit(said.pe, said.pid, said.number);
  }
}

void Remote::on_ready(const std::string& version) {
  if (version != RAILSHMEM_VERSION_TEXT)
    throw Error(text("RailSHMEM there is of version %s, here of %s", version.c_str(), RAILSHMEM_VERSION_TEXT));
  state_ = State::running;
  wants_input_ = share_.first == 0;
  stream_.push(relay::order, std::move(order_));
  stream_.pump_output();
}

void Remote::read_complaints() {
  char buffer[1 << 12];
  pollfd now{complaints_.get(), POLLIN, 0};
  if (poll(&now, 1, 0) <= 0) return;
  const ssize_t n = ::read(complaints_.get(), buffer, sizeof buffer);
  say_lines(n > 0 ? complaint_lines_.feed(std::string_view(buffer, static_cast<size_t>(n)))
                  : complaint_lines_.finish());
  if (n == 0) complaints_.reset();
}

}  // namespace railshmem::oshrun
