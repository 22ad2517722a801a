// SPDX-License-Identifier: BSD-3-Clause
// The connections between exchanges: waiting, deaths, aborts, goodbyes.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "bootstrap/tcp/tcp_bootstrap.h"
#include "src/base/pe_list.h"

namespace railshmem {
namespace {

constexpr double kLastWordsSeconds = 1.0;

}  // namespace

TcpBootstrap::~TcpBootstrap() {
  if (getpid() != owner_) return;
  try {
    const Deadline deadline(kLastWordsSeconds);
    {
      const std::lock_guard lock(mutex_);
      say_to_others(tcp::goodbye, {}, nullptr);
    }
    // Closing while a neighbour still sends would reset the connection and could cost it our goodbye.
    const auto done = [this] {
      const std::lock_guard lock(mutex_);
      pump();
      return std::all_of(links_.begin(), links_.end(), [](const Link& link) {
        return !link.stream.open() || (link.presence == Presence::left && !link.stream.has_output());
      });
    };
    while (!done() && !deadline.passed()) poll_links(deadline.slice_ms(kWaitSliceMs));
  } catch (...) {  // out of memory: the neighbours take it for a death
  }
}

void TcpBootstrap::notify_end(int status, std::string_view why) noexcept {
  try {
    JobEnd end{status, why.empty(),
               why.empty() ? "" : text("PE %d has ended the job: %s", pe_, std::string(why).c_str())};
    {
      const std::lock_guard lock(mutex_);
      note_end(std::move(end), nullptr);
    }
    linger();
  } catch (...) {  // out of memory: the neighbours notice that the connection breaks
  }
}

std::optional<JobEnd> TcpBootstrap::end_told() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    look();
    return end_;
  } catch (...) {  // out of memory; the next call tries again
    return std::nullopt;
  }
}

std::optional<std::string> TcpBootstrap::failure() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    look();
    return failure_;
  } catch (...) {  // out of memory; the next call tries again
    return std::nullopt;
  }
}

void TcpBootstrap::await_news(int wake, int timeout_ms) noexcept {
  try {
    bool exchanging = false;
    {
      const std::lock_guard lock(mutex_);
      exchanging = exchanging_;
    }
    if (exchanging)
      Bootstrap::await_news(wake, std::min(timeout_ms, kWaitSliceMs));
    else
      poll_links(timeout_ms, wake);
  } catch (...) {  // out of memory
    Bootstrap::await_news(wake, timeout_ms);
  }
}

void TcpBootstrap::abandon() noexcept {
  for (Link& link : links_) link.stream.abandon();  // without the mutex: whoever had it is not in the child
}

std::vector<Bytes> TcpBootstrap::await(std::span<Link> from, uint32_t kind, Deadline deadline) {
  for (bool last = false;; last = deadline.passed()) {
    std::optional<JobEnd> end;
    {
      const std::lock_guard lock(mutex_);
      pump();
      const auto answered = [](const Link& link) { return !link.answers.empty(); };
      if (std::all_of(from.begin(), from.end(), answered)) return take_answers(from, kind);
      end = end_;
      for (const Link& link : from)
        if (!answered(link) && link.presence == Presence::left && !failure_ && !end)
          note_death(text("PE %d finished while PE %d waits for it in an exchange", link.pe, pe_), nullptr);
      if (failure_ && !end) throw Error(*failure_);
      if (last && !end)
        give_up(
            text("%s did not come to the exchange within %g s (SHMEM_TIMEOUT)", silent_pes(from).c_str(), timeout_s_));
    }
    if (end) end_as_told(*end);
    poll_links(deadline.slice_ms(kWaitSliceMs));
  }
}

std::vector<Bytes> TcpBootstrap::take_answers(std::span<Link> from, uint32_t kind) {
  std::vector<Bytes> out;
  for (Link& link : from) {
    if (link.answers.front().kind != kind) give_up(text("PE %d and PE %d are not in the same exchange", pe_, link.pe));
    out.push_back(std::move(link.answers.front().payload));
    link.answers.pop_front();
  }
  return out;
}

std::string TcpBootstrap::silent_pes(std::span<const Link> from) const {
  std::vector<int> silent;
  std::vector<int> below;
  for (const Link& link : from) {
    if (!link.answers.empty()) continue;
    silent.push_back(link.pe);
    if (has_parent() && link.pe == links_.front().pe) return text("PE %d, or a PE that it waits for,", link.pe);
    const std::vector<int> subtree = tree_.subtree(link.pe);
    below.insert(below.end(), subtree.begin() + 1, subtree.end());
  }
  std::sort(below.begin(), below.end());
  if (below.empty()) return pe_list(silent);
  return text("%s, or one of those that they speak for (%s),", pe_list(silent).c_str(), pe_list(below).c_str());
}

void TcpBootstrap::give_up(const std::string& why) {
  note_death(why, nullptr);
  throw Error(why);
}

void TcpBootstrap::poll_links(int timeout_ms, int wake) {
  std::vector<pollfd> wait{{wake, POLLIN, 0}};
  {
    const std::lock_guard lock(mutex_);
    for (const Link& link : links_)
      if (link.stream.open())
        wait.push_back({link.stream.fd(), static_cast<short>(POLLIN | (link.stream.has_output() ? POLLOUT : 0)), 0});
  }
  poll(wait.data(), wait.size(), timeout_ms);
}

void TcpBootstrap::pump() {
  // One poll() instead of a recv() per link: this runs at every look of a waiting PE.
  std::array<pollfd, tcp::kFanout + 1> ready;
  for (size_t i = 0; i < links_.size(); ++i)
    ready[i] = {links_[i].stream.open() ? links_[i].stream.fd() : -1, POLLIN, 0};
  poll(ready.data(), links_.size(), 0);
  for (size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    // Input and an end that nobody has looked at yet may be left from the meeting.
    const bool news = link.stream.has_input() || (!link.stream.open() && link.presence == Presence::here);
    if (!ready[i].revents && !link.stream.has_output() && !news) continue;
    link.stream.pump();
    while (auto frame = link.stream.pop()) on_frame(link, std::move(*frame));
    if (!link.stream.open() && link.presence == Presence::here) {
      link.presence = Presence::left;
      if (end_) continue;
      note_death(text("PE %d has died: its connection to PE %d broke", link.pe, pe_), &link);
    }
  }
}

void TcpBootstrap::on_frame(Link& link, Frame frame) {
  if (frame.kind == tcp::notice) {
    note_death(Unpacker(frame.payload).get_text(), &link);
  } else if (frame.kind == tcp::abort) {
    Unpacker payload(frame.payload);
    JobEnd end;
    end.status = payload.get<int>();
    end.message = payload.get_text();
    end.wanted = end.message.empty();
    note_end(std::move(end), &link);
  } else if (frame.kind == tcp::goodbye) {
    link.presence = Presence::left;
  } else {
    link.answers.push_back(std::move(frame));
  }
}

void TcpBootstrap::note_death(const std::string& sentence, const Link* received_from) {
  if (failure_) return;  // the first one is the cause, and ends the flood's echo
  failure_ = sentence;
  say_to_others(tcp::notice, Packer().add_text(sentence).take(), received_from);
}

void TcpBootstrap::say_to_others(uint32_t kind, const Bytes& payload, const Link* except) {
  for (Link& link : links_) {
    if (&link == except || !link.stream.open()) continue;
    link.stream.push(kind, payload);
    link.stream.pump_output();
  }
}

void TcpBootstrap::note_end(JobEnd end, const Link* received_from) {
  if (end_) return;
  say_to_others(tcp::abort, Packer().add(end.status).add_text(end.message).take(), received_from);
  end_ = std::move(end);
  close_output();
}

void TcpBootstrap::close_output() noexcept {
  for (const Link& link : links_)
    if (link.stream.fd() >= 0 && !link.stream.has_output()) shutdown(link.stream.fd(), SHUT_WR);
}

void TcpBootstrap::linger() {
  const Deadline deadline(kLastWordsSeconds);
  const auto heard = [this] {
    const std::lock_guard lock(mutex_);
    for (Link& link : links_) link.stream.pump();
    close_output();
    // Unread bytes at exit would reset the connections and overtake the news.
    return std::none_of(links_.begin(), links_.end(), [](const Link& link) { return link.stream.open(); });
  };
  while (!heard() && !deadline.passed()) poll_links(deadline.slice_ms(kWaitSliceMs));
}

}  // namespace railshmem
