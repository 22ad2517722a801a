// SPDX-License-Identifier: BSD-3-Clause
// Calls that mask members of a handle's team.
#include "moe/checks.h"
#include "moe/state.h"
#include "src/base/error.h"

using namespace railshmem;
using namespace railshmem::moe;

void shmemx_moe::take_mask() {
  constexpr uint64_t kNsPerMs = 1000000;
  Members& mine = dispatch_.members;
  const Members& keeper = config_.mask_of == nullptr ? mine : config_.mask_of->dispatch_.members;
  if (config_.mask_of != nullptr && config_.mask_of->config_.maskable == 0)
    throw Error("mask_of is a handle without maskable; pass one that has a mask");
  bool alike = keeper.shape.n == mine.shape.n;
  mine.signs = keeper.memory[keeper.me] + keeper.signs - mine.memory[mine.me];
  for (int m = 0; alike && m < mine.shape.n; ++m) {
    alike = keeper.pe[m] == mine.pe[m];
    if (mine.memory[m] == nullptr) continue;  // of another node; symmetric memory is alike there
    alike = alike && keeper.memory[m] + keeper.signs - mine.memory[m] == mine.signs;
  }
  if (!alike)
    throw Error("mask_of is a handle of other members, or its workspace is another allocation by registration");
  mine.mask = reinterpret_cast<uint64_t*>(mine.memory[mine.me] + mine.signs + Layout::kMask);
  mine.mask_ns = static_cast<uint64_t>(config_.mask_after_ms) * kNsPerMs;
}

uint64_t shmemx_moe::other_member(int member) const {
  const Members& members = dispatch_.members;
  check_range("member", member, 0, members.shape.n - 1);
  if (member == members.me) throw Error(text("member is %d, this PE itself; the other members mask it", member));
  return uint64_t{1} << member;
}

MaskCall shmemx_moe::mask_call() const {
  if (config_.maskable == 0) throw Error("the handle was made without maskable; set it to 1 in the configuration");
  MaskCall call{};
  call.members = dispatch_.members;
  return call;
}

void shmemx_moe::mask(int member, Stream stream) {
  MaskCall call = mask_call();
  call.set = other_member(member);
  kernels_.give(call, stream);
}

void shmemx_moe::unmask(int member, Stream stream) {
  MaskCall call = mask_call();
  refuse_beside_half_a_call();
  const uint64_t all = ~uint64_t{0} >> (64 - call.members.shape.n);
  call.cleared = member == -1 ? all & ~(uint64_t{1} << call.members.me) : other_member(member);
  kernels_.give(call, stream);
  stage_ = Stage::idle;
}

void shmemx_moe::masked(int32_t* masked, Stream stream) const {
  MaskCall call = mask_call();
  check_pointer("masked", masked, true, sizeof(int32_t));
  call.masked = masked;
  kernels_.give(call, stream);
}

void shmemx_moe::meet(Stream stream) const {
  MaskCall call = mask_call();
  refuse_beside_half_a_call();
  call.meets = 1;
  kernels_.give(call, stream);
}
