// SPDX-License-Identifier: BSD-3-Clause
// PEs started by a PMI-1 process manager (MPICH's mpiexec): exchange through its key-value space.
#pragma once

#include <sys/types.h>

#include <optional>

#include "bootstrap/pmi/pmi_wire.h"
#include "src/plugin/bootstrap.h"

namespace railshmem {

class PmiBootstrap final : public Bootstrap {
 public:
  PmiBootstrap(double timeout_s, const BootstrapRequest& request);
  ~PmiBootstrap() override;

  std::string_view name() const noexcept override { return "pmi"; }
  int pe() const noexcept override { return pe_; }
  int npes() const noexcept override { return npes_; }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void barrier() override;
  void notify_end(int status, std::string_view why) noexcept override;
  bool notifying_kills() const noexcept override { return true; }
  std::optional<JobEnd> end_told() noexcept override { return heir_ ? heir_->end_told() : std::nullopt; }
  void await_news(int wake, int timeout_ms) noexcept override {
    heir_ ? heir_->await_news(wake, timeout_ms) : Bootstrap::await_news(wake, timeout_ms);
  }
  std::optional<std::string> failure() noexcept override { return heir_ ? heir_->failure() : std::nullopt; }
  void abandon() noexcept override {
    if (heir_) heir_->abandon();
  }

 private:
  void connect_port();
  void connect_fd();

  double timeout_s_;
  pid_t owner_;  ///< a forked child must not finalize in the PE's name
  std::optional<pmi::Wire> wire_;
  int pe_ = 0;
  int npes_ = 1;
  std::string kvs_;
  size_t chunk_nbytes_ = 0;          ///< bytes that fit into one value
  std::unique_ptr<Bootstrap> heir_;  ///< used instead of PMI, where that may end; null elsewhere
  std::string why_no_heir_;          ///< for the message when PMI has ended
};

}  // namespace railshmem
