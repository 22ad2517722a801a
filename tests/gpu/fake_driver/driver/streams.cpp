// SPDX-License-Identifier: BSD-3-Clause
// Streams, events and copies of the fake driver.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "src/base/cpu.h"
#include "src/plugin/execute.h"
#include "tests/gpu/fake_driver/driver/calls.h"
#include "tests/gpu/fake_driver/driver/state.h"

namespace railshmem::cuda {
namespace {

/// Runs all work that can run. Returns true when some work ran.
bool pump(FakeState& s) {
  if (s.held) return false;
  bool any = false;
  for (bool moved = true; moved; any |= moved) {
    moved = false;
    for (const FakeStream& stream : s.streams) {
      while (!stream->work.empty() && now_ns() >= stream->work.front().not_before && stream->work.front().run()) {
        stream->work.pop_front();
        ++stream->over;
        moved = true;
      }
    }
  }
  if (!any) return false;
  std::erase_if(s.streams, [&](const FakeStream& stream) {
    return stream->work.empty() && s.stream_handles.count(stream.get()) == 0 && stream.use_count() == 1;
  });
  s.changed.notify_all();
  return true;
}

void work(FakeState& s) {
  // Kernels tell their end. Words that streams wait for come from anywhere, so the longer nothing moves the less often
  // this thread looks: there is one in each of many processes.
  constexpr std::chrono::microseconds kSoon{20}, kLate{320};
  std::chrono::microseconds pause = kSoon;
  std::unique_lock lock(s.mutex);
  while (!s.stopping) {
    const bool idle =
        std::all_of(s.streams.begin(), s.streams.end(), [](const FakeStream& stream) { return stream->work.empty(); });
    if (s.held || idle) {
      s.changed.wait(lock);
      pause = kSoon;
    } else if (pump(s)) {
      pause = kSoon;
    } else {
      s.changed.wait_for(lock, pause);
      pause = std::min(2 * pause, kLate);
    }
  }
}

/// The legacy default stream waits for what blocking streams were given before, and they for it.
std::function<bool()> behind_others(FakeState& s, const FakeStream& mine, std::function<bool()> run) {
  const FakeStream legacy = s.default_streams[mine->context];
  std::vector<std::pair<FakeStream, uint64_t>> before;
  for (const FakeStream& stream : s.streams)
    if (stream->context == mine->context && (mine == legacy ? stream->blocking : stream == legacy))
      before.emplace_back(stream, stream->given);
  return [before, run = std::move(run)] {
    const auto over = [](const auto& one) { return one.first->over >= one.second; };
    return std::all_of(before.begin(), before.end(), over) && run();
  };
}

/// Copies as a copy engine does: an aligned word at once, other bytes in any order.
void move_bytes(const FakeState& s, Address to, Address from, size_t nbytes) {
  std::byte* const dest = fake_bytes(s, to);
  const std::byte* const source = fake_bytes(s, from);
  std::byte word[8];
  if (nbytes == 4 || nbytes == 8) {
    read_whole(word, source, nbytes);
    copy_whole(dest, word, nbytes);
  } else {
    std::memmove(dest, source, nbytes);
  }
}

bool condition_holds(Address address, uint64_t value, unsigned flags, bool wide) {
  const uint64_t word = wide ? __atomic_load_n(reinterpret_cast<uint64_t*>(address), __ATOMIC_ACQUIRE)
                             : __atomic_load_n(reinterpret_cast<uint32_t*>(address), __ATOMIC_ACQUIRE);
  switch (flags & ~kWordsFlush) {
    case kWordReaches:
      return wide ? static_cast<int64_t>(word - value) >= 0
                  : static_cast<int32_t>(static_cast<uint32_t>(word) - static_cast<uint32_t>(value)) >= 0;
    case kWordEquals:
      return word == value;
    case kWordHasBits:
      return (word & value) != 0;
    default:
      return false;
  }
}

void write_word(Address address, uint64_t value, bool wide) {
  if (wide) {
    __atomic_store_n(reinterpret_cast<uint64_t*>(address), value, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(reinterpret_cast<uint32_t*>(address), static_cast<uint32_t>(value), __ATOMIC_RELEASE);
  }
}

Result give_word_op(FakeState& s, Stream handle, const StreamWordOp& op) {
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr) return kInvalidHandle;
  const bool wide = op.op == WordOp::wait_64 || op.op == WordOp::write_64;
  if (op.op == WordOp::barrier || op.op == WordOp::flush_remote_writes) return kSuccess;
  if (op.address % (wide ? 8 : 4) != 0 || !fake_usable(s, op.address, wide ? 8 : 4, stream->context->device) ||
      fake_is_pageable(s, op.address))
    return kInvalidValue;
  const bool waits = op.op == WordOp::wait_32 || op.op == WordOp::wait_64;
  // The second version of these calls knows no flag of writes. No driver promises words in memory of another process.
  if ((!waits && op.flags != 0) || fake_is_imported(s, op.address)) return kInvalidValue;
  if (waits) {
    fake_give(s, stream, [&s, op, wide] {
      return condition_holds(address_of(fake_bytes(s, op.address)), op.value, op.flags, wide);
    });
  } else {
    fake_give(s, stream,
              [&s, op, wide] { return write_word(address_of(fake_bytes(s, op.address)), op.value, wide), true; });
  }
  return kSuccess;
}

/// The real driver reads pageable sources during the call, and returns from copies to pageable memory when they are
/// over. Until then a lock of the process keeps away all other copies of pageable memory.
Result give_copy(FakeCall& call, Address to, Address from, size_t nbytes, const FakeStream& stream) {
  FakeState& s = call.state();
  if (stream == nullptr) return kInvalidHandle;
  const Device device = stream->context->device;
  if (!fake_usable(s, to, nbytes, device) || !fake_usable(s, from, nbytes, device)) return kInvalidValue;
  const bool from_pageable = fake_is_pageable(s, from), to_pageable = fake_is_pageable(s, to);
  fake_enter(call, stream->context);
  fake_enter_owner(call, to);
  fake_enter_owner(call, from);
  if (from_pageable || to_pageable) fake_wait_until(call, [&s] { return !s.pageable_taken; });
  if (from_pageable && !to_pageable) {
    const auto bytes = std::make_shared<std::vector<std::byte>>(pointer_to(from), pointer_to(from) + nbytes);
    fake_give(s, stream,
              [&s, to, nbytes, bytes] { return move_bytes(s, to, address_of(bytes->data()), nbytes), true; });
    return kSuccess;
  }
  fake_give(s, stream, [&s, to, from, nbytes] { return move_bytes(s, to, from, nbytes), true; });
  if (to_pageable) {
    s.pageable_taken = true;
    const auto over = [stream, until = stream->given] { return stream->over >= until; };
    if (s.default_streams[stream->context] == stream) {
      fake_wait_locked(call, stream->context, over);
    } else {
      fake_wait_until(call, over);
    }
    s.pageable_taken = false;
    s.changed.notify_all();
  }
  return kSuccess;
}

}  // namespace

FakeStream fake_stream(FakeState& s, Stream handle) {
  const Context mine = fake_context();
  if (handle == nullptr) {
    FakeStream& stream = s.default_streams[mine];
    if (stream == nullptr) {
      stream = std::make_shared<StreamObject>();
      stream->context = mine;
      s.streams.push_back(stream);
    }
    return stream;
  }
  for (const FakeStream& stream : s.streams)
    if (stream.get() == handle && s.stream_handles.count(handle) != 0 && stream->context == mine) return stream;
  return nullptr;
}

void fake_give_node(FakeState& s, const FakeStream& stream, const FakeNode& node) {
  if (stream->capture != nullptr) {
    stream->capture->graph->nodes.push_back(node);
  } else {
    fake_give(s, stream, node());
  }
}
void fake_give(FakeState& s, const FakeStream& stream, std::function<bool()> run) {
  if (stream->capture != nullptr) return stream->capture->graph->nodes.push_back([run] { return run; });
  if (stream->blocking || s.default_streams[stream->context] == stream) run = behind_others(s, stream, std::move(run));
  if (!s.worker.joinable()) s.worker = std::thread([&s] { work(s); });
  const uint64_t late = s.options.late_us == 0 ? 0 : s.random() % (uint64_t{s.options.late_us} * 1000 + 1);
  stream->work.push_back({std::move(run), late == 0 ? 0 : now_ns() + late});
  ++stream->given;
  if (s.options.late_us == 0) pump(s);
  s.changed.notify_all();
}

void fake_wait_until(FakeCall& call, const std::function<bool()>& reached) {
  while (!reached()) call.state().changed.wait_for(call.lock(), std::chrono::milliseconds(1));
}

void fake_enter(FakeCall& call, Context context) {
  fake_wait_until(call, [context] { return !context->locked; });
}
void fake_enter_owner(FakeCall& call, Address address) {
  FakeState& s = call.state();
  const auto plain = fake_find(s.allocations, address);
  if (plain == s.allocations.end() || plain->second.device < 0) return;
  fake_enter(call, &s.primaries[static_cast<size_t>(plain->second.device)]);
}
void fake_wait_locked(FakeCall& call, Context context, const std::function<bool()>& reached) {
  fake_enter(call, context);
  context->locked = true;
  fake_wait_until(call, reached);
  context->locked = false;
  call.state().changed.notify_all();
}

extern "C" {

Result cuStreamCreateWithPriority(Stream* stream, unsigned flags, int) {
  FAKE_CALL(context);
  if (flags > kStreamNonBlocking) return kInvalidValue;
  const auto made = std::make_shared<StreamObject>();
  made->context = fake_context();
  made->blocking = flags != kStreamNonBlocking;
  s.streams.push_back(made);
  s.stream_handles.insert(made.get());
  *stream = made.get();
  return kSuccess;
}
Result cuStreamDestroy_v2(Stream handle) {
  FAKE_CALL(context);
  if (s.stream_handles.erase(handle) == 0) return kInvalidHandle;
  std::erase_if(s.streams, [&](const FakeStream& stream) { return stream.get() == handle && stream->work.empty(); });
  return kSuccess;
}
Result cuStreamQuery(Stream handle) {
  FAKE_CALL(undisturbed);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr) return kInvalidHandle;
  if (stream->capture != nullptr) return kCaptureUnsupported;
  return stream->work.empty() ? kSuccess : kNotReady;
}
Result cuStreamSynchronize(Stream handle) {
  FAKE_CALL(undisturbed);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr) return kInvalidHandle;
  if (stream->capture != nullptr) return kCaptureUnsupported;
  fake_wait_until(call, [&, until = stream->given] { return stream->over >= until; });
  return kSuccess;
}
Result cuStreamWaitEvent(Stream handle, Event event, unsigned) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr || s.events.count(event) == 0) return kInvalidHandle;
  if (event->capture != nullptr) {
    if (event->capture->over) return kInvalidValue;
    // The nodes of a graph run in the order in which they were given, so a fork needs nothing more.
    stream->capture = event->capture;
    return kSuccess;
  }
  fake_give(s, stream, [at = *event] { return at.reached(); });
  return kSuccess;
}
Result cuStreamIsCapturing(Stream handle, int* status) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr) return kInvalidHandle;
  *status = s.options.captured || stream->capture != nullptr ? kCapturing : kCapturingNot;
  return kSuccess;
}

Result cuEventCreate(Event* event, unsigned) {
  FAKE_CALL(context);
  *event = new EventObject;
  (*event)->context = fake_context();
  s.events.insert(*event);
  return kSuccess;
}
Result cuEventRecord(Event event, Stream handle) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr || s.events.count(event) == 0 || event->context != stream->context) return kInvalidHandle;
  fake_enter(call, stream->context);
  event->stream = stream;
  event->until = stream->given;
  event->capture = stream->capture;
  return kSuccess;
}
Result cuEventQuery(Event event) {
  FAKE_CALL(undisturbed);
  if (s.events.count(event) == 0) return kInvalidHandle;
  return event->reached() ? kSuccess : kNotReady;
}
Result cuEventSynchronize(Event event) {
  FAKE_CALL(undisturbed);
  if (s.events.count(event) == 0) return kInvalidHandle;
  fake_wait_until(call, [at = *event] { return at.reached(); });
  return kSuccess;
}
/// A stream's clock counts its work: each piece of it takes a millisecond.
Result cuEventElapsedTime(float* ms, Event from, Event to) {
  FAKE_CALL(undisturbed);
  if (s.events.count(from) == 0 || s.events.count(to) == 0 || from->stream == nullptr || from->stream != to->stream)
    return kInvalidHandle;
  if (!from->reached() || !to->reached()) return kNotReady;
  *ms = static_cast<float>(to->until - from->until);
  return kSuccess;
}
Result cuEventDestroy_v2(Event event) {
  FAKE_CALL(context);
  if (s.events.erase(event) == 0) return kInvalidHandle;
  delete event;
  return kSuccess;
}

Result cuMemcpy(Address to, Address from, size_t nbytes) {
  FAKE_CALL(undisturbed);
  const FakeStream legacy = fake_stream(s, nullptr);
  const Result result = give_copy(call, to, from, nbytes, legacy);
  fake_wait_locked(call, legacy->context, [&, until = legacy->given] { return legacy->over >= until; });
  return result;
}
Result cuMemcpyAsync(Address to, Address from, size_t nbytes, Stream handle) {
  FAKE_CALL(context);
  return give_copy(call, to, from, nbytes, fake_stream(s, handle));
}
Result cuMemsetD8Async(Address to, unsigned char value, size_t nbytes, Stream handle) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr) return kInvalidHandle;
  if (fake_is_pageable(s, to) || !fake_usable(s, to, nbytes, stream->context->device)) return kInvalidValue;
  fake_enter(call, stream->context);
  fake_give(s, stream, [=, &s] { return std::memset(fake_bytes(s, to), value, nbytes), true; });
  return kSuccess;
}
Result cuMemcpyBatchAsync_v2(Address* to, Address* from, size_t* nbytes, size_t count, CopyAttributes*,
                             size_t* first_of_attributes, size_t attributes, Stream handle) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr || handle == nullptr) return kInvalidHandle;  // the legacy stream is refused
  if (count == 0 || attributes == 0 || first_of_attributes[0] != 0) return kInvalidValue;
  fake_enter(call, stream->context);
  std::vector<size_t> order(count);
  for (size_t i = 0; i < count; ++i) {
    if (!fake_usable(s, to[i], nbytes[i], stream->context->device) ||
        !fake_usable(s, from[i], nbytes[i], stream->context->device))
      return kInvalidValue;
    order[i] = i;
  }
  std::shuffle(order.begin(), order.end(), s.random);  // nothing is promised
  for (const size_t i : order)
    fake_give(s, stream, [&s, a = to[i], b = from[i], n = nbytes[i]] { return move_bytes(s, a, b, n), true; });
  return kSuccess;
}

Result cuStreamWaitValue32_v2(Stream stream, Address address, uint32_t value, unsigned flags) {
  FAKE_CALL(context);
  return give_word_op(s, stream, {WordOp::wait_32, 0, address, value, flags});
}
Result cuStreamWaitValue64_v2(Stream stream, Address address, uint64_t value, unsigned flags) {
  FAKE_CALL(context);
  return give_word_op(s, stream, {WordOp::wait_64, 0, address, value, flags});
}
Result cuStreamWriteValue32_v2(Stream stream, Address address, uint32_t value, unsigned flags) {
  FAKE_CALL(context);
  return give_word_op(s, stream, {WordOp::write_32, 0, address, value, flags});
}
Result cuStreamWriteValue64_v2(Stream stream, Address address, uint64_t value, unsigned flags) {
  FAKE_CALL(context);
  return give_word_op(s, stream, {WordOp::write_64, 0, address, value, flags});
}
Result cuStreamBatchMemOp_v2(Stream stream, unsigned count, StreamWordOp* ops, unsigned flags) {
  FAKE_CALL(context);
  if (!s.options.stream_words) return kNotSupported;
  if (flags != 0 || count == 0) return kInvalidValue;
  if (const FakeStream known = fake_stream(s, stream); known != nullptr && known->capture == nullptr) {
    ++s.waiting_for_room;
    fake_wait_until(call, [&] { return known->work.size() < s.options.queue; });
    --s.waiting_for_room;
  }
  for (unsigned i = 0; i < count; ++i)
    if (const Result result = give_word_op(s, stream, ops[i]); result != kSuccess) return result;
  return kSuccess;
}

}  // extern "C"
}  // namespace railshmem::cuda
