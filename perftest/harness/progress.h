// SPDX-License-Identifier: BSD-3-Clause
// One line on the terminal that says how far a long run is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace railshmem::perf {

/// A terminal that shows what this process writes to standard error, and the right to close it.
class Terminal {
 public:
  /// Standard error itself. Under a launcher that is a pipe; then that of the launcher, when it runs on this host.
  /// Nowhere when that is no terminal either.
  static Terminal find();
  /// Writes nowhere, where `descriptor` is -1. `owned`: closed in the end.
  Terminal(int descriptor, bool owned) noexcept : descriptor_(descriptor), owned_(owned) {}
  Terminal(Terminal&& other) noexcept;
  Terminal& operator=(Terminal&&) = delete;
  ~Terminal();

  bool exists() const noexcept { return descriptor_ >= 0; }
  int columns() const noexcept;
  void write(const std::string& text) const noexcept;

 private:
  int descriptor_;
  bool owned_;
};

/// Of the process that speaks. Shows nothing during the first second, so that short runs stay as they are, and draws at
/// most ten times a second, between what is measured. The line is gone when this is destroyed.
class Progress {
 public:
  Progress(Terminal terminal, size_t benches);
  ~Progress();
  Progress(const Progress&) = delete;

  /// The next bench; it is expected to report `rows` rows.
  void begin(const char* bench, size_t rows);
  /// A row of it is there, of messages of so many bytes (0: none).
  void row(uint64_t bytes);

 private:
  void draw();
  std::string line(double seconds, size_t width) const;

  const Terminal terminal_;
  const size_t benches_;
  size_t begun_ = 0;
  const char* bench_ = "";
  size_t expected_ = 1;
  size_t rows_ = 0;
  uint64_t bytes_ = 0;
  uint64_t started_ns_;
  uint64_t drawn_ns_ = 0;
  bool shown_ = false;
};

}  // namespace railshmem::perf
