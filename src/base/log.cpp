// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/log.h"

#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "src/base/job_end.h"
#include "src/base/printable.h"
#include "src/base/process.h"

namespace railshmem {
namespace {

thread_local int t_pe = -1;

/// "12345.678 ", the machine's uptime, for whoever has to compare what several PEs did; nothing below debug.
void print_time(char* text, size_t nbytes) noexcept {
  text[0] = '\0';
  if (!log_enabled(LogLevel::debug)) return;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  std::snprintf(text, nbytes, "%lld.%03ld ", static_cast<long long>(now.tv_sec), now.tv_nsec / 1000000);
}

/// Writes the line with one write() so that lines of several PEs do not mix. A message may hold text of peers, hosts or
/// strangers, so it leaves as printable().
void print_line(const char* level, const char* format, va_list args) noexcept {
  char line[2048];
  char time[32];
  print_time(time, sizeof time);
  const int pe = log_pe();
  const int n =
      pe >= 0 ? std::snprintf(line, sizeof line, "%srailshmem: PE %d: %s", time, pe, level)
              : std::snprintf(line, sizeof line, "%srailshmem: pid %d: %s", time, static_cast<int>(getpid()), level);
  char message[sizeof line];
  if (std::vsnprintf(message, sizeof message, format, args) < 0) message[0] = '\0';
  size_t nbytes = static_cast<size_t>(n);
  nbytes += write_printable(line + nbytes, sizeof line - nbytes - 1, message);
  line[nbytes] = '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, nbytes + 1);
}

}  // namespace

void set_log_level(LogLevel level) noexcept {
  g_process.log.level.store(level, std::memory_order_relaxed);
}
bool log_enabled(LogLevel level) noexcept {
  return level <= g_process.log.level.load(std::memory_order_relaxed);
}

void set_log_pe(int pe) noexcept {
  t_pe = pe;
  int none = -1;
  g_process.log.pe.compare_exchange_strong(none, pe, std::memory_order_relaxed);
}
void set_process_log_pe(int pe) noexcept {
  t_pe = pe;
  g_process.log.pe.store(pe, std::memory_order_relaxed);
}
int log_pe() noexcept {
  return t_pe >= 0 ? t_pe : g_process.log.pe.load(std::memory_order_relaxed);
}

uint64_t warnings_logged() noexcept {
  return g_process.log.warnings.load(std::memory_order_relaxed);
}

#define RAILSHMEM_LOG(level)                 \
  if (!log_enabled(LogLevel::level)) return; \
  va_list args;                              \
  va_start(args, format);                    \
  print_line(#level ": ", format, args);     \
  va_end(args)

void log_error(const char* format, ...) noexcept {
  RAILSHMEM_LOG(error);
}
void log_warn(const char* format, ...) noexcept {
  g_process.log.warnings.fetch_add(1, std::memory_order_relaxed);
  RAILSHMEM_LOG(warn);
}
void log_info(const char* format, ...) noexcept {
  RAILSHMEM_LOG(info);
}
void log_debug(const char* format, ...) noexcept {
  RAILSHMEM_LOG(debug);
}

#undef RAILSHMEM_LOG

void log_report(const char* format, ...) noexcept {
  va_list args;
  va_start(args, format);
  print_line("", format, args);
  va_end(args);
}

void die(const char* format, ...) noexcept {
  char why[1024];
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  std::vsnprintf(why, sizeof why, format, again);
  va_end(again);
  print_line("error: ", format, args);
  va_end(args);
  end_with_error(why);
}

}  // namespace railshmem
