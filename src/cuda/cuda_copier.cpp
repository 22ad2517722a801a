// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/cuda_copier.h"

#include <cstring>

#include "src/cuda/context_guard.h"
#include "src/cuda/numa_preference.h"
#include "src/cuda/pointer_info.h"
#include "src/plugin/execute.h"

namespace railshmem::cuda {
namespace {

constexpr size_t kSmall = 32 << 10;  // a copy of this size takes as long as starting it and asking for its end
constexpr Copier::Ticket kDone = 0;
constexpr unsigned kLaneBits = 3;
constexpr size_t kOut = 1;
constexpr size_t kLarge = 2;
constexpr size_t kWords = 4;
constexpr size_t kMostAmos = 64;  // words that are read, and written, by one call of the driver
constexpr size_t kLaneMask = (1 << kLaneBits) - 1;
constexpr size_t kMostByCpu = 4096;   // what messages bring; a CPU stores it across PCIe in 1 us
constexpr size_t kMostReadByCpu = 8;  // a read across PCIe takes 1 us for each word

/// Both sides are the host's.
void copy_by_cpu(std::byte* to, const std::byte* from, size_t nbytes) noexcept {
  if (nbytes != 4 && nbytes != 8) {
    std::memcpy(to, from, nbytes);
    return;
  }
  std::byte word[8];
  read_whole(word, from, nbytes);
  copy_whole(to, word, nbytes);
}

uint64_t word_at(const std::byte* place) noexcept {
  uint64_t word;
  std::memcpy(&word, place, sizeof word);
  return word;
}

bool changes(AmoOp op) noexcept {
  return op != AmoOp::fetch;
}

/// A word of several operations that are executed together.
struct WordInHand {
  std::byte* at;
  std::byte* copy;
  uint8_t width;
  bool must_read;  ///< the first operation looks at it
  bool changes = false;
  uint64_t found = 0;  ///< in the low bytes

  bool overlaps(const WordAmo& amo) const noexcept { return amo.word < at + width && at < amo.word + amo.width; }
  bool is(const WordAmo& amo) const noexcept { return amo.word == at && amo.width == width; }
  uint64_t value() const noexcept {
    uint64_t value = 0;
    std::memcpy(&value, copy, width);
    return value;
  }
};

}  // namespace

CudaCopier::CudaCopier(const DeviceContext& gpu, std::span<const std::byte> heaps,
                       std::shared_ptr<const PinnedBounce> bounce, std::shared_ptr<const CpuWindows> windows)
    : gpu_(gpu),
      heaps_(heaps),
      bounce_(std::move(bounce)),
      windows_(std::move(windows)),
      words_(gpu, kMostAmos * sizeof(uint64_t)),
      lanes_{{BatchLane(gpu), BatchLane(gpu), BatchLane(gpu), BatchLane(gpu), BatchLane(gpu)}},
      stores_(gpu) {}

size_t CudaCopier::lane_for(bool in, size_t nbytes) noexcept {
  return (in ? 0 : kOut) + (nbytes > kSmall ? kLarge : 0);
}
Copier::Ticket CudaCopier::ticket_of(size_t lane, uint64_t number) noexcept {
  return number << kLaneBits | lane;
}

bool CudaCopier::is_heap(const std::byte* place) const noexcept {
  return is_inside(place, heaps_);
}
bool CudaCopier::is_bounce(const std::byte* place) const noexcept {
  return bounce_ != nullptr && bounce_->has(place);
}
bool CudaCopier::is_device(const std::byte* place) const noexcept {
  return is_heap(place) || (!is_bounce(place) && is_device_memory(gpu_.driver(), place));
}

/// Moves short data between the bounce area and a window. False: it does not go that way, and nothing happened.
bool CudaCopier::moved_by_cpu(std::byte* to, const std::byte* from, size_t nbytes) const noexcept {
  if (nbytes <= kMostByCpu && is_bounce(from)) {
    const CpuWindow* const window = window_of(to, nbytes);
    if (window == nullptr) return false;
    window->store(to, from, nbytes);
    window->settle(to);
    return true;
  }
  if (nbytes > kMostReadByCpu || !is_bounce(to)) return false;
  const CpuWindow* const window = window_of(from, nbytes);
  if (window != nullptr) window->load(to, from, nbytes);
  return window != nullptr;
}

/// Stores data, perhaps none, and behind it a word. False: they do not go that way, and nothing happened.
bool CudaCopier::set_by_cpu(std::byte* to, const std::byte* from, size_t nbytes, std::byte* word,
                            uint64_t value) const noexcept {
  const CpuWindow* const window = window_of(word, sizeof value);
  if (window == nullptr || (nbytes > 0 && !moved_by_cpu(to, from, nbytes))) return false;
  window->store(word, reinterpret_cast<const std::byte*>(&value), sizeof value);
  window->settle(word);
  return true;
}

/// Whether the stream had better store the data, which the CPU reads.
bool CudaCopier::goes_as_word(const std::byte* to, const std::byte* from, size_t nbytes) const noexcept {
  return nbytes == sizeof(uint64_t) && reinterpret_cast<uintptr_t>(to) % sizeof(uint64_t) == 0 &&
         lanes_[kWords].stores_at_once() && is_heap(to) && is_bounce(from);
}

Copier::Ticket CudaCopier::start(std::byte* to, const std::byte* from, size_t nbytes) noexcept {
  if (nbytes == 0 || (windows_ != nullptr && moved_by_cpu(to, from, nbytes))) return kDone;
  const ContextGuard guard(gpu_);
  const bool in = is_device(to);
  if (!in && !is_device(from)) {
    copy_by_cpu(to, from, nbytes);
    return kDone;
  }
  const size_t lane = lane_for(in, nbytes);
  if (in && goes_as_word(to, from, nbytes)) {
    const uint64_t value = word_at(from);
    return ticket_of(kWords, lanes_[kWords].set(to, &value));
  }
  const bool known = in ? is_heap(to) && is_bounce(from) : is_heap(from) && is_bounce(to);
  return ticket_of(lane, known ? lanes_[lane].add(to, from, nbytes) : lanes_[lane].start(to, from, nbytes));
}

/// `from` is in a bounce area, as all that targets store.
Copier::Ticket CudaCopier::start_then_set(std::byte* to, const std::byte* from, size_t nbytes, std::byte* word,
                                          uint64_t value) noexcept {
  const ContextGuard guard(gpu_);
  stores_.retire([this](const WordStores::Store& store) { return lanes_[store.lane].is_over(store.number); });
  if (stores_.full()) {
    lanes_[stores_.oldest().lane].wait();
    stores_.retire([this](const WordStores::Store& store) { return lanes_[store.lane].is_over(store.number); });
  }
  // Streams overtake each other, so a word's next store goes where the one before is.
  const auto before = stores_.find(word);
  const bool under_way = before && !lanes_[before->lane].is_over(before->number);
  if (windows_ != nullptr && !under_way && set_by_cpu(to, from, nbytes, word, value)) return kDone;
  const bool in = nbytes > 0 && is_device(to);
  if (nbytes > 0 && !in) copy_by_cpu(to, from, nbytes);
  const bool one_trip = in && goes_as_word(to, from, nbytes) && (!before || before->lane == kWords);
  const size_t lane = before ? before->lane : in && !one_trip ? lane_for(true, nbytes) : kWords;
  const uint64_t* const kept = stores_.keep(value);
  const uint64_t number = one_trip ? lanes_[lane].set_both(to, word_at(from), word, value)
                          : in     ? lanes_[lane].add_then_set(to, from, nbytes, word, kept)
                                   : lanes_[lane].set(word, kept);
  stores_.add({word, number, static_cast<uint8_t>(lane)});
  return ticket_of(lane, number);
}

bool CudaCopier::finished(Ticket ticket) noexcept {
  return ticket == kDone || lanes_[ticket & kLaneMask].reached(ticket >> kLaneBits);
}

bool CudaCopier::alone_reaches(const std::byte* place) noexcept {
  const ContextGuard guard(gpu_);
  return is_device(place);
}

/// `from` and `to`: a word of the GPU, at `in_heap`, and its copy.
void CudaCopier::move_word(std::byte* to, const std::byte* from, uint8_t width, const std::byte* in_heap) noexcept {
  if (const CpuWindow* const window = window_of(in_heap, width); window != nullptr) {
    if (to != in_heap) return window->load(to, from, width);
    window->store(to, from, width);
    return window->settle(to);
  }
  if (is_heap(in_heap)) {
    lanes_[kWords].collect(to, from, width);
  } else {
    lanes_[kWords].start(to, from, width);
  }
}

void CudaCopier::amos(std::span<WordAmo> amos) noexcept {
  const ContextGuard guard(gpu_);
  while (!amos.empty()) amos = amos.subspan(amos_together(amos));
}

/// Returns how many of the first there were executed: up to one whose word is part of another's.
size_t CudaCopier::amos_together(std::span<WordAmo> amos) noexcept {
  std::array<WordInHand, kMostAmos> words;
  std::array<uint8_t, kMostAmos> word_of;
  size_t nwords = 0, n = 0;
  for (; n < amos.size() && n < kMostAmos; ++n) {
    const WordAmo& amo = amos[n];
    size_t w = 0;
    while (w < nwords && !words[w].overlaps(amo)) ++w;
    if (w == nwords) {
      words[nwords++] = {amo.word, words_.host() + w * sizeof(uint64_t), amo.width, amo.op != AmoOp::set};
    } else if (!words[w].is(amo)) {
      break;
    }
    words[w].changes |= changes(amo.op);
    word_of[n] = static_cast<uint8_t>(w);
  }
  const std::span<WordInHand> in_hand(words.data(), nwords);
  for (const WordInHand& word : in_hand)
    if (const auto before = stores_.find(word.at); before && !lanes_[before->lane].is_over(before->number))
      lanes_[before->lane].wait();
  for (const WordInHand& word : in_hand)
    if (word.must_read) move_word(word.copy, word.at, word.width, word.at);
  lanes_[kWords].wait();
  for (WordInHand& word : in_hand) word.found = word.value();
  for (size_t i = 0; i < n; ++i) amos[i].execute_on(words[word_of[i]].copy);
  for (const WordInHand& word : in_hand)
    if (word.changes && !(word.must_read && word.value() == word.found))
      move_word(word.at, word.copy, word.width, word.at);
  lanes_[kWords].wait();
  return n;
}

MakeCopier make_cuda_copiers(const DeviceContext& gpu, std::span<const std::byte> heaps,
                             std::shared_ptr<const CpuWindows> windows) {
  return [&gpu, heaps, windows = std::move(windows),
          known = std::weak_ptr<const PinnedBounce>()](const BounceMemory& bounce) mutable {
    std::shared_ptr<const PinnedBounce> pinned = known.lock();
    if (pinned == nullptr || pinned->own().data() != bounce.own.data()) {
      const NumaPreference near(gpu.capabilities().host_numa_node);  // for pages that nobody has touched yet
      pinned = std::make_shared<const PinnedBounce>(gpu, bounce);
      known = pinned;
    }
    return std::make_unique<CudaCopier>(gpu, heaps, std::move(pinned), windows);
  };
}

}  // namespace railshmem::cuda
