// SPDX-License-Identifier: BSD-3-Clause
// A thread that answers messages of other processes of this host, whatever this process's own threads do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include "src/base/unique.h"

namespace railshmem {

/// How to reach a mailbox (src/base/mail.h). Plain bytes for an allgather.
struct MailAddress {
  std::array<char, 40> socket{};  ///< abstract name without its leading zero; empty: nobody answers
  std::array<uint64_t, 2> key{};  ///< proves to the mailbox that the sender was told of it
};
static_assert(std::is_trivially_copyable_v<MailAddress> && sizeof(MailAddress) == 56);

using Mail = std::vector<std::byte>;
inline constexpr size_t kLongestMail = size_t{32} << 10;  // bytes of a message or an answer

/// What a mailbox does, all in its thread, one after the other. Exceptions end with a message in the log, and the
/// sender gets no answer.
struct MailWork {
  std::function<void()> begin;  ///< when the thread starts
  std::function<Mail(std::span<const std::byte>)> answer;
  std::function<void()> woken;  ///< after each wake(), or several of them
};

/// The thread sleeps while nobody asks.
class Mailbox {
 public:
  /// Starts the thread, whose system name is `name`. Where the system allows no socket, address() says so and only
  /// wake() does something. Throws Error.
  Mailbox(MailWork work, const char* name);
  Mailbox(const Mailbox&) = delete;
  /// Ends what the thread is doing first.
  ~Mailbox();

  const MailAddress& address() const noexcept { return address_; }
  /// Never blocks. Any thread, also one that holds locks.
  void wake() noexcept;

 private:
  void serve() noexcept;
  void serve_client(int client);

  const MailWork work_;
  MailAddress address_;
  UniqueFd listener_;
  UniqueFd wake_;
  UniqueFd stop_;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace railshmem
