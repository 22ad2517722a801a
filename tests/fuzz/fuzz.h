// SPDX-License-Identifier: BSD-3-Clause
// A fuzz target: a function of one input, which no input may crash, hang, or make leave a stated property. libFuzzer
// drives it (libfuzzer.cpp), or the checked-in inputs are replayed without libFuzzer (replay.cpp).
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace railshmem::fuzz {

/// An input, taken apart from its begin. What is beyond its end reads as zero, so every input is whole.
class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}

  bool empty() const noexcept { return rest_.empty(); }
  std::span<const std::byte> rest() const noexcept { return rest_; }
  uint8_t u8() noexcept { return number<uint8_t>(); }
  uint16_t u16() noexcept { return number<uint16_t>(); }
  uint32_t u32() noexcept { return number<uint32_t>(); }
  uint64_t u64() noexcept { return number<uint64_t>(); }

  /// A copy on the heap of exactly this size, so that AddressSanitizer sees each byte that is read beyond its end.
  std::vector<std::byte> bytes(size_t n) {
    n = n < rest_.size() ? n : rest_.size();
    std::vector<std::byte> out(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(n));
    rest_ = rest_.subspan(n);
    return out;
  }
  /// What the input has left of these bytes; the others stay as they are.
  void fill(std::span<std::byte> out) noexcept {
    const size_t n = out.size() < rest_.size() ? out.size() : rest_.size();
    if (n > 0) std::memcpy(out.data(), rest_.data(), n);
    rest_ = rest_.subspan(n);
  }
  std::vector<std::byte> all() { return bytes(rest_.size()); }
  std::string text(size_t n) {
    const std::vector<std::byte> out = bytes(n);
    return std::string(reinterpret_cast<const char*>(out.data()), out.size());
  }
  std::string text() { return text(rest_.size()); }
  /// Up to the next line feed, which it takes away.
  std::string line() {
    size_t n = 0;
    while (n < rest_.size() && rest_[n] != std::byte{'\n'}) ++n;
    std::string out = text(n);
    if (!rest_.empty()) rest_ = rest_.subspan(1);
    return out;
  }

 private:
  template <class Number>
  Number number() noexcept {
    Number value = 0;
    fill(std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  std::span<const std::byte> rest_;
};

/// Standard error as it was at the start: libFuzzer may close it, because the library's messages would fill the log.
inline const int kReports = dup(STDERR_FILENO);

/// Ends the process as a crash does, so that libFuzzer keeps the input.
inline void must(bool holds, const char* property) {
  if (holds) return;
  dprintf(kReports, "fuzz: this property does not hold: %s\n", property);
  std::abort();
}

using Data = std::vector<std::byte>;

inline Data seed(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}
inline Data joined(std::initializer_list<std::span<const std::byte>> parts) {
  Data out;
  for (const auto part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

struct Target {
  const char* name;
  void (*run)(Input input);
  std::vector<Data> (*seeds)();  ///< inputs from which libFuzzer begins, made by the library's own functions
};

/// Every target that is linked into this program.
inline std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

struct Registered {
  explicit Registered(const Target& target) { targets().push_back(target); }
};

}  // namespace railshmem::fuzz

/// RAILSHMEM_FUZZ(name, seeds) { ... }: defines a target. The braces have its input as `input`; seeds: a function.
#define RAILSHMEM_FUZZ(name, seeds)                                                           \
  static void run_##name(railshmem::fuzz::Input input);                                       \
  static const railshmem::fuzz::Registered registered_##name({#name, &run_##name, &(seeds)}); \
  static void run_##name(railshmem::fuzz::Input input)
