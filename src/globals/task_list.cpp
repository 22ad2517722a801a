// SPDX-License-Identifier: BSD-3-Clause
#include "src/globals/task_list.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdint>

#include "src/base/error.h"
#include "src/base/fds.h"
#include "src/globals/raw_syscall.h"

namespace railshmem {
namespace {

constexpr long kHalf = kTaskScratch / 2;

/// The kernel's struct linux_dirent64, which libc does not declare.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

/// "/proc/self/task/<tid>/status" without printf, which may take locks.
RAILSHMEM_BARE void write_path(char* out, int tid) noexcept {
  for (const char* from = "/proc/self/task/"; *from != '\0'; ++from) *out++ = *from;
  char digits[16];
  int n = 0;
  for (int rest = tid; rest != 0; rest /= 10) digits[n++] = static_cast<char>('0' + rest % 10);
  while (n > 0) *out++ = digits[--n];
  for (const char* from = "/status"; *from != '\0'; ++from) *out++ = *from;
  *out = '\0';
}

/// What follows `key` at the start of a line; null when it is not there.
RAILSHMEM_BARE const char* field(const char* text, const char* key) noexcept {
  for (const char* line = text; *line != '\0'; ++line) {
    int n = 0;
    while (key[n] != '\0' && line[n] == key[n]) ++n;
    if (key[n] == '\0') {
      const char* value = line + n;
      while (*value == ' ' || *value == '\t') ++value;
      return value;
    }
    while (*line != '\n' && *line != '\0') ++line;
    if (*line == '\0') break;
  }
  return nullptr;
}

RAILSHMEM_BARE uint64_t hexadecimal(const char* digits) noexcept {
  uint64_t value = 0;
  for (;; ++digits) {
    const char c = *digits;
    if (c >= '0' && c <= '9')
      value = value * 16 + static_cast<uint64_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = value * 16 + static_cast<uint64_t>(c - 'a' + 10);
    else
      return value;
  }
}

}  // namespace

RAILSHMEM_BARE TaskList::TaskList(char* scratch) noexcept
    : scratch_(scratch),
      fd_(static_cast<int>(raw(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0))) {
  failed_ = fd_ < 0;
}

RAILSHMEM_BARE TaskList::~TaskList() {
  if (fd_ >= 0) raw(SYS_close, fd_);
}

RAILSHMEM_BARE int TaskList::next() noexcept {
  while (!failed_) {
    if (at_ == filled_) {
      filled_ = raw(SYS_getdents64, fd_, scratch_, kHalf);
      at_ = 0;
      failed_ = filled_ < 0;
      if (filled_ <= 0) return 0;
    }
    const auto* entry = reinterpret_cast<const DirectoryEntry*>(scratch_ + at_);
    at_ += entry->length;
    int tid = 0;
    for (const char* c = entry->name; *c >= '0' && *c <= '9'; ++c) tid = tid * 10 + (*c - '0');
    if (tid > 0) return tid;
  }
  return 0;
}

RAILSHMEM_BARE TaskState inspect_task(int tid, int signal, char* scratch) noexcept {
  char path[64];
  write_path(path, tid);
  const int fd = static_cast<int>(raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
  // Any other failure (no descriptor left) proves nothing: such a thread must not count as gone.
  if (fd < 0) return errno == ENOENT || errno == ESRCH ? TaskState::gone : TaskState::blocked;
  char* text = scratch + kHalf;
  const long n = raw(SYS_read, fd, text, kHalf - 1);
  raw(SYS_close, fd);
  if (n <= 0) return TaskState::gone;  // it exited between the two calls
  text[n] = '\0';
  const char* state = field(text, "State:");
  if (state != nullptr && (*state == 'Z' || *state == 'X')) return TaskState::gone;
  const char* mask = field(text, "SigBlk:");
  if (mask == nullptr) return TaskState::blocked;
  return (hexadecimal(mask) >> (signal - 1) & 1) != 0 ? TaskState::blocked : TaskState::ready;
}

std::string task_name(int tid) {
  const std::string name = read_file(text("/proc/self/task/%d/comm", tid));
  return name.empty() ? "?" : name.substr(0, name.find('\n'));
}

}  // namespace railshmem
