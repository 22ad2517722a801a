// SPDX-License-Identifier: BSD-3-Clause
#include "src/stream/on_stream.h"

#include <algorithm>

#include "src/base/log.h"
#include "src/rma/signal.h"
#include "src/rma/wait.h"
#include "src/stream/host_calls.h"
#include "src/stream/stream_side.h"

namespace railshmem {
namespace {

using cuda::StreamCall;
using cuda::StreamStep;
using cuda::StreamWidth;
using cuda::StridedWay;

// Who moves so many bytes of a put_signal fastest (decision 0044). Copy engines need a kernel behind them that tells
// the other PE, and going from one to the other takes longer than a kernel copies.
constexpr size_t kByBlock = size_t{64} << 10;
constexpr size_t kByCluster = size_t{8} << 20;  // the most that a kernel moves; more is for copy engines

StreamWidth width_of(size_t nbytes) noexcept {
  return nbytes <= kByBlock ? StreamWidth::block : StreamWidth::cluster;
}

/// Blocks for elements of a mapped PE: four elements a thread, and no more than leave room on the GPU for others.
uint32_t strided_grid(const Strides& strides) noexcept {
  return static_cast<uint32_t>(std::clamp(strides.nblocks / 1024, size_t{1}, size_t{64}));
}

}  // namespace

void OnStream::must_be_device(const char* argument, const void* address) const noexcept {
  if (state_.device->is_device(address)) return;
  die("%s: %s %p does not lie in the memory of a GPU, where kernels find it; allocate it with shmem_malloc", function_,
      argument, address);
}

void OnStream::must_be_target(const char* argument, const void* address) noexcept {
  uintptr_t offset = 0;
  if (find_segment(state_, address, 1, &offset)) return must_be_device(argument, address);
  must_reach(argument, address);  // memory of this PE's own
}

/// Kernels of this GPU use it at its speed: not another GPU's own memory, which it may not even reach.
bool OnStream::near(const void* address, size_t nbytes) noexcept {
  uintptr_t offset = 0;
  return find_segment(state_, address, nbytes, &offset) ? state_.device->is_device(address) : side_.is_here(address);
}

void OnStream::must_reach(const char* argument, const void* address) noexcept {
  if (side_.kernels_reach(address)) return;
  die("%s: %s %p is in plain host memory, which kernels do not reach; pass memory of shmem_malloc, cudaMalloc or "
      "cudaMallocHost",
      function_, argument, address);
}

void OnStream::give(const StreamCall& call, StreamWidth width) noexcept {
  side_.give(call, width, reinterpret_cast<cuda::Stream>(stream_));
}
void OnStream::give_far(const StreamCall& call) noexcept {
  if (!host_ || !host_->take(function_, call, reinterpret_cast<cuda::Stream>(stream_))) give(call);
}
void OnStream::copy(void* to, const void* from, size_t nbytes) noexcept {
  side_.copy(to, from, nbytes, reinterpret_cast<cuda::Stream>(stream_));
}

void OnStream::put(void* dest, const void* source, size_t nelems, size_t element, int pe, bool nbi) noexcept {
  const size_t nbytes = total_bytes(function_, nelems, element, pe);
  if (nbytes == 0) return check_pe(state_, function_, pe);
  const PeerAddress there = reach(state_, function_, dest, nbytes, pe);
  check_local(function_, "source", source, nbytes, pe);
  if (there.mapped) return copy(there.mapped, source, nbytes);
  StreamCall call{nbi ? StreamStep::put_nbi : StreamStep::put};
  call.pe = pe;
  call.dest = dest;
  call.source = source;
  call.nbytes = nbytes;
  give_far(call);
}

void OnStream::get(void* dest, const void* source, size_t nelems, size_t element, int pe, bool nbi) noexcept {
  const size_t nbytes = total_bytes(function_, nelems, element, pe);
  if (nbytes == 0) return check_pe(state_, function_, pe);
  const PeerAddress there = reach(state_, function_, source, nbytes, pe);
  check_local(function_, "dest", dest, nbytes, pe);
  if (there.mapped) return copy(dest, there.mapped, nbytes);
  StreamCall call{nbi ? StreamStep::get_nbi : StreamStep::get};
  call.pe = pe;
  call.dest = dest;
  call.source = source;
  call.nbytes = nbytes;
  give_far(call);
}

void OnStream::give(cuda::StreamStrides call, const Strides& s, uint32_t nblocks) noexcept {
  call.nelems = s.nblocks;
  call.element = static_cast<uint32_t>(s.element);
  call.nblocks = nblocks;
  call.to = s.dest * static_cast<int64_t>(s.element);
  call.from = s.source * static_cast<int64_t>(s.element);
  side_.give(call, reinterpret_cast<cuda::Stream>(stream_));
}

void OnStream::iput(void* dest, const void* source, const Strides& s, int pe) noexcept {
  check_pe(state_, function_, pe);
  if (s.nblocks == 0) return;
  const size_t from = checked_span(function_, "source", s.source, s, pe);
  const size_t to = checked_span(function_, "dest", s.dest, s, pe);
  if (s.dest == 1 && s.source == 1) return put(dest, source, s.nblocks, s.element, pe, false);
  const PeerAddress there = reach(state_, function_, dest, to, pe);
  check_local(function_, "source", source, from, pe);
  must_be_target("dest", dest);
  must_reach("source", source);
  give({StridedWay::put, pe, dest, source}, s, there.mapped ? strided_grid(s) : 1);
}

void OnStream::iget(void* dest, const void* source, const Strides& s, int pe) noexcept {
  check_pe(state_, function_, pe);
  if (s.nblocks == 0) return;
  const size_t to = checked_span(function_, "dest", s.dest, s, pe);
  const size_t from = checked_span(function_, "source", s.source, s, pe);
  if (s.dest == 1 && s.source == 1) return get(dest, source, s.nblocks, s.element, pe, false);
  const PeerAddress there = reach(state_, function_, source, from, pe);
  check_local(function_, "dest", dest, to, pe);
  must_be_target("source", source);
  must_reach("dest", dest);
  give({StridedWay::get, pe, dest, source}, s, there.mapped ? strided_grid(s) : 1);
}

void OnStream::check_signal(const Signal& signal, int pe) noexcept {
  reach(state_, function_, signal.word, sizeof(uint64_t), pe);
  if (reinterpret_cast<uintptr_t>(signal.word) % sizeof(uint64_t) != 0)
    die_misaligned(function_, signal.word, sizeof(uint64_t), pe);
  checked_signal_op(function_, signal.op, pe);
}

void OnStream::signal(const Signal& signal, int pe) noexcept {
  check_signal(signal, pe);
  must_be_target("the signal", signal.word);
  StreamCall call{StreamStep::signal};
  call.code = signal.op;
  call.pe = pe;
  call.dest = signal.word;
  call.value = signal.value;
  give(call);
}

void OnStream::put_signal(void* dest, const void* source, size_t nelems, size_t element, const Signal& signal, int pe,
                          bool nbi) noexcept {
  const size_t nbytes = total_bytes(function_, nelems, element, pe);
  if (nbytes == 0) return this->signal(signal, pe);
  const PeerAddress there = reach(state_, function_, dest, nbytes, pe);
  check_local(function_, "source", source, nbytes, pe);
  const auto by_kernel = [&] { return nbytes <= kByCluster && near(dest, nbytes) && near(source, nbytes); };
  if (there.mapped && !by_kernel()) {
    copy(there.mapped, source, nbytes);
    return this->signal(signal, pe);  // the stream reaches it when the copy has ended
  }
  check_signal(signal, pe);
  if (there.mapped) must_be_target("the signal", signal.word);
  StreamCall call{there.mapped ? StreamStep::put_signal_near
                  : nbi        ? StreamStep::put_signal_nbi
                               : StreamStep::put_signal};
  call.code = signal.op;
  call.pe = pe;
  call.dest = dest;
  call.source = source;
  call.nbytes = nbytes;
  call.word = signal.word;
  call.value = signal.value;
  if (!there.mapped) return give_far(call);
  give(call, width_of(nbytes));
}

void OnStream::store(void* dest, uint64_t bits, size_t width, int pe) noexcept {
  reach(state_, function_, dest, width, pe);
  must_be_target("dest", dest);
  StreamCall call{StreamStep::value};
  call.pe = pe;
  call.dest = dest;
  call.nbytes = width;
  call.value = bits;
  give(call);
}

void OnStream::catch_up() noexcept {
  const auto stream = reinterpret_cast<cuda::Stream>(stream_);
  if (side_.is_captured(stream))
    die("%s: the stream is being captured into a graph, so the value that the call returns is not fetched before the "
        "graph runs; capture shmemx_getmem_on_stream instead, or call this outside of the capture",
        function_);
  side_.wait_for(stream);
}

void OnStream::must_be_words(const void* words, size_t width, int cmp) noexcept {
  check_comparison(function_, cmp);
  must_be_device("the word to wait for,", words);
  if (reinterpret_cast<uintptr_t>(words) % width != 0) die_misaligned(function_, words, width, state_.me);
}

void OnStream::wait(void* word, TypeKind kind, size_t width, int cmp, uint64_t value) noexcept {
  must_be_words(word, width, cmp);
  StreamCall call{StreamStep::wait};
  call.kind = kind;
  call.code = cmp;
  call.dest = word;
  call.value = value;
  give(call);
}

void OnStream::wait_all(const Words& w, TypeKind kind, size_t width) noexcept {
  check_comparison(function_, w.cmp);
  if (w.n == 0) return;
  total_bytes(function_, w.n, width, state_.me);
  must_be_words(w.words, width, w.cmp);
  if (w.status) must_reach("status", w.status);
  if (w.values) must_reach("cmp_values", w.values);
  side_.give(cuda::StreamWords{kind, w.cmp, w.words, w.n, w.status, w.values, w.value},
             reinterpret_cast<cuda::Stream>(stream_));
}

void OnStream::quiet() noexcept {
  // Without a network all is done by stores and copies, which end with what the stream ran before this.
  if (state_.network != nullptr) give({StreamStep::quiet});
}

}  // namespace railshmem
