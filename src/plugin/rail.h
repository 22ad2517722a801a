// SPDX-License-Identifier: BSD-3-Clause
// Contract: a rail is one endpoint on one NIC, used by one thread at a time; no locks inside, nothing virtual.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/plugin/port.h"
#include "src/plugin/segment.h"

namespace railshmem {

/// ok: accepted. again: no room now; poll() and retry, never an error. failed: see the rail's last_error(). behind: no
/// rail says so, but an initiator: the operation stands behind a fence that holds it back.
enum class Post : uint8_t { ok, again, failed, behind };

/// State of one operation in flight. Its address travels through the provider and comes back in RailEvent::slot;
/// the first bytes belong to the provider (libfabric's fi_context2).
struct alignas(64) OpSlot {
  std::byte provider[64];
};

struct RailWrite {
  Remote to;  ///< memory behind the peer's proxy endpoint
  const std::byte* local;
  size_t nbytes;  ///< 1 to traits().max_write
  OpSlot* slot;
  bool more;  ///< another post follows at once: the doorbell may wait
};

struct RailRead {
  Remote from;
  std::byte* local;
  size_t nbytes;
  OpSlot* slot;
};

/// A message of at most traits().max_message bytes. A message of up to traits().inject bytes is copied at once, and
/// slot may be null (no completion event). A longer one must stay untouched until the event. Messages may pass each
/// other.
struct RailSend {
  Endpoint to;
  const std::byte* bytes;
  size_t nbytes;
  OpSlot* slot;
};

/// completed: a write is in the target's memory (delivery complete), a read's data is here, a message was taken over.
/// failed: error is an errno value; slot may be null when the provider does not say which operation it was.
/// message: bytes stay valid until release() is called with this event.
struct RailEvent {
  enum class Kind : uint8_t { completed, failed, message } kind;
  int error;
  OpSlot* slot;
  const std::byte* bytes;
  size_t nbytes;
  void* buffer;
};

struct RailTraits {
  size_t inject;       ///< bytes that write() and send() copy at once
  size_t max_write;    ///< bytes of one write or read
  size_t max_message;  ///< bytes of one message
  /// A message posted after a write to its peer arrives after that write's data is in memory.
  bool message_after_write;
  /// A write posted after another write to its peer arrives after the data of the earlier write is in memory.
  bool write_after_write = false;
  /// A rail may fail or be closed while reads are in flight. Where this is false, several rails are never read from.
  bool reads_may_fail = true;
  /// The rail leads to PEs of this host only, and moves data by the CPU.
  bool within_host = false;
};

/// write() of up to traits().inject bytes copies them at once, so local may be reused when it returns ok.
template <class R>
concept Rail = std::movable<R> && requires(R r, const RailWrite& w, const RailRead& g, const RailSend& s,
                                           std::span<RailEvent> events, const RailEvent& event) {
  { r.traits() }
  noexcept->std::same_as<const RailTraits&>;
  { r.write(w) }
  noexcept->std::same_as<Post>;
  { r.read(g) }
  noexcept->std::same_as<Post>;
  { r.send(s) }
  noexcept->std::same_as<Post>;
  { r.poll(events) }
  noexcept->std::same_as<size_t>;
  { r.release(event) }
  noexcept;
  /// errno value of the last failed post.
  { r.last_error() }
  noexcept->std::same_as<int>;
  /// A descriptor to poll(2) on until there may be events, or -1 where the provider has none.
  { r.wait_fd() }
  noexcept->std::same_as<int>;
  /// True when it is safe to sleep on wait_fd(): nothing is pending already.
  { r.may_sleep() }
  noexcept->std::same_as<bool>;
  /// Short name for messages: provider and interface.
  { r.name() }
  noexcept->std::same_as<const std::string&>;
};

/// Contract: a technology's set-up of one PE: opens its rails, registers memory, learns the peers' addresses.
/// Engine<F> (src/proxy) turns a fabric into a Network. attach() and connect() throw Error.
template <class F>
concept Fabric = requires(F f, std::span<const Segment> segments, std::span<const std::vector<std::byte>> descriptors) {
  requires Rail<typename F::RailType>;
  { f.attach(segments) } -> std::same_as<std::vector<std::byte>>;
  {f.connect(descriptors)};
  /// The rails of a port. All ports have equally many, at least one.
  { f.rails(Port::proxy) }
  noexcept->std::same_as<std::span<typename F::RailType>>;
  { f.describe() } -> std::same_as<std::string>;
};

}  // namespace railshmem
