// SPDX-License-Identifier: BSD-3-Clause
// What travels of a token: its channels as they are, or as 8-bit floats with a scale for each 128 of them.
#pragma once

#include "moe/kernels/part.h"
#include "src/base/small_floats.h"

namespace railshmem::moe::kernels {

/// Units that a thread has in hand at once.
constexpr uint32_t kInHand = 2;

/// Puts the scales of a token beside the rows of its experts here, kEach in a word that word_of(g) makes.
template <class Word, uint32_t kEach, class Place, class WordOf>
RAILSHMEM_KERNEL inline void put_scales(const Place& part, const DispatchCall& call, const Shared& shared,
                                        uint64_t epoch, int32_t source, uint32_t t, const WordOf& word_of) {
  const uint64_t* const entries = part.entries_from(epoch, source, t);
  const auto* const scales = part.template mine<float>(part.layout().row(epoch, source, t) + part.shape().row_nbytes());
  const uint32_t groups = part.shape().groups() / kEach, all = groups * part.shape().entries();
  RAILSHMEM_NO_UNROLL
  for (auto i = static_cast<uint32_t>(Part::thread()); i < all; i += static_cast<uint32_t>(Part::threads())) {
    const uint32_t place = Entry::place(entries[i / groups]), g = i % groups;
    if (place == Entry::kNone) continue;
    const uint64_t row = part.row_of(place, source, shared), capacity = part.shape().capacity();
    const uint64_t e = Entry::expert(place);
    static_cast<Word*>(call.scales)[(e * groups + g) * capacity + (row - e * capacity)] = word_of(scales + kEach * g);
  }
}
template <class Place>
RAILSHMEM_KERNEL inline void put_float_scales(const Place& part, const DispatchCall& call, const Shared& shared,
                                              uint64_t epoch, int32_t source, uint32_t t) {
  put_scales<float, 1>(part, call, shared, epoch, source, t, [](const float* scale) { return *scale; });
}

/// Copies a token to the rows of its experts here.
template <class Place>
RAILSHMEM_KERNEL inline void copy_to_rows(const Place& part, const DispatchCall& call, const Shared& shared,
                                          uint64_t epoch, int32_t source, uint32_t t) {
  const auto* const from = part.template mine<Unit>(part.layout().row(epoch, source, t));
  const uint64_t* const entries = part.entries_from(epoch, source, t);
  const uint32_t units = part.shape().row_nbytes() / kUnit, threads = static_cast<uint32_t>(Part::threads());
  RAILSHMEM_NO_UNROLL
  for (auto u = static_cast<uint32_t>(Part::thread()); u < units; u += kInHand * threads) {
    Unit unit[kInHand];
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < kInHand; ++j)
      if (u + j * threads < units) unit[j] = copying::load(from + u + j * threads);
    RAILSHMEM_NO_UNROLL
    for (uint32_t first = 0; first < part.shape().entries(); first += kEntriesAtOnce) {
      const Entries<kEntriesAtOnce> some(entries + first);
      RAILSHMEM_UNROLL
      for (uint32_t i = 0; i < kEntriesAtOnce; ++i) {
        const uint32_t place = Entry::place(some.at[i]);
        if (place == Entry::kNone) continue;
        Unit* const to = static_cast<Unit*>(call.rows) + uint64_t{part.row_of(place, source, shared)} * units + u;
        RAILSHMEM_UNROLL
        for (uint32_t j = 0; j < kInHand; ++j)
          if (u + j * threads < units) copying::store(to + j * threads, unit[j]);
      }
    }
  }
}

/// Calls with(member) for the members that have experts of the token in hand, the next ones first.
template <class With>
RAILSHMEM_KERNEL inline void for_members(const Part& part, uint64_t mask, const With& with) {
  RAILSHMEM_NO_UNROLL
  for (int32_t i = 1; i <= part.n(); ++i) {
    const int32_t to = part.after(i == part.n() ? 0 : i);
    if ((mask >> to & 1) != 0) with(to);
  }
}

struct PlainPayload {
  /// What a thread has loaded of a token before the token's experts are known.
  struct Held {
    Unit at[kInHand];
  };
  RAILSHMEM_KERNEL static Held load(const Part& part, const DispatchCall& call, uint32_t t) {
    const uint32_t units = part.shape().row_nbytes() / kUnit, threads = static_cast<uint32_t>(Part::threads());
    const auto* const from = static_cast<const Unit*>(call.x) + uint64_t{t} * units;
    Held held{};
    RAILSHMEM_UNROLL
    for (uint32_t j = 0; j < kInHand; ++j) {
      const uint32_t u = static_cast<uint32_t>(Part::thread()) + j * threads;
      if (u < units) held.at[j] = copying::load(from + u);
    }
    return held;
  }
  template <class Place>
  RAILSHMEM_KERNEL static void send(const Place& part, const DispatchCall& call, const Shared&, uint64_t epoch,
                                    uint32_t t, const Held& held, uint64_t mask) {
    const uint32_t units = part.shape().row_nbytes() / kUnit, threads = static_cast<uint32_t>(Part::threads());
    const auto* const from = static_cast<const Unit*>(call.x) + uint64_t{t} * units;
    const uint64_t row = part.layout().row(epoch, part.me(), t);
    for_members(part, mask, [&](int32_t to) {
      auto* const there = part.template room_for<Unit>(to, row);
      auto u = static_cast<uint32_t>(Part::thread());
      RAILSHMEM_UNROLL
      for (uint32_t j = 0; j < kInHand; ++j, u += threads)
        if (u < units) copying::store(there + u, held.at[j]);
      RAILSHMEM_NO_UNROLL
      for (; u < units; u += threads) copying::store(there + u, copying::load(from + u));
    });
  }
  template <class Place>
  RAILSHMEM_KERNEL static void receive(const Place& part, const DispatchCall& call, const Shared& shared,
                                       uint64_t epoch, int32_t source, uint32_t t) {
    copy_to_rows(part, call, shared, epoch, source, t);
  }
};

/// Elements of 8 bits and their scales, as the program gives them.
struct GivenPayload : PlainPayload {
  template <class Place>
  RAILSHMEM_KERNEL static void send(const Place& part, const DispatchCall& call, const Shared& shared, uint64_t epoch,
                                    uint32_t t, const Held& held, uint64_t mask) {
    PlainPayload::send(part, call, shared, epoch, t, held, mask);
    const uint32_t groups = part.shape().groups();
    const uint64_t scales = part.layout().row(epoch, part.me(), t) + part.shape().row_nbytes();
    for_members(part, mask, [&](int32_t to) {
      RAILSHMEM_NO_UNROLL
      for (auto g = static_cast<uint32_t>(Part::thread()); g < groups; g += static_cast<uint32_t>(Part::threads()))
        part.template room_for<float>(to, scales)[g] = call.x_scales[uint64_t{t} * groups + g];
    });
  }
  template <class Place>
  RAILSHMEM_KERNEL static void receive(const Place& part, const DispatchCall& call, const Shared& shared,
                                       uint64_t epoch, int32_t source, uint32_t t) {
    copy_to_rows(part, call, shared, epoch, source, t);
    put_float_scales(part, call, shared, epoch, source, t);
  }
};

/// The power of two that is not less than a float, which is no less than the least normal one.
RAILSHMEM_KERNEL inline float power_from(float value) {
  const uint32_t bits = bits_of(value);
  return float_of((bits & 0x7f800000u) + ((bits & 0x7fffffu) != 0 ? 0x800000u : 0u));
}

/// T: of the tokens. A unit of a token becomes 8 bytes. kPowers: scales are powers of two.
template <class T, bool kPowers>
struct ScaledPayload {
  static constexpr uint32_t kElements = kUnit / sizeof(T);
  static constexpr uint32_t kUnitsOfGroup = kScaled / kElements;
  static constexpr float kLargest = 448.0F, kLeast = 1e-4F;
  struct alignas(kUnit) Elements {
    T at[kElements];
  };

  struct Held {};
  RAILSHMEM_KERNEL static Held load(const Part&, const DispatchCall&, uint32_t) { return {}; }
  template <class Place>
  RAILSHMEM_KERNEL static void send(const Place& part, const DispatchCall& call, Shared& shared, uint64_t epoch,
                                    uint32_t t, const Held&, uint64_t mask) {
    const uint32_t units = static_cast<uint32_t>(part.shape().hidden) / kElements;
    const auto* const from = static_cast<const Elements*>(call.x) + uint64_t{t} * units;
    const uint64_t row = part.layout().row(epoch, part.me(), t);
    const auto thread = static_cast<uint32_t>(Part::thread()), threads = static_cast<uint32_t>(Part::threads());
    RAILSHMEM_NO_UNROLL
    for (uint32_t g = thread; g < part.shape().groups(); g += threads) shared.most[g] = bits_of(kLeast);
    threads::sync_block();
    RAILSHMEM_NO_UNROLL
    for (uint32_t u = thread; u < units; u += threads) {
      const Elements unit = from[u];
      uint32_t most = 0;  // bits of floats without signs are ordered as the floats are
      RAILSHMEM_UNROLL
      for (uint32_t i = 0; i < kElements; ++i) {
        const uint32_t one = bits_of(unit.at[i].value()) & 0x7fffffffu;
        if (one > most) most = one;
      }
      raise_to(&shared.most[u / kUnitsOfGroup], most);
    }
    threads::sync_block();
    RAILSHMEM_NO_UNROLL
    for (uint32_t u = thread; u < units; u += threads) {
      const Elements unit = from[u];
      const float most = float_of(shared.most[u / kUnitsOfGroup]);
      const float scale = kPowers ? power_from(most / kLargest) : most / kLargest;
      const float factor = kPowers ? 1.0F / scale : kLargest / most;
      uint64_t made = 0;
      RAILSHMEM_UNROLL
      for (uint32_t i = 0; i < kElements; ++i)
        made |= uint64_t{Float8E4M3(unit.at[i].value() * factor).bits()} << (8 * i);
      for_members(part, mask, [&](int32_t to) {
        part.template room_for<uint64_t>(to, row)[u] = made;
        if (u % kUnitsOfGroup == 0)
          part.template room_for<float>(to, row + part.shape().row_nbytes())[u / kUnitsOfGroup] = scale;
      });
    }
  }
  template <class Place>
  RAILSHMEM_KERNEL static void receive(const Place& part, const DispatchCall& call, const Shared& shared,
                                       uint64_t epoch, int32_t source, uint32_t t) {
    copy_to_rows(part, call, shared, epoch, source, t);
    if (kPowers && part.shape().scaling == Scaling::exponents)
      put_scales<uint32_t, kPacked>(part, call, shared, epoch, source, t, [](const float* scales) {
        uint32_t four = 0;
        RAILSHMEM_UNROLL
        for (uint32_t j = 0; j < kPacked; ++j) four |= bits_of(scales[j]) >> 23 << (8 * j);
        return four;
      });
    else
      put_float_scales(part, call, shared, epoch, source, t);
  }

 private:
  static constexpr uint32_t kPacked = 4;  ///< exponents in a word
};

}  // namespace railshmem::moe::kernels
