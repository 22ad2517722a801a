// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/lanes.h"

namespace railshmem::overlap {
namespace {

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kWithoutTiming = 2;
constexpr int kHighPriority = -5;  // the driver takes the nearest that it has

}  // namespace

Lanes::Lanes() {
  must(driver().event_create(&event_, kWithoutTiming), "cuEventCreate");
  for (Stream& stream : streams_)
    must(driver().stream_create(&stream, kNonBlocking, kHighPriority), "cuStreamCreateWithPriority");
}

Lanes::~Lanes() {
  for (const Stream stream : streams_)
    if (stream != nullptr) driver().stream_destroy(stream);
  if (event_ != nullptr) driver().event_destroy(event_);
}

void Lanes::mark(Stream earlier) const {
  must(driver().event_record(event_, earlier), "cuEventRecord");
}

void Lanes::follow_mark(Stream later) const {
  must(driver().stream_wait_event(later, event_, 0), "cuStreamWaitEvent");
}

}  // namespace railshmem::overlap
