// SPDX-License-Identifier: BSD-3-Clause
// The call that counts and numbers tokens for a route.
#include <algorithm>

#include "moe/bulk.h"
#include "moe/checks.h"
#include "overlap/guarded.h"

using namespace railshmem;
using namespace railshmem::moe;

namespace {

/// What the tokens are, and the members of their experts.
void check_tokens(const shmemx_moe_bulk_layout_t& asked, int n) {
  check_range("tokens", asked.tokens, 0, kMostTokens - 1);
  if (asked.chosen != nullptr && asked.goes != nullptr)
    throw Error("chosen and goes are given; tokens go to the members of experts or where goes says, pass one of them");
  const bool some = asked.tokens > 0 && asked.goes == nullptr;
  check_pointer("chosen", asked.chosen, some, sizeof(int64_t));
  if (asked.chosen == nullptr && asked.goes_named == nullptr && asked.experts == 0) return;
  if (asked.chosen != nullptr) check_range("topk", asked.topk, 1, kMostTopk);
  check_range("experts", asked.experts, 1, kMostExperts);
  if (asked.experts % n != 0)
    throw Error(text("experts is %d, which the team's %d members do not divide; each member has equally many",
                     asked.experts, n));
}

void check_results(const shmemx_moe_bulk_layout_t& asked) {
  check_pointer("goes_named", asked.goes_named, false, sizeof(int32_t));
  check_pointer("numbers", asked.numbers, false, sizeof(int32_t));
  check_pointer("to_members", asked.to_members, false, sizeof(int32_t));
  check_pointer("to_experts", asked.to_experts, false, sizeof(int32_t));
  const bool of_all = asked.prefixes != nullptr || asked.received != nullptr || asked.on_host != nullptr;
  check_pointer("begins", asked.begins, of_all, sizeof(int32_t));
  check_pointer("prefixes", asked.prefixes, false, sizeof(int32_t));
  check_pointer("received", asked.received, false, sizeof(int32_t));
  check_pointer("on_host", asked.on_host, false, sizeof(uint64_t));
}

}  // namespace

void shmemx_moe_bulk::layout(const shmemx_moe_bulk_layout_t& asked, Stream stream) const {
  check_tokens(asked, members_.shape.n);
  check_results(asked);
  const unsigned wanted = (static_cast<unsigned>(asked.tokens) + kCountThreads - 1) / kCountThreads;
  launch(layout_,
         CountCall{members_, static_cast<uint32_t>(asked.tokens), static_cast<uint32_t>(asked.topk),
                   static_cast<uint32_t>(asked.experts), asked.chosen, asked.goes, asked.goes_named, asked.numbers,
                   asked.in_member, asked.to_members, asked.to_experts, asked.begins, asked.prefixes, asked.received,
                   asked.on_host, asked.ticket},
         std::min({std::max(wanted, 1u), kCountBlocks, blocks_}), kCountThreads, stream);
}

extern "C" int shmemx_moe_bulk_layout_on_stream(const shmemx_moe_bulk_layout_t* layout, shmemx_stream_t stream) {
  return overlap::guarded("shmemx_moe_bulk_layout_on_stream", [&] {
    check_size(layout, "layout", "SHMEMX_MOE_BULK_LAYOUT_INITIALIZER");
    if (layout->handle == nullptr) throw Error("handle is NULL; make one with shmemx_moe_bulk_create");
    layout->handle->layout(*layout, stream);
  });
}
