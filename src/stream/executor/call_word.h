// SPDX-License-Identifier: BSD-3-Clause
// The host's side of the word by which a stream asks for a call (cuda::CallWord), as the CPU sees it.
#pragma once

#include <cstdint>

#include "src/cuda/kernels/stream_call.h"

namespace railshmem {

/// In the word, with the number, while the call runs. So a stream that asks meanwhile is seen.
inline constexpr cuda::CallWord kCallRuns = cuda::CallWord{1} << 31;

/// The number of the call that a stream asks for. 0: none does, or it was taken.
inline uint32_t asked(const cuda::CallWord* word) noexcept {
  const cuda::CallWord number = __atomic_load_n(word, __ATOMIC_RELAXED);  // relaxed: a look; take_asked() orders
  return (number & kCallRuns) == 0 ? number : 0;
}

/// Takes that number. 0: no such call.
inline uint32_t take_asked(cuda::CallWord* word) noexcept {
  cuda::CallWord number = asked(word);
  if (number == 0) return 0;
  // acquire: pairs with the stream's write, which comes behind all that the stream did before. It fails where a stream
  // writes just now; the next look finds that number.
  const bool taken =
      __atomic_compare_exchange_n(word, &number, number | kCallRuns, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  return taken ? number : 0;
}

/// The call has run, and the stream goes on. False: a stream has asked since take_asked(), and nothing happened.
inline bool answer(cuda::CallWord* word, uint32_t number) noexcept {
  cuda::CallWord running = number | kCallRuns;
  // release: pairs with the stream's wait; what the call brought is there for the stream's next work.
  return __atomic_compare_exchange_n(word, &running, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

}  // namespace railshmem
