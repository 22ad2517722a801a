// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/progress.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace railshmem::perf {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kQuietAtFirst = kSecond;
constexpr uint64_t kBetween = kSecond / 10;
constexpr const char* kErase = "\r\033[K";

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

/// 8, 4K, 1M, as --sizes takes them.
std::string size_text(uint64_t nbytes) {
  constexpr std::pair<int, char> kUnits[] = {{30, 'G'}, {20, 'M'}, {10, 'K'}};
  for (const auto& [shift, letter] : kUnits)
    if (nbytes >= uint64_t{1} << shift && nbytes % (uint64_t{1} << shift) == 0)
      return std::to_string(nbytes >> shift) + letter;
  return std::to_string(nbytes);
}

}  // namespace

Terminal Terminal::find() {
  if (isatty(STDERR_FILENO)) return {STDERR_FILENO, false};
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", static_cast<int>(getppid()), STDERR_FILENO);
  const int descriptor = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0 && isatty(descriptor)) return {descriptor, true};
  if (descriptor >= 0) close(descriptor);
  return {-1, false};
}

Terminal::Terminal(Terminal&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), owned_(std::exchange(other.owned_, false)) {}

Terminal::~Terminal() {
  if (owned_) close(descriptor_);
}

int Terminal::columns() const noexcept {
  constexpr int kUsual = 80;
  winsize size{};
  return ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

void Terminal::write(const std::string& text) const noexcept {
  // Text that the terminal does not take now is drawn again soon.
  [[maybe_unused]] const ssize_t written = ::write(descriptor_, text.data(), text.size());
}

Progress::Progress(Terminal terminal, size_t benches)
    : terminal_(std::move(terminal)), benches_(std::max<size_t>(benches, 1)), started_ns_(now_ns()) {}

Progress::~Progress() {
  if (shown_) terminal_.write(kErase);
}

void Progress::begin(const char* bench, size_t rows) {
  bench_ = bench;
  expected_ = std::max<size_t>(rows, 1);
  rows_ = 0;
  bytes_ = 0;
  ++begun_;
  draw();
}

void Progress::row(uint64_t bytes) {
  ++rows_;
  bytes_ = bytes;
  draw();
}

void Progress::draw() {
  if (!terminal_.exists()) return;
  const uint64_t now = now_ns();
  if (now - started_ns_ < kQuietAtFirst || now - drawn_ns_ < kBetween) return;
  drawn_ns_ = now;
  shown_ = true;
  // The last column stays free: some terminals would go to the next line.
  const auto width = static_cast<size_t>(std::max(terminal_.columns() - 1, 0));
  // The cursor returns to the first column: what others write, such as a warning, begins there.
  terminal_.write(kErase + line(static_cast<double>(now - started_ns_) * 1e-9, width) + "\r");
}

/// "[########            ]  41 %  put_bw 64K, bench 3 of 7, 12 s"
std::string Progress::line(double seconds, size_t width) const {
  constexpr size_t kBar = 20;
  // Some benches report several rows a size.
  const double of_bench = std::min(1.0, static_cast<double>(rows_) / static_cast<double>(expected_));
  const double done = std::min(1.0, (static_cast<double>(begun_) - 1 + of_bench) / static_cast<double>(benches_));
  const auto filled = static_cast<size_t>(std::floor(done * kBar));
  std::string out = "[" + std::string(filled, '#') + std::string(kBar - filled, ' ') + "]";
  char text[160];
  snprintf(text, sizeof text, " %3.0f %%  %s%s%s, bench %zu of %zu, %.0f s", std::floor(done * 100), bench_,
           bytes_ ? " " : "", bytes_ ? size_text(bytes_).c_str() : "", begun_, benches_, seconds);
  out += text;
  return out.substr(0, width);
}

}  // namespace railshmem::perf
