// SPDX-License-Identifier: BSD-3-Clause
// A bootstrap for PEs that are threads of one process.
#pragma once

#include <barrier>
#include <cstring>
#include <vector>

#include "src/plugin/bootstrap.h"

namespace railshmem {

/// What the PEs of one job share.
class ThreadMeeting {
 public:
  explicit ThreadMeeting(int npes) : npes_(npes), blobs_(static_cast<size_t>(npes)), barrier_(npes) {}

  void allgather(int pe, std::span<const std::byte> mine, std::span<std::byte> all) {
    blobs_[static_cast<size_t>(pe)] = mine;
    barrier_.arrive_and_wait();
    for (size_t i = 0; i < blobs_.size(); ++i)
      if (!mine.empty()) std::memcpy(all.data() + i * mine.size(), blobs_[i].data(), mine.size());
    barrier_.arrive_and_wait();
  }
  void barrier() { barrier_.arrive_and_wait(); }
  int npes() const { return npes_; }

 private:
  int npes_;
  std::vector<std::span<const std::byte>> blobs_;
  std::barrier<> barrier_;
};

class ThreadBootstrap final : public Bootstrap {
 public:
  ThreadBootstrap(ThreadMeeting& meeting, int pe) : meeting_(meeting), pe_(pe) {}
  std::string_view name() const noexcept override { return "threads"; }
  int pe() const noexcept override { return pe_; }
  int npes() const noexcept override { return meeting_.npes(); }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    meeting_.allgather(pe_, mine, all);
  }
  void barrier() override { meeting_.barrier(); }
  void notify_end(int, std::string_view) noexcept override {}

 private:
  ThreadMeeting& meeting_;
  const int pe_;
};

}  // namespace railshmem
