// SPDX-License-Identifier: BSD-3-Clause
// floor_fi_*: what libfabric itself needs between two processes, without any library above it.
#include <sched.h>

#include "perftest/floor/fabric.h"
#include "perftest/harness/context.h"

namespace railshmem::perf {
namespace {

constexpr size_t kPing = 0;  // the parent's flag, and the helper's on a line of its own
constexpr size_t kPong = 64;
constexpr size_t kDataOffset = 4096;    // then the data
constexpr double kConnectSeconds = 30;  // rxm answers EAGAIN while it connects
constexpr uint64_t kDelivered = FI_COMPLETION | FI_DELIVERY_COMPLETE;

volatile uint64_t& flag_at(FabricEnd& end, size_t offset) {
  return *reinterpret_cast<volatile uint64_t*>(end.region() + offset);
}

/// Sends the word at `offset` without a completion: the peer's answer says that the word arrived.
void send_flag(FabricEnd& end, size_t offset, uint64_t value) {
  flag_at(end, offset) = value;
  const uint64_t flags = end.inject_bytes() >= sizeof value ? FI_INJECT : 0;
  while (!end.write(offset, sizeof value, flags)) end.poll();
}

/// Makes the helper's end of the session.
void meet_parent(SharedHead& head, FabricEnd& end) {
  head.descriptor[1] = end.descriptor();
  head.child_stage.store(kReady, std::memory_order_release);
  while (head.parent_stage.load(std::memory_order_acquire) < kReady) sched_yield();
  end.connect(head.descriptor[0]);
  head.child_stage.store(kConnected, std::memory_order_release);
}

/// The helper progresses its side and answers every new flag value.
void fabric_role(SharedHead& head, char*) {
  FabricEnd end(head.provider, head.nbytes);
  uint64_t seen = 0;
  flag_at(end, kPing) = seen;
  meet_parent(head, end);
  while (head.parent_stage.load(std::memory_order_acquire) != kQuit) {
    end.poll();
    const uint64_t now = flag_at(end, kPing);
    if (now == seen) continue;
    seen = now;
    send_flag(end, kPong, now);
  }
}
const RegisterRole role("fabric", fabric_role);

constexpr size_t kRequestBytes = 32;  // an operation, its operands and who asks
constexpr size_t kReplyBytes = 16;

/// The helper executes an atomic for every request and replies with the old value.
void request_role(SharedHead& head, char*) {
  FabricEnd end(head.provider, head.nbytes);
  end.receive(kPing, kRequestBytes);
  meet_parent(head, end);
  while (head.parent_stage.load(std::memory_order_acquire) != kQuit) {
    if (end.poll() == 0) continue;
    uint64_t* const word = reinterpret_cast<uint64_t*>(end.region() + kDataOffset);
    flag_at(end, kPong) = __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
    end.receive(kPing, kRequestBytes);
    while (!end.send(kPong, kReplyBytes)) end.poll();
  }
}
const RegisterRole requests("fabric_requests", request_role);

/// Both ends, connected and warm.
class Session {
 public:
  Session(const Context& context, size_t data_bytes, const char* role_name = "fabric")
      : partner_(role_name, 64, kDataOffset + data_bytes, provider_name(context.options)),
        end_(provider_name(context.options), kDataOffset + data_bytes) {
    partner_.head().descriptor[0] = end_.descriptor();
    partner_.announce(kReady);
    while (!partner_.reached(kConnected)) sched_yield();
    end_.connect(partner_.head().descriptor[1]);
    const uint64_t start = ticks();
    while (!end_.write(kDataOffset, 8, kDelivered)) {
      end_.poll();
      if (static_cast<double>(ticks() - start) * seconds_per_tick() > kConnectSeconds)
        throw std::runtime_error("provider '" + provider_name(context.options) + "' does not connect to the helper");
    }
    drain(1);
  }

  FabricEnd& end() noexcept { return end_; }

  void write(size_t nbytes) {
    while (!end_.write(kDataOffset, nbytes, kDelivered)) completed_ += end_.poll();
  }
  void read(size_t nbytes) {
    while (!end_.read(kDataOffset, nbytes)) completed_ += end_.poll();
  }
  /// Waits for `count` completions, those seen while posting included.
  void drain(size_t count) {
    while (completed_ < count) completed_ += end_.poll();
    completed_ -= count;
  }

 private:
  Partner partner_;
  FabricEnd end_;
  size_t completed_ = 0;
};

void floor_fi_write_lat(Context& context) {
  Session session(context, context.largest());
  for (const uint64_t bytes : context.sizes)
    context.add_latency("latency", bytes, {measure_alone(context.options, [&] {
                          session.write(bytes);
                          session.drain(1);
                        })});
}

void floor_fi_read_lat(Context& context) {
  Session session(context, context.largest());
  for (const uint64_t bytes : context.sizes)
    context.add_latency("latency", bytes, {measure_alone(context.options, [&] {
                          session.read(bytes);
                          session.drain(1);
                        })});
}

/// A window of delivery-complete writes, then all their completions.
Distribution write_windows(Context& context, Session& session, uint64_t bytes) {
  const int window = context.options.window;
  return measure_alone(context.options, [&] {
    for (int i = 0; i < window; ++i) session.write(bytes);
    session.drain(static_cast<size_t>(window));
  });
}

void floor_fi_bw(Context& context) {
  Session session(context, context.largest());
  for (const uint64_t bytes : context.sizes)
    context.add_bandwidth(bytes, static_cast<double>(bytes) * context.options.window,
                          {write_windows(context, session, bytes)});
}

void floor_fi_rate(Context& context) {
  Session session(context, context.largest());
  for (const uint64_t bytes : context.sizes)
    context.add_rate(bytes, context.options.window, {write_windows(context, session, bytes)});
}

void floor_fi_pingpong(Context& context) {
  Session session(context, sizeof(uint64_t));
  FabricEnd& end = session.end();
  uint64_t count = 0;
  const Distribution d = measure_alone(context.options, [&] {
    send_flag(end, kPing, ++count);
    while (flag_at(end, kPong) != count) end.poll();
  });
  context.add_latency("one_way", sizeof count, {d}, 0.5);
  context.add_latency("round_trip", sizeof count, {d});
}

void floor_fi_request(Context& context) {
  Session session(context, sizeof(uint64_t), "fabric_requests");
  FabricEnd& end = session.end();
  const Distribution d = measure_alone(context.options, [&] {
    end.receive(kPong, kReplyBytes);
    while (!end.send(kPing, kRequestBytes)) end.poll();
    while (end.poll() == 0) {
    }
  });
  context.add_latency("round_trip", sizeof(uint64_t), {d});
}

constexpr Range kLatencySizes{8, 8};
const Register write_bench({"floor_fi_write_lat", "fi_writemsg, delivery complete, to its completion: us", Place::floor,
                            kLatencySizes, floor_fi_write_lat});
const Register read_bench({"floor_fi_read_lat", "fi_readmsg to its completion: us", Place::floor, kLatencySizes,
                           floor_fi_read_lat});
const Register bw_bench(
    {"floor_fi_bw", "fi_writemsg x window, delivery complete: GB/s", Place::floor, {8, 4 << 20}, floor_fi_bw});
const Register rate_bench({"floor_fi_rate", "8-byte fi_writemsg x window, delivery complete: Mops/s", Place::floor,
                           kLatencySizes, floor_fi_rate});
const Register request_bench({"floor_fi_request", "message, atomic at the other side, reply: us", Place::floor,
                              kLatencySizes, floor_fi_request});
const Register pingpong_bench({"floor_fi_pingpong", "fi_writemsg ping-pong, memory polled: us", Place::floor,
                               kLatencySizes, floor_fi_pingpong});

}  // namespace
}  // namespace railshmem::perf
