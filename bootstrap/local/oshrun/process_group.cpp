// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/process_group.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "bootstrap/common/deadline.h"
#include "bootstrap/local/oshrun/binding.h"
#include "bootstrap/local/protocol.h"
#include "src/base/cpu.h"
#include "src/base/shm_files.h"

namespace railshmem::oshrun {
namespace {

constexpr int kNotFound = 127, kNotRunnable = 126, kNoRoom = 1;  // the first two as shells

/// As --bind-to takes it.
const char* word_of(Bind bind) noexcept {
  return bind == Bind::numa ? "numa" : "core";
}

/// The process that says hello: the PE's own process or one that it has started. Empty where a library of another
/// version does not name it.
std::optional<pid_t> process_of(const Frame& hello) {
  constexpr size_t kBefore = 2 * sizeof(int);  // the PE and their number
  if (hello.payload.size() < kBefore + sizeof(pid_t)) return std::nullopt;
  return Unpacker(std::span(hello.payload).subspan(kBefore)).get<pid_t>();
}

}  // namespace

ProcessGroup::ProcessGroup(ProcessGroupOrder order, ProcessGroupEvents& events)
    : order_(std::move(order)), events_(events), since_ns_(shm_file_time_ns()) {
  sweep_shm_files();  // of earlier jobs: the PEs of one that was killed may be gone without a successor
}

void ProcessGroup::start() {
  if (order_.count == 0) return;
  try {
    descriptors_.need(order_.count, order_.output == Output::captured ? 3 : 1);
  } catch (const Error& e) {
    throw CannotStart(e.what(), kNoRoom);
  }
  choose_cpus();
  for (int pe = order_.first; pe < order_.first + order_.count; ++pe) {
    Child child = start_one(pe);
    if (child.failed == Step::bind && order_.bind == Bind::automatic) {
      // Nobody asked for it: a container may forbid it, or this host's CPUs have changed since they were divided.
      events_.on_note(text("PEs from %d on are not bound to cores: the system refuses the CPUs %s: %s", pe,
                           cpu_list(*cpus_of(pe)).c_str(), strerror(child.error)));
      cpus_.clear();
      child = start_one(pe);
    }
    if (child.failed != Step::none) throw why_not(pe, child);
    pes_.push_back({pe, child.pid, true, Stream(std::move(child.control)), std::move(child.out), std::move(child.err)});
    ++running_;
    if (order_.report == Report::places) report(pes_.back(), cpus_of(pe));
  }
}

Child ProcessGroup::start_one(int pe) const {
  try {
    return spawn(order_, pe, descriptors_, cpus_of(pe));
  } catch (const Error& e) {
    throw CannotStart(text("cannot start PE %d of %d: %s", pe, order_.npes, e.what()), kNoRoom);
  }
}

CannotStart ProcessGroup::why_not(int pe, const Child& child) const {
  const char* reason = strerror(child.error);
  if (child.failed == Step::bind)
    return {text("--bind-to %s: cannot bind PE %d to the CPUs %s: %s; leave the option out or use --bind-to none",
                 word_of(order_.bind), pe, cpu_list(*cpus_of(pe)).c_str(), reason),
            kNoRoom};
  if (child.failed == Step::enter)
    return {text("cannot start in the directory '%s': %s", order_.directory.c_str(), reason), kNotRunnable};
  const std::string& program = order_.command[0];
  const std::string here = "./" + program;
  // Launchers find programs by PATH, as shells do.
  const bool meant_here =
      child.error == ENOENT && !program.empty() && program.find('/') == std::string::npos &&
      access((order_.directory.empty() ? here : order_.directory + "/" + program).c_str(), X_OK) == 0;
  return {text("cannot start '%s': %s%s", program.c_str(), reason,
               meant_here ? text(" in PATH; did you mean %s?", here.c_str()).c_str() : ""),
          child.error == ENOENT ? kNotFound : kNotRunnable};
}

void ProcessGroup::choose_cpus() {
  if (order_.bind == Bind::none || (order_.bind == Bind::automatic && order_.count == 1)) return;
  try {
    cpu_set_t allowed;
    // It fails where the system has more CPUs than the set can hold.
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
      throw Error(text("the CPUs that this process may use cannot be read: %s", strerror(errno)));
    cpus_ = bindings(order_.bind, order_.count, allowed);
  } catch (const Error& e) {
    if (order_.bind != Bind::automatic)
      throw CannotStart(text("--bind-to %s: %s", word_of(order_.bind), e.what()), kNoRoom);
    events_.on_note(std::string("PEs are not bound to cores: ") + e.what());
  }
}

void ProcessGroup::report(const Pe& pe, const cpu_set_t* cpus) {
  cpu_set_t all;
  if (!cpus && sched_getaffinity(0, sizeof all, &all) != 0) CPU_ZERO(&all);
  events_.on_note(text("PE %d (pid %d) %s CPUs %s", pe.number, static_cast<int>(pe.pid),
                       cpus ? "is bound to" : "may run on all", cpu_list(cpus ? *cpus : all).c_str()));
}

void ProcessGroup::add_to(Poll& poll, Outputs outputs) {
  for (Pe& pe : pes_) {
    poll.add(pe.control, [this, &pe] { read_messages(pe); });
    if (outputs == Outputs::later) continue;
    if (pe.out) poll.add(pe.out.get(), POLLIN, [this, &pe] { read_output(pe, pe.out, STDOUT_FILENO); });
    if (pe.err) poll.add(pe.err.get(), POLLIN, [this, &pe] { read_output(pe, pe.err, STDERR_FILENO); });
  }
}

bool ProcessGroup::ended(pid_t pid, int wait_status) {
  for (Pe& pe : pes_) {
    if (pe.pid != pid || !pe.running) continue;
    // Messages before exits: a PE's abort or goodbye explains the exit that follows it.
    read_messages(pe);
    pe.running = false;
    --running_;
    events_.on_exit(pe.number, pid, wait_status);
    return true;
  }
  return false;
}

void ProcessGroup::send(int pe, uint32_t kind, const std::shared_ptr<const Bytes>& payload) {
  if (pe - order_.first >= static_cast<int>(pes_.size())) return;  // it could not be started
  at(pe).control.push(kind, payload);
  at(pe).control.pump_output();
}

void ProcessGroup::send_to_all(uint32_t kind, const std::shared_ptr<const Bytes>& payload) {
  for (const Pe& pe : pes_) send(pe.number, kind, payload);
}

void ProcessGroup::signal_all(int signal) noexcept {
  for (const Pe& pe : pes_) {
    if (!pe.running) continue;
    kill(pe.pid, signal);
    // A stopped PE could not obey.
    if (signal == SIGTERM) kill(pe.pid, SIGCONT);
  }
}

void ProcessGroup::drain_output() {
  const Deadline enough(0.2);  // what a PE started in the background may hold the pipe open forever
  for (Pe& pe : pes_) {
    for (auto [from, fd] : {std::pair(&pe.out, STDOUT_FILENO), std::pair(&pe.err, STDERR_FILENO)}) {
      while (*from) {
        pollfd wait{from->get(), POLLIN, 0};
        if (poll(&wait, 1, enough.slice_ms(200)) <= 0) break;
        read_output(pe, *from, fd);
        if (enough.passed()) break;  // a process that the PE has left behind may write forever
      }
      if (*from) events_.on_output(pe.number, fd, {});
      from->reset();
    }
  }
}

void ProcessGroup::sweep() {
  if (const std::string ended = orphans_.end_all(); !ended.empty())
    events_.on_note("ended what the PEs left running: " + ended);
  // A number that another process has by now is left alone.
  std::erase_if(members_, [](pid_t pid) { return kill(pid, 0) == 0 || errno == EPERM; });
  remove_shm_files(members_, since_ns_);
}

void ProcessGroup::read_messages(Pe& pe) {
  pe.control.pump();
  while (auto frame = pe.control.pop()) {
    if (frame->kind == local::hello)
      if (const auto process = process_of(*frame)) members_.push_back(*process);
    events_.on_message(pe.number, std::move(*frame));
  }
}

void ProcessGroup::read_output(const Pe& pe, UniqueFd& from, int fd) {
  char buffer[1 << 16];
  const ssize_t n = read(from.get(), buffer, sizeof buffer);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  events_.on_output(pe.number, fd, std::string_view(buffer, static_cast<size_t>(std::max<ssize_t>(n, 0))));
  if (n <= 0) from.reset();
}

}  // namespace railshmem::oshrun
