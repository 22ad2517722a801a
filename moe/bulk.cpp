// SPDX-License-Identifier: BSD-3-Clause
#include "moe/bulk.h"

#include <algorithm>
#include <memory>
#include <string>

#include "moe/checks.h"
#include "moe/members.h"
#include "moe/nodes.h"
#include "overlap/guarded.h"
#include "overlap/together.h"

using namespace railshmem;
using namespace railshmem::moe;

namespace {

const shmemx_moe_bulk_config_t& checked(const shmemx_moe_bulk_config_t* config) {
  check_size(config, "config", "SHMEMX_MOE_BULK_CONFIG_INITIALIZER");
  check_range("hidden", config->hidden, 8, kMostHidden);
  if (config->hidden % 8 != 0) throw Error(text("hidden is %d; it must be a multiple of 8", config->hidden));
  check_range("max_tokens", config->max_tokens, 1, kMostTokens - 1);
  if (config->type != SHMEMX_DATATYPE_BFLOAT16 && config->type != SHMEMX_DATATYPE_HALF)
    throw Error(text("type is %d; it must be SHMEMX_DATATYPE_BFLOAT16 or SHMEMX_DATATYPE_HALF", config->type));
  check_range("words", config->words, 0, kMostWords);
  if (config->multiprocessors < 0)
    throw Error(text("multiprocessors is %d; it must be 0 (all) or more", config->multiprocessors));
  return *config;
}

/// Members are each other's experts.
Shape shape_of(const shmemx_moe_bulk_config_t& config, int n) {
  return {n, n, n, config.hidden, config.max_tokens, 2, 0, Scaling::floats};
}
/// That a token takes in members' memory, where the team is on so many nodes.
uint64_t row_nbytes_of(const shmemx_moe_bulk_config_t& config, int n, int nodes) {
  const uint64_t nbytes = 2 * static_cast<uint64_t>(config.hidden) + 4 * static_cast<uint64_t>(config.words);
  return nodes == 1 ? nbytes : FarLayout::packed_nbytes(nbytes, n);
}
BulkLayout near_layout_of(const shmemx_moe_bulk_config_t& config, int n, int nodes) {
  return {n, config.max_tokens, row_nbytes_of(config, n, nodes)};
}
FarLayout far_layout_of(const shmemx_moe_bulk_config_t& config, int n, int nodes) {
  return {n, config.max_tokens, config.hidden, row_nbytes_of(config, n, nodes)};
}
uint64_t workspace_of(const shmemx_moe_bulk_config_t& config, int n, int nodes) {
  return nodes == 1 ? near_layout_of(config, n, 1).nbytes() : far_layout_of(config, n, nodes).nbytes();
}

/// Of a team that is yet to be made, on one node or on several.
size_t workspace_to_come(const char* function, int members, int nodes,
                         const shmemx_moe_bulk_config_t* config) noexcept {
  size_t nbytes = 0;
  guard(function, [&] {
    check_range("members", members, nodes, kMostMembers);
    nbytes = workspace_of(checked(config), members, nodes);
  });
  return nbytes;
}

unsigned blocks_of(const shmemx_moe_bulk_config_t& config) {
  const unsigned most = multiprocessors_here(), asked = static_cast<unsigned>(config.multiprocessors);
  return asked == 0 ? most : std::min(asked, most);
}

std::string prefix_of(const shmemx_topology_t& where) {
  return where.nnodes == 1 ? "railshmem_moe_bulk_" : "railshmem_moe_bulk_far_";
}

template <class Call>
void check_call(const Call* call, const char* name, const char* initializer) {
  check_size(call, name, initializer);
  if (call->handle == nullptr) throw Error("handle is NULL; make one with shmemx_moe_bulk_create");
}

}  // namespace

shmemx_moe_bulk::shmemx_moe_bulk(shmem_team_t team, const shmemx_moe_bulk_config_t& config, void* workspace,
                                 size_t nbytes)
    : config_(config),
      where_(place_of(team)),
      row_nbytes_(row_nbytes_of(config, where_.npes, where_.nnodes)),
      dispatch_(module_.kernel((prefix_of(where_) + "dispatch").c_str())),
      combine_(module_.kernel(
          (prefix_of(where_) + (config.type == SHMEMX_DATATYPE_HALF ? "combine_half" : "combine_bfloat16")).c_str())),
      layout_(module_.kernel((prefix_of(where_) + "layout").c_str())),
      blocks_(blocks_of(config)) {
  const int n = where_.npes, nodes = where_.nnodes;
  members_ = moe::members_of(team, shape_of(config, n), workspace, nbytes, workspace_of(config, n, nodes),
                             "shmemx_moe_bulk_workspace");
  clear_words(workspace, near_layout_of(config, n, nodes).words_nbytes());
  if (nodes == 1) return;
  const FarLayout places = far_layout_of(config, n, nodes);
  clear_words(static_cast<unsigned char*>(workspace) + places.words(), places.words_nbytes());
}

void shmemx_moe_bulk::meet(shmem_team_t team, void* workspace) {
  if (where_.nnodes == 1) return;
  const FarLayout places = far_layout_of(config_, where_.npes, where_.nnodes);
  far_.emplace(
      BulkFar{nodes_of(team, where_, members_, static_cast<unsigned char*>(workspace) + places.card(0)), places});
}

/// FarCall: the call of a team over several nodes.
template <class FarCall, class Call>
void shmemx_moe_bulk::give(moe::Kernel function, const Call& call, Stream stream) const {
  if (far_)
    launch(function, FarCall{call, *far_}, blocks_, kBulkThreads, stream);
  else
    launch(function, call, blocks_, kBulkThreads, stream);
}

BulkRoute shmemx_moe_bulk::checked(const shmemx_moe_bulk_route_t& route) const {
  check_range("tokens", route.tokens, 0, config_.max_tokens);
  check_range("room", route.room, 0, 0x7fffffff);
  check_pointer("numbers", route.numbers, route.tokens > 0, sizeof(int32_t));
  check_pointer("begins", route.begins, true, sizeof(int32_t));
  return {static_cast<uint32_t>(route.tokens), static_cast<uint32_t>(route.room), route.numbers, route.begins};
}

void shmemx_moe_bulk::dispatch(const shmemx_moe_bulk_dispatch_t& asked, Stream stream) const {
  const BulkRoute route = checked(asked.route);
  const bool small = asked.x_type == SHMEMX_DATATYPE_FLOAT8_E4M3;
  if (!small && asked.x_type != config_.type)
    throw Error(text("x_type is %d; it must be the handle's type, %d, or SHMEMX_DATATYPE_FLOAT8_E4M3", asked.x_type,
                     config_.type));
  if (small && config_.hidden % 16 != 0)
    throw Error(text("hidden is %d; for x of SHMEMX_DATATYPE_FLOAT8_E4M3 it must be a multiple of 16", config_.hidden));
  check_range("words", asked.words, 0, config_.words);
  check_pointer("x", asked.x, route.tokens > 0, kUnit);
  check_pointer("rows", asked.rows, route.room > 0, kUnit);
  check_pointer("x_words", asked.x_words, asked.words > 0 && route.tokens > 0, sizeof(uint32_t));
  check_pointer("row_words", asked.row_words, asked.words > 0 && route.room > 0, sizeof(uint32_t));
  check_pointer("sources", asked.sources, false, sizeof(int32_t));
  give<BulkFarDispatchCall>(
      dispatch_,
      BulkDispatchCall{members_, row_nbytes_, route, small ? 1u : 2u, static_cast<uint32_t>(asked.words), asked.x,
                       static_cast<const uint32_t*>(asked.x_words), asked.rows, static_cast<uint32_t*>(asked.row_words),
                       asked.sources},
      stream);
}

void shmemx_moe_bulk::combine(const shmemx_moe_bulk_combine_t& asked, Stream stream) const {
  const BulkRoute route = checked(asked.route);
  check_pointer("rows", asked.rows, route.room > 0, kUnit);
  check_pointer("out", asked.out, route.tokens > 0, kUnit);
  give<BulkFarCombineCall>(combine_, BulkCombineCall{members_, row_nbytes_, route, asked.rows, asked.out}, stream);
}

extern "C" {

size_t shmemx_moe_bulk_workspace_of(int members, const shmemx_moe_bulk_config_t* config) {
  return workspace_to_come("shmemx_moe_bulk_workspace_of", members, 1, config);
}

size_t shmemx_moe_bulk_workspace_between_nodes(int members, const shmemx_moe_bulk_config_t* config) {
  return workspace_to_come("shmemx_moe_bulk_workspace_between_nodes", members, 2, config);
}

size_t shmemx_moe_bulk_workspace(shmem_team_t team, const shmemx_moe_bulk_config_t* config) {
  size_t nbytes = 0;
  overlap::guarded("shmemx_moe_bulk_workspace", [&] {
    const shmemx_topology_t where = place_of(team);
    nbytes = workspace_of(checked(config), where.npes, where.nnodes);
  });
  return nbytes;
}

int shmemx_moe_bulk_create(shmem_team_t team, const shmemx_moe_bulk_config_t* config, void* workspace, size_t nbytes,
                           shmemx_moe_bulk_t* handle) {
  return overlap::guarded("shmemx_moe_bulk_create", [&] {
    check_team(team);
    std::unique_ptr<shmemx_moe_bulk> made;
    overlap::together(team, [&] {
      if (handle == nullptr) throw Error("handle is NULL; pass the address of a shmemx_moe_bulk_t");
      made = std::make_unique<shmemx_moe_bulk>(team, checked(config), workspace, nbytes);
    });
    overlap::together(team, [&] { made->meet(team, workspace); });
    *handle = made.release();
  });
}

int shmemx_moe_bulk_destroy(shmemx_moe_bulk_t handle) {
  return overlap::guarded("shmemx_moe_bulk_destroy", [&] {
    if (handle == nullptr) throw Error("handle is NULL; destroy a handle of shmemx_moe_bulk_create, once");
    delete handle;
  });
}

int shmemx_moe_bulk_dispatch_on_stream(const shmemx_moe_bulk_dispatch_t* dispatch, shmemx_stream_t stream) {
  return overlap::guarded("shmemx_moe_bulk_dispatch_on_stream", [&] {
    check_call(dispatch, "dispatch", "SHMEMX_MOE_BULK_DISPATCH_INITIALIZER");
    dispatch->handle->dispatch(*dispatch, stream);
  });
}

int shmemx_moe_bulk_combine_on_stream(const shmemx_moe_bulk_combine_t* combine, shmemx_stream_t stream) {
  return overlap::guarded("shmemx_moe_bulk_combine_on_stream", [&] {
    check_call(combine, "combine", "SHMEMX_MOE_BULK_COMBINE_INITIALIZER");
    combine->handle->combine(*combine, stream);
  });
}

}  // extern "C"
