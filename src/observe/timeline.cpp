// SPDX-License-Identifier: BSD-3-Clause
#include "src/observe/timeline.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "src/base/error.h"
#include "src/base/trusted_file.h"

namespace railshmem::observe {
namespace {

constexpr size_t kFlushBytes = size_t{1} << 20;

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw Error(text("the timeline of SHMEM_TRACE, '%s', cannot be %s: %s", path.c_str(), what, std::strerror(errno)));
}

UniqueFd own(TrustedFile file, const std::string& path) {
  if (file.fd) return std::move(file.fd);
  errno = file.error;
  if (file.error != 0) fail(path, "made");
  throw Error(text("the timeline of SHMEM_TRACE cannot be made: '%s' %s; name another file", path.c_str(),
                   file.refusal.c_str()));
}

}  // namespace

std::string json_escape(const std::string& in) {
  std::string out;
  for (const char c : in) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += text("\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out;
}

uint64_t file_size(const std::string& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

TimelineWriter::TimelineWriter(const std::string& path, int pe, const Clock& clock)
    : path_(path), pe_(pe), clock_(clock), fd_(own(open_own_output(path, O_WRONLY | O_TRUNC, 0666), path)) {
  line("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  flush();
  body_at_ = written_;
}

void TimelineWriter::name_thread(int thread, const std::string& name) {
  line(text("{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}},", pe_, thread,
            json_escape(name).c_str()));
}

void TimelineWriter::name_process(const std::string& name) {
  line(text("{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"%s\"}},", pe_,
            json_escape(name).c_str()));
  line(text("{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"sort_index\":%d}},", pe_, pe_));
}

void TimelineWriter::write(int thread, std::span<const Event> events) {
  for (const Event& event : events) {
    // Both ends are rounded first, so that what lay inside another event still does.
    const uint64_t began = clock_.ns(event.began);
    const uint64_t lasted = clock_.ns(event.ended) - began;
    char out[512];
    int n =
        std::snprintf(out, sizeof out,
                      "{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%llu.%03llu,"
                      "\"dur\":%llu.%03llu,\"args\":{\"bytes\":%llu",
                      event.name, event.category, pe_, thread, static_cast<unsigned long long>(began / 1000),
                      static_cast<unsigned long long>(began % 1000), static_cast<unsigned long long>(lasted / 1000),
                      static_cast<unsigned long long>(lasted % 1000), static_cast<unsigned long long>(event.nbytes));
    if (event.pe >= 0)
      n += std::snprintf(out + n, sizeof out - static_cast<size_t>(n), ",\"pe\":%d", static_cast<int>(event.pe));
    line(std::string(out, static_cast<size_t>(n)) + "}},");
  }
  events_ += events.size();
}

void TimelineWriter::append_part(const std::string& path, const PartInfo& part) {
  flush();
  const UniqueFd from(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!from) fail(path, "read");
  std::vector<char> block(kFlushBytes);
  for (uint64_t done = 0; done < part.body_nbytes;) {
    const size_t wanted = std::min<uint64_t>(block.size(), part.body_nbytes - done);
    const ssize_t got = ::pread(from.get(), block.data(), wanted, static_cast<off_t>(part.body_at + done));
    if (got <= 0) fail(path, "read");
    buffer_.assign(block.data(), static_cast<size_t>(got));
    flush();
    done += static_cast<uint64_t>(got);
  }
  events_ += part.events;
}

PartInfo TimelineWriter::finish(uint64_t dropped, int pes) {
  flush();
  PartInfo part;
  part.body_at = body_at_;
  part.body_nbytes = written_ - body_at_;
  part.events = events_;
  part.dropped = dropped;
  line(text("{\"name\":\"timeline\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"pes\":%d,\"events\":%llu,\"dropped\":%llu}}",
            pe_, pes, static_cast<unsigned long long>(events_), static_cast<unsigned long long>(dropped)));
  line("]}");
  flush();
  part.nbytes = written_;
  return part;
}

void TimelineWriter::line(const std::string& text) {
  buffer_ += text;
  buffer_ += '\n';
  if (buffer_.size() >= kFlushBytes) flush();
}

void TimelineWriter::flush() {
  for (size_t done = 0; done < buffer_.size();) {
    const ssize_t n = ::write(fd_.get(), buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(path_, "written");
    done += static_cast<size_t>(n);
  }
  written_ += buffer_.size();
  buffer_.clear();
}

}  // namespace railshmem::observe
