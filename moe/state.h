// SPDX-License-Identifier: BSD-3-Clause
// What a handle of the program stands for.
#pragma once

#include <shmemx_moe.h>

#include "moe/loaded_kernels.h"

namespace railshmem::moe {

/// Which call may follow.
enum class Stage { idle, dispatch_sent, dispatched, combine_sent, combined };

}  // namespace railshmem::moe

struct shmemx_moe {
  shmemx_moe(shmem_team_t team, const shmemx_topology_t& where, const shmemx_moe_config_t& config, void* workspace,
             size_t nbytes);

  /// Throw Error; then nothing happened.
  void dispatch(const shmemx_moe_dispatch_t& asked, railshmem::moe::Stream stream);
  void combine(const shmemx_moe_combine_t& asked, railshmem::moe::Stream stream);
  void complete(railshmem::moe::Stream stream);
  void mask(int member, railshmem::moe::Stream stream);
  void unmask(int member, railshmem::moe::Stream stream);  ///< member -1: all
  void masked(int32_t* masked, railshmem::moe::Stream stream) const;
  void meet(railshmem::moe::Stream stream) const;

 private:
  void give(const railshmem::moe::DispatchCall& call, railshmem::moe::Stream stream) const;
  void give(const railshmem::moe::CombineCall& call, railshmem::moe::Stream stream) const;
  void refuse_combine_at_the_wrong_time() const;
  void refuse_beside_half_a_call() const;
  void take_mask();
  uint64_t other_member(int member) const;
  railshmem::moe::MaskCall mask_call() const;

  const shmemx_moe_config_t config_;
  const railshmem::moe::LoadedKernels kernels_;
  const unsigned dispatch_threads_, combine_threads_;
  railshmem::moe::DispatchCall dispatch_{};
  railshmem::moe::CombineCall combine_{};
  railshmem::moe::Stage stage_ = railshmem::moe::Stage::idle;
  uint32_t combines_ = 0;  ///< of the last dispatch
  bool captured_ = false;  ///< the last dispatch went into a graph
};
