// SPDX-License-Identifier: BSD-3-Clause
// PEs on several hosts, connected as a tree of TCP connections that stays open for the job's life.
#pragma once

#include <sys/types.h>

#include <mutex>

#include "bootstrap/common/deadline.h"
#include "bootstrap/tcp/meeting.h"
#include "bootstrap/tcp/tree.h"
#include "src/plugin/bootstrap.h"

namespace railshmem {

class TcpBootstrap final : public Bootstrap {
 public:
  /// Throws Error naming the PEs that did not come, or the address that could not be reached.
  explicit TcpBootstrap(tcp::Meeting meeting);
  /// Of PEs that have met: connections to the parent (first, except on PE 0) and to the children in order.
  TcpBootstrap(int pe, int npes, double timeout_s, std::vector<tcp::Neighbour> neighbours);
  ~TcpBootstrap() override;

  std::string_view name() const noexcept override { return "tcp"; }
  int pe() const noexcept override { return pe_; }
  int npes() const noexcept override { return tree_.npes; }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void barrier() override;
  void notify_end(int status, std::string_view why) noexcept override;
  /// These three also pass news of a death or of the end on to the neighbours.
  std::optional<JobEnd> end_told() noexcept override;
  std::optional<std::string> failure() noexcept override;
  void await_news(int wake, int timeout_ms) noexcept override;
  void abandon() noexcept override;

 private:
  enum class Presence : uint8_t { here, left };
  struct Link {
    int pe;
    Stream stream;
    Presence presence = Presence::here;
    std::deque<Frame> answers;
  };

  bool has_parent() const noexcept { return pe_ != 0; }
  std::span<Link> children() noexcept { return std::span(links_).subspan(has_parent() ? 1 : 0); }

  Bytes gather_up(std::span<const std::byte> mine);
  void hand_down(const std::shared_ptr<const Bytes>& all);
  /// One answer of every link of `from`, in order; throws Error naming the PEs of those that have none in time.
  std::vector<Bytes> await(std::span<Link> from, uint32_t kind, Deadline deadline);
  void poll_links(int timeout_ms, int wake = -1);
  [[noreturn]] void fail(const std::string& why) {
    const std::lock_guard lock(mutex_);
    give_up(why);
  }

  // All under mutex_.
  std::string silent_pes(std::span<const Link> from) const;
  std::vector<Bytes> take_answers(std::span<Link> from, uint32_t kind);
  /// Tells the other PEs why this one throws.
  [[noreturn]] void give_up(const std::string& why);
  void pump();
  /// For other threads than the one in an exchange.
  void look() {
    if (!exchanging_) pump();
  }
  void on_frame(Link& link, Frame frame);
  void note_death(const std::string& sentence, const Link* received_from);
  void say_to_others(uint32_t kind, const Bytes& payload, const Link* except);
  /// The first end that is told counts.
  void note_end(JobEnd end, const Link* received_from);
  /// Says to the neighbours that nothing more follows.
  void close_output() noexcept;
  /// Not under mutex_: until the neighbours have read what this PE has said, as far as they do in time.
  void linger();

  double timeout_s_;
  int pe_;
  tcp::Tree tree_;
  pid_t owner_;              ///< a forked child must not say goodbye in the PE's name
  std::mutex mutex_;         ///< other threads may look for news beside an exchange
  bool exchanging_ = false;  ///< see RunningExchange
  std::vector<Link> links_;
  std::optional<std::string> failure_;
  std::optional<JobEnd> end_;
};

}  // namespace railshmem
