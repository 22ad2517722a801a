// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/descriptors.h"

#include "src/base/error.h"
#include "src/base/fds.h"

namespace railshmem::oshrun {
namespace {

// Starting a PE needs the other ends of its socket and its pipes and one pipe more for a moment; looking for what a job
// leaves behind needs one.
constexpr size_t kSpare = 8;

}  // namespace

size_t open_descriptors() {
  const Folder all = open_folder("/proc/self/fd");
  if (!all) return 0;
  size_t entries = 0;
  while (readdir(all.get())) ++entries;
  return entries - 3;  // without ".", ".." and the one that reads the folder
}

Descriptors::Descriptors() noexcept {
  if (getrlimit(RLIMIT_NOFILE, &before_) != 0) return;
  now_ = before_;
  now_.rlim_cur = now_.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &now_) != 0) now_ = before_;
}

void Descriptors::need(int npes, int per_pe) const {
  const size_t wanted = open_descriptors() + static_cast<size_t>(npes) * static_cast<size_t>(per_pe) + kSpare;
  if (now_.rlim_cur == 0 || wanted <= now_.rlim_cur) return;
  throw Error(
      text("%d PEs need %zu descriptors, and this process may have %llu (ulimit -Hn): start fewer PEs%s or "
           "raise that limit",
           npes, wanted, static_cast<unsigned long long>(now_.rlim_cur), per_pe > 1 ? ", leave --tag-output out" : ""));
}

void Descriptors::restore() const noexcept {
  setrlimit(RLIMIT_NOFILE, &before_);
}

}  // namespace railshmem::oshrun
