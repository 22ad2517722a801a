// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/lt_search.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem::overlap {
namespace {

constexpr size_t kRounds = 5;                        // the first one loads kernels and does not count
constexpr float kClearly = 0.98f;                    // times of one algorithm differ by a percent
constexpr auto kPatience = std::chrono::seconds(5);  // for 40 products, each of which takes milliseconds

/// This thread may allocate and wait although another one captures a graph.
class BesideCaptures {
 public:
  BesideCaptures() { must(driver().exchange_capture_mode(&mode_), "cuThreadExchangeStreamCaptureMode"); }
  ~BesideCaptures() { driver().exchange_capture_mode(&mode_); }
  BesideCaptures(const BesideCaptures&) = delete;

 private:
  static constexpr int kRelaxed = 2;
  int mode_ = kRelaxed;
};

/// Memory for the operands of a product, from the first of its stream's work to the last.
class Scratch {
 public:
  Scratch(const ProductKey& key, size_t room_nbytes, Stream stream) : stream_(stream) {
    const size_t a = key.transposed_a != 0 ? extent(key.k, key.rows, key.lda) : extent(key.rows, key.k, key.lda);
    const size_t b = key.transposed_b != 0 ? extent(key.n, key.k, key.ldb) : extent(key.k, key.n, key.ldb);
    const size_t place_a = take(sizeof(float)),  // behind the scales, which are one number
        place_b = take(a * element_of(key.type) + key.align_a),
                 place_c = take(b * element_of(key.b_type) + key.align_b),
                 place_bias = take(extent(key.rows, key.n, key.ldc) * element_of(key.result_type) + key.align_c),
                 place_room = take((key.bias ? key.n : 0) * element_of(key.result_type) + key.align_bias);
    const size_t nbytes = take(room_nbytes);
    must(driver().alloc_async(&base_, nbytes, stream), text("cuMemAllocAsync of %zu bytes", nbytes).c_str());
    // Of each type a number that is finite and not zero. What it is hardly changes which algorithm is the fastest.
    constexpr unsigned char kFill = 0x3c;
    driver().fill_async(base_, kFill, nbytes, stream);
    const auto* const scale = static_cast<const float*>(pointer_of(base_));
    operands_ = {at(place_a, key.align_a),       at(place_b, key.align_b),
                 at(place_c, key.align_c),       at(place_c, key.align_c),
                 at(place_bias, key.align_bias), key.a_scaled ? scale : nullptr,
                 key.b_scaled ? scale : nullptr, 1,
                 key.adds ? 1.0f : 0.0f};
    room_ = {at(place_room, kMostAlignment), room_nbytes};
  }
  ~Scratch() { driver().free_async(base_, stream_); }
  Scratch(const Scratch&) = delete;

  const Operands& operands() const noexcept { return operands_; }
  const Room& room() const noexcept { return room_; }

 private:
  static size_t element_of(int type) noexcept {
    return is_float8(type) ? 1 : type == SHMEMX_DATATYPE_FLOAT ? sizeof(float) : sizeof(uint16_t);
  }
  static size_t extent(size_t rows, size_t columns, size_t leading) noexcept { return (rows - 1) * leading + columns; }
  /// Takes that many bytes; returns where those behind them begin.
  size_t take(size_t nbytes) noexcept { return taken_ = align_up(taken_ + nbytes, kMostAlignment); }
  /// An address there that is a multiple of `alignment` and of no greater power of two.
  void* at(size_t place, unsigned alignment) const noexcept {
    return pointer_of(base_ + place + alignment % kMostAlignment);
  }

  const Stream stream_;
  size_t taken_ = 0;
  Address base_ = 0;
  Operands operands_{};
  Room room_{};
};

/// Marks in a stream, with times.
class Marks {
 public:
  explicit Marks(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      Event made = nullptr;
      must(driver().event_create(&made, 0), "cuEventCreate");
      events_.emplace_back(made);
    }
  }
  void set(size_t i, Stream stream) const { must(driver().event_record(events_[i].get(), stream), "cuEventRecord"); }
  /// Milliseconds from mark i to the next.
  float behind(size_t i) const {
    float ms = 0;
    must(driver().event_elapsed(&ms, events_[i].get(), events_[i + 1].get()), "cuEventElapsedTime");
    return ms;
  }
  /// Whether the stream comes to the last one in time.
  bool reached() const {
    constexpr Result kNotReady = 600;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
      const Result result = driver().event_query(events_.back().get());
      if (result == 0) return true;
      if (result != kNotReady) must(result, "cuEventQuery");
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

 private:
  struct Close {
    void operator()(Event event) const { driver().event_destroy(event); }
  };
  std::vector<std::unique_ptr<CUevent_st, Close>> events_;
};

}  // namespace

LtSearch::~LtSearch() {
  if (stream_ != nullptr) driver().stream_destroy(stream_);
}

std::optional<size_t> LtSearch::fastest(lt::Handle handle, const LtProduct& product,
                                        std::span<const lt::Algorithm> candidates, size_t room_nbytes) {
  if (stuck_) return std::nullopt;
  try {
    const BesideCaptures beside;
    constexpr unsigned kNonBlocking = 1;
    if (stream_ == nullptr) must(driver().stream_create(&stream_, kNonBlocking, 0), "cuStreamCreateWithPriority");
    const size_t n = candidates.size();
    const Marks marks(kRounds * n + 1);
    const Scratch scratch(product.key(), room_nbytes, stream_);
    std::vector<float> best(n, std::numeric_limits<float>::infinity());
    std::vector<bool> refused(n);
    for (size_t i = 0; i < kRounds * n; ++i) {
      marks.set(i, stream_);
      if (refused[i % n]) continue;
      refused[i % n] = product.give(handle, candidates[i % n], scratch.operands(), scratch.room(), stream_) != 0;
    }
    marks.set(kRounds * n, stream_);
    stuck_ = !marks.reached();
    if (stuck_) throw Error(text("the GPU did not come to it in %d s", static_cast<int>(kPatience.count())));
    for (size_t i = n; i < kRounds * n; ++i)
      if (!refused[i % n]) best[i % n] = std::min(best[i % n], marks.behind(i));
    const auto fastest = std::min_element(best.begin(), best.end());
    return *fastest < kClearly * best[0] ? static_cast<size_t>(fastest - best.begin()) : 0;
  } catch (const std::exception& e) {
    log_warn("no search for the fastest %s: %s; cuBLASLt's heuristic chooses", text_of(product.key()).c_str(),
             e.what());
    return std::nullopt;
  }
}

std::string gpu_name() {
  constexpr int kMultiprocessors = 16;  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: parts of a GPU have fewer
  int device = 0, version = 0, multiprocessors = 0;
  std::array<char, 256> name{};
  must(driver().context_device(&device), "cuCtxGetDevice");
  must(driver().device_name(name.data(), static_cast<int>(name.size()), device), "cuDeviceGetName");
  must(driver().device_attribute(&multiprocessors, kMultiprocessors, device), "cuDeviceGetAttribute");
  must(driver().driver_version(&version), "cuDriverGetVersion");
  return text("%s of %d multiprocessors, driver %d", name.data(), multiprocessors, version);
}

}  // namespace railshmem::overlap
