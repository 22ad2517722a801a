// SPDX-License-Identifier: BSD-3-Clause
#include "moe/checks.h"

#include <shmem.h>

#include "moe/kernels/few_far.h"
#include "src/base/error.h"

namespace railshmem::moe {
namespace {

void check_switch(const char* name, int value) {
  if (value != 0 && value != 1) throw Error(text("%s is %d; it must be 0 or 1", name, value));
}

void check_types(const shmemx_moe_config_t& config) {
  if (config.type != SHMEMX_DATATYPE_BFLOAT16 && config.type != SHMEMX_DATATYPE_HALF)
    throw Error(text("type is %d; it must be SHMEMX_DATATYPE_BFLOAT16 or SHMEMX_DATATYPE_HALF", config.type));
  if (config.dispatch_type != config.type && config.dispatch_type != SHMEMX_DATATYPE_FLOAT8_E4M3)
    throw Error(text("dispatch_type is %d; it must be type, %d, or SHMEMX_DATATYPE_FLOAT8_E4M3", config.dispatch_type,
                     config.type));
}

void check_masking(const shmemx_moe_config_t& config) {
  check_switch("maskable", config.maskable);
  if (config.mask_after_ms < 0)
    throw Error(text("mask_after_ms is %d; it must be 0 (no wait masks) or more", config.mask_after_ms));
  if (config.maskable == 0 && (config.mask_after_ms != 0 || config.mask_of != nullptr))
    throw Error("mask_after_ms or mask_of is given, and maskable is 0; set maskable to 1");
  check_switch("zeroed", config.zeroed);
}

/// Channels that belong together.
int step_of(const shmemx_moe_config_t& config) {
  if (config.dispatch_type == config.type) return 8;
  return static_cast<int>(config.scale_type == SHMEMX_MOE_SCALE_UE8M0 ? 4 * kScaled : kScaled);
}

}  // namespace

void check_range(const char* name, int value, int least, int most) {
  if (value < least || value > most) throw Error(text("%s is %d; it must be %d to %d", name, value, least, most));
}

void check_pointer(const char* name, const void* pointer, bool needed, uintptr_t alignment) {
  if (pointer == nullptr) {
    if (needed) throw Error(text("%s is NULL; pass memory of this PE's GPU", name));
    return;
  }
  if (reinterpret_cast<uintptr_t>(pointer) % alignment != 0)
    throw Error(text("%s %p is no multiple of %zu bytes", name, pointer, static_cast<size_t>(alignment)));
}

shmemx_moe_config_t checked(const shmemx_moe_config_t* config, int n) {
  check_size(config, "config", "SHMEMX_MOE_CONFIG_INITIALIZER");
  check_types(*config);
  check_range("experts", config->experts, 1, kMostExperts);
  if (config->experts % n != 0)
    throw Error(text("experts is %d, which the team's %d members do not divide; each member has equally many",
                     config->experts, n));
  check_range("topk", config->topk, 1, kMostTopk);
  check_range("hidden", config->hidden, 1, kMostHidden);
  check_range("scale_type", config->scale_type, SHMEMX_MOE_SCALE_FLOAT, SHMEMX_MOE_SCALE_UE8M0);
  const int step = step_of(*config);
  if (config->hidden % step != 0)
    throw Error(
        text("hidden is %d; with this dispatch_type and scale_type it must be a multiple of %d", config->hidden, step));
  check_range("max_tokens", config->max_tokens, 1, kMostTokens - 1);
  if (int64_t{config->experts} * config->max_tokens >= int64_t{1} << 32)
    throw Error(text("experts * max_tokens is %lld; the rows of a member must be fewer than 2^32",
                     static_cast<long long>(config->experts) * config->max_tokens));
  if (config->multiprocessors < 0)
    throw Error(text("multiprocessors is %d; it must be 0 (all) or more", config->multiprocessors));
  check_switch("late_weights", config->late_weights);
  check_switch("x_scaled", config->x_scaled);
  if (config->x_scaled != 0 && (config->dispatch_type == config->type || config->scale_type != SHMEMX_MOE_SCALE_FLOAT))
    throw Error(
        "x_scaled is 1; it needs dispatch_type SHMEMX_DATATYPE_FLOAT8_E4M3 and scale_type SHMEMX_MOE_SCALE_FLOAT");
  check_masking(*config);
  return *config;
}

Shape shape_of(const shmemx_moe_config_t& config, int n) {
  return {n,
          config.experts,
          config.topk,
          config.hidden,
          config.max_tokens,
          config.dispatch_type == config.type ? 2u : 1u,
          static_cast<uint32_t>(config.late_weights),
          static_cast<Scaling>(config.scale_type)};
}

uint64_t workspace_of(const Shape& shape, int nodes) {
  return nodes == 1 ? Layout(shape).nbytes() : FarFewLayout(shape).nbytes();
}

void check(shmemx_moe_t handle) {
  if (handle == nullptr) throw Error("handle is NULL; make one with shmemx_moe_create");
}

void check(const shmemx_moe_dispatch_t* dispatch) {
  check_size(dispatch, "dispatch", "SHMEMX_MOE_DISPATCH_INITIALIZER");
  check(dispatch->handle);
  check_switch("hook", dispatch->hook);
}

void check(const shmemx_moe_combine_t* combine) {
  check_size(combine, "combine", "SHMEMX_MOE_COMBINE_INITIALIZER");
  check(combine->handle);
  check_switch("hook", combine->hook);
}

void check_buffers(const shmemx_moe_dispatch_t& dispatch, const shmemx_moe_config_t& config) {
  if (dispatch.tokens < 0 || dispatch.tokens > config.max_tokens)
    throw Error(text("tokens is %d; the handle was made for 0 to %d (max_tokens)", dispatch.tokens, config.max_tokens));
  const bool some = dispatch.tokens > 0;
  check_pointer("x", dispatch.x, some, kUnit);
  check_pointer("experts", dispatch.experts, some, sizeof(int64_t));
  check_pointer("weights", dispatch.weights, false, sizeof(float));
  if (dispatch.weights != nullptr && config.late_weights != 0)
    throw Error("weights are given, and the handle was made with late_weights; give them to combine");
  check_pointer("rows", dispatch.rows, true, kUnit);
  check_pointer("scales", dispatch.scales, config.dispatch_type != config.type, sizeof(float));
  check_pointer("counts", dispatch.counts, true, sizeof(int32_t));
  check_pointer("totals", dispatch.totals, false, sizeof(int32_t));
  check_pointer("ranges", dispatch.ranges, false, sizeof(int64_t));
  check_pointer("sources", dispatch.sources, false, sizeof(int32_t));
  check_pointer("x_scales", dispatch.x_scales, some && config.x_scaled != 0, sizeof(float));
  if (dispatch.x_scales != nullptr && config.x_scaled == 0)
    throw Error("x_scales are given, and the handle was made without x_scaled; give x of its type alone");
}

void check_buffers(const shmemx_moe_combine_t& combine, const shmemx_moe_config_t& config, int tokens) {
  check_pointer("rows", combine.rows, true, kUnit);
  check_pointer("out", combine.out, tokens > 0, kUnit);
  check_pointer("weights", combine.weights, tokens > 0 && config.late_weights != 0, sizeof(float));
  if (combine.weights != nullptr && config.late_weights == 0)
    throw Error("weights are given, and the handle was made without late_weights; give them to dispatch");
}

}  // namespace railshmem::moe
