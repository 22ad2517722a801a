// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/local_bootstrap.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "bootstrap/common/running_exchange.h"
#include "bootstrap/common/variables.h"
#include "bootstrap/local/protocol.h"

namespace railshmem {
namespace {

/// oshrun answers at once, unless it is stopped or the machine has no time for it.
constexpr double kAnswerSeconds = 10;
constexpr const char* kRemedy = "start the program with: oshrun -n 2 program";

/// A copy of the inherited descriptor, so that a second bootstrap in this process can use it again.
UniqueFd launcher_socket() {
  const int fd = need_number(local::kFdVariable, 0, INT_MAX, "local", kRemedy);
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0)
    throw Error(
        text("%s is %d, but oshrun's socket is not open there: the program was started by a PE, not by oshrun. "
             "Unset %s to run it on its own, or start it with oshrun",
             local::kFdVariable, fd, local::kFdVariable));
  // Programs that this PE starts must not find the socket.
  check_errno(fcntl(fd, F_SETFD, FD_CLOEXEC) == 0, "fcntl(FD_CLOEXEC)");
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  check_errno(static_cast<bool>(copy), "fcntl(F_DUPFD_CLOEXEC)");
  return copy;
}

}  // namespace

LocalBootstrap::LocalBootstrap(double timeout_s)
    : timeout_s_(timeout_s),
      stream_(launcher_socket()),
      pe_(need_number(local::kPeVariable, 0, INT_MAX, "local", kRemedy)),
      npes_(need_number(local::kNpesVariable, pe_ + 1, INT_MAX, "local", kRemedy)),
      owner_(getpid()) {
  send(local::hello, Packer().add(pe_).add(npes_).add(owner_).take());
  if (!await(local::welcome, Deadline::of_limit(timeout_s_)))
    throw Error(text("oshrun did not answer PE %d within %g s (SHMEM_TIMEOUT)", pe_, timeout_s_));
}

LocalBootstrap::~LocalBootstrap() {
  if (getpid() != owner_) return;
  try {
    stream_.push(local::goodbye);
    stream_.flush(1.0);
  } catch (...) {  // out of memory: oshrun sees this process end anyway
  }
}

void LocalBootstrap::allgather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (all.size() != mine.size() * static_cast<size_t>(npes_))
    throw Error(text("an exchange of %zu bytes per PE among %d PEs has room for %zu", mine.size(), npes_, all.size()));
  const RunningExchange running(mutex_, exchanging_);
  send(local::contribute, Bytes(mine.begin(), mine.end()));
  if (const auto answer = await(local::gathered, Deadline::of_limit(timeout_s_))) {
    if (answer->payload.size() != all.size())
      throw Error(text("an exchange brought %zu bytes, expected %zu", answer->payload.size(), all.size()));
    if (!all.empty()) std::memcpy(all.data(), answer->payload.data(), all.size());
    return;
  }
  send(local::who, {});
  const auto missing = await(local::missing, Deadline(1.0));
  const std::string names = missing ? Unpacker(missing->payload).get_text() : "oshrun";
  throw Error(text("%s did not come to the exchange within %g s (SHMEM_TIMEOUT)", names.c_str(), timeout_s_));
}

void LocalBootstrap::barrier() {
  allgather({}, {});
}

/// oshrun answers when it has told all others: they see the end of this process later than the reason for it.
void LocalBootstrap::notify_end(int status, std::string_view why) noexcept {
  const Deadline deadline(kAnswerSeconds);
  try {
    for (bool asked = false;;) {
      pollfd wait{stream_.fd(), POLLIN, 0};
      {
        const std::lock_guard lock(mutex_);
        if (!asked && !end_) stream_.push(local::abort, Packer().add(status).add_text(why).take());
        asked = true;
        pump();
        if (end_ || !stream_.open()) return;
        if (stream_.has_output()) wait.events |= POLLOUT;
      }
      if (deadline.passed()) return;
      poll(&wait, 1, deadline.slice_ms(kWaitSliceMs));
    }
  } catch (...) {  // out of memory: the exit status still ends the job unless it is 0
  }
}

std::optional<JobEnd> LocalBootstrap::end_told() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    look();
    return end_;
  } catch (...) {  // out of memory; the next call tries again
    return std::nullopt;
  }
}

void LocalBootstrap::await_news(int wake, int timeout_ms) noexcept {
  pollfd waits[2] = {{wake, POLLIN, 0}, {-1, POLLIN, 0}};
  {
    const std::lock_guard lock(mutex_);
    if (exchanging_)
      timeout_ms = std::min(timeout_ms, kWaitSliceMs);
    else if (stream_.open())
      waits[1].fd = stream_.fd();
  }
  poll(waits, 2, timeout_ms);
}

std::optional<std::string> LocalBootstrap::failure() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    look();
    return failure_;
  } catch (...) {  // out of memory; the next call tries again
    return std::nullopt;
  }
}

std::vector<int> LocalBootstrap::dead_pes() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    look();
    return dead_;
  } catch (...) {  // as in failure()
    return {};
  }
}

bool LocalBootstrap::told_to_end() noexcept {
  if (failure()) return true;
  const std::lock_guard lock(mutex_);
  return told_to_end_ || end_;
}

void LocalBootstrap::send(uint32_t kind, Bytes payload) {
  const std::lock_guard lock(mutex_);
  stream_.push(kind, std::move(payload));
}

std::optional<Frame> LocalBootstrap::await(uint32_t kind, Deadline deadline) {
  for (bool last = false;;) {
    pollfd wait{stream_.fd(), POLLIN, 0};
    std::optional<JobEnd> end;
    {
      const std::lock_guard lock(mutex_);
      pump();
      while (!answers_.empty()) {
        Frame frame = std::move(answers_.front());
        answers_.pop_front();
        if (frame.kind == kind) return frame;
      }
      end = end_;
      if (failure_ && !end) throw Error(*failure_);
      if (stream_.has_output()) wait.events |= POLLOUT;
    }
    if (end) end_as_told(*end);
    if (last) return std::nullopt;
    poll(&wait, 1, deadline.slice_ms(kWaitSliceMs));
    last = deadline.passed();
  }
}

void LocalBootstrap::pump() {
  stream_.pump();
  while (auto frame = stream_.pop()) {
    if (frame->kind == local::notice) {
      if (!failure_) failure_ = Unpacker(frame->payload).get_text();
    } else if (frame->kind == local::lost) {
      dead_.push_back(Unpacker(frame->payload).get<int>());
    } else if (frame->kind == local::end) {
      Unpacker fields(frame->payload);
      const int status = fields.get<int>();
      end_ = JobEnd{status, fields.get<uint8_t>() != 0, {}};
    } else if (frame->kind == local::ending) {
      told_to_end_ = true;
    } else {
      answers_.push_back(std::move(*frame));
    }
  }
  if (!stream_.open() && !failure_) failure_ = "oshrun has ended or closed the connection";
}

}  // namespace railshmem
