// SPDX-License-Identifier: BSD-3-Clause
// Stream-ordered calls for one PE or none, whatever the type of their elements: copy engines or a kernel.
#pragma once

#include "shmem/stream.h"
#include "src/cuda/kernels/stream_call.h"
#include "src/rma/put_get.h"
#include "src/rma/strided.h"

namespace railshmem {

class HostCalls;
class StreamSide;
struct PeState;

/// One call on a stream. A wrong argument ends the job with a message naming `function`.
class OnStream {
 public:
  /// `host` is null where kernels do all that copies do not.
  OnStream(const char* function, shmemx_stream_t stream, PeState& state, StreamSide& side, HostCalls* host) noexcept
      : function_(function), stream_(stream), state_(state), side_(side), host_(host) {}

  void put(void* dest, const void* source, size_t nelems, size_t element, int pe, bool nbi) noexcept;
  void get(void* dest, const void* source, size_t nelems, size_t element, int pe, bool nbi) noexcept;
  void iput(void* dest, const void* source, const Strides& strides, int pe) noexcept;
  void iget(void* dest, const void* source, const Strides& strides, int pe) noexcept;
  struct Signal {
    uint64_t* word;
    uint64_t value;
    int op;
  };
  void put_signal(void* dest, const void* source, size_t nelems, size_t element, const Signal& signal, int pe,
                  bool nbi) noexcept;
  void signal(const Signal& signal, int pe) noexcept;
  /// The low `width` bytes of `bits`.
  void store(void* dest, uint64_t bits, size_t width, int pe) noexcept;
  /// Fetched when the stream has done all that it was given, for which the caller waits.
  template <class T>
  T fetch(const T* source, int pe) noexcept {
    reach(state_, function_, source, sizeof(T), pe);
    catch_up();
    return get_value<T>(state_, state_.default_context, function_, source, pe);
  }
  void wait(void* word, TypeKind kind, size_t width, int cmp, uint64_t value) noexcept;
  struct Words {
    const void* words;
    size_t n;
    const int* status;
    int cmp;
    const void* values;  ///< one each, or null: `value`
    uint64_t value;
  };
  void wait_all(const Words& words, TypeKind kind, size_t width) noexcept;
  void quiet() noexcept;

  // For collectives.
  const char* function() const noexcept { return function_; }
  shmemx_stream_t stream() const noexcept { return stream_; }
  PeState& state() const noexcept { return state_; }
  /// Ends the job unless `address` is in the heap in a GPU's memory.
  void must_be_device(const char* argument, const void* address) const noexcept;
  /// Puts a kernel's work into the stream.
  void give(const cuda::StreamCall& call, cuda::StreamWidth width = cuda::StreamWidth::warp) noexcept;

 private:
  void check_signal(const Signal& signal, int pe) noexcept;
  /// Of a PE that is not mapped.
  void give_far(const cuda::StreamCall& call) noexcept;
  /// Of a call for one PE, by a kernel.
  void must_be_target(const char* argument, const void* address) noexcept;
  void catch_up() noexcept;
  void must_be_words(const void* words, size_t width, int cmp) noexcept;
  bool near(const void* address, size_t nbytes) noexcept;
  void must_reach(const char* argument, const void* address) noexcept;
  void give(cuda::StreamStrides call, const Strides& strides, uint32_t nblocks) noexcept;
  void copy(void* to, const void* from, size_t nbytes) noexcept;

  const char* const function_;
  const shmemx_stream_t stream_;
  PeState& state_;
  StreamSide& side_;
  HostCalls* const host_;
};

/// The bytes of a value, in the low ones of a word.
template <class T>
uint64_t bits_of(T value) noexcept {
  uint64_t bits = 0;
  static_assert(sizeof value <= sizeof bits);
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}

}  // namespace railshmem
