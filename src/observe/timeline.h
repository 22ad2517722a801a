// SPDX-License-Identifier: BSD-3-Clause
// The timeline file: JSON that Perfetto and chrome://tracing read, made of parts that one process each wrote.
//
// A part is a valid file of its own. Its body holds one event a line, each ending with a comma, and its last event
// stands in the footer: so parts are joined by copying bodies.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "src/base/unique.h"
#include "src/observe/clock.h"
#include "src/observe/kind.h"

namespace railshmem::observe {

/// The place of a part's body in its file, and how many events it has.
struct PartInfo {
  uint64_t nbytes = 0;  ///< 0: there is no part
  uint64_t body_at = 0;
  uint64_t body_nbytes = 0;
  uint64_t events = 0;
  uint64_t dropped = 0;
};
static_assert(std::is_trivially_copyable_v<PartInfo>);

/// Text inside JSON quotes.
std::string json_escape(const std::string& text);

/// Writes one file. Throws Error.
class TimelineWriter {
 public:
  /// `pe` numbers the process; `clock` must be calibrated and outlive this.
  TimelineWriter(const std::string& path, int pe, const Clock& clock);

  /// How a thread or the process is called in the picture.
  void name_thread(int thread, const std::string& name);
  void name_process(const std::string& name);
  void write(int thread, std::span<const Event> events);
  /// The body of another file.
  void append_part(const std::string& path, const PartInfo& part);
  /// Ends the file; the sums stand in its last event.
  PartInfo finish(uint64_t dropped, int pes);

 private:
  void line(const std::string& text);
  void flush();

  const std::string path_;
  const int pe_;
  const Clock& clock_;
  UniqueFd fd_;
  std::string buffer_;
  uint64_t written_ = 0;
  uint64_t body_at_ = 0;
  uint64_t events_ = 0;
};

/// Size of a file, 0 when it is not there.
uint64_t file_size(const std::string& path) noexcept;

}  // namespace railshmem::observe
