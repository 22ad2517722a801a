// SPDX-License-Identifier: BSD-3-Clause
// One line on the terminal that says how far a long run is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace railshmem::perf {

/// A terminal for this process's standard error, and the right to close it.
class Terminal {
 public:
  /// Finds the terminal: standard error itself, or, where standard error is a pipe to a launcher on this host, the
  /// launcher's. The result writes nowhere where neither is a terminal.
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

/// The line of the process that prints. It shows nothing during the first second, so that short runs stay as they are,
/// and draws at most ten times a second, between measurements. The destructor removes the line.
class Progress {
 public:
  Progress(Terminal terminal, size_t benches);
  ~Progress();
  Progress(const Progress&) = delete;

  /// The next bench; it is expected to report `rows` rows.
  void begin(const char* bench, size_t rows);
  /// The bench has another row, of messages of `bytes` bytes (0: none).
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
