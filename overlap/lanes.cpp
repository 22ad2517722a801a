// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/lanes.h"

namespace railshmem::overlap {
namespace {

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kWithoutTiming = 2;
constexpr int kHighPriority = -5;  // the driver takes the nearest that it has
constexpr int kUsualPriority = 0;

}  // namespace

Lanes::Lanes() {
  for (Event& mark : marks_) must(driver().event_create(&mark, kWithoutTiming), "cuEventCreate");
  for (Stream& stream : streams_) {
    const int priority = &stream == &streams_.back() ? kUsualPriority : kHighPriority;  // products stand back
    must(driver().stream_create(&stream, kNonBlocking, priority), "cuStreamCreateWithPriority");
  }
}

Lanes::~Lanes() {
  for (const Stream stream : streams_)
    if (stream != nullptr) driver().stream_destroy(stream);
  for (const Event mark : marks_)
    if (mark != nullptr) driver().event_destroy(mark);
}

void Lanes::mark(Stream earlier, size_t which) const {
  must(driver().event_record(marks_[which], earlier), "cuEventRecord");
}

void Lanes::follow_mark(Stream later, size_t which) const {
  must(driver().stream_wait_event(later, marks_[which], 0), "cuStreamWaitEvent");
}

}  // namespace railshmem::overlap
