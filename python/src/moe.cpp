// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/moe.h"

#include <nanobind/stl/pair.h>

#include "python/src/errors.h"
#include "python/src/moe_arguments.h"
#include "python/src/moe_library.h"
#include "python/src/state.h"

namespace railshmem::python {
namespace {

namespace nb = nanobind;

shmemx_moe_config_t config_of(int experts, int topk, int hidden, int max_tokens, bool half, bool fp8, bool late_weights,
                              int scale_type, bool x_scaled, int multiprocessors) {
  shmemx_moe_config_t config = SHMEMX_MOE_CONFIG_INITIALIZER;
  config.experts = experts;
  config.topk = topk;
  config.hidden = hidden;
  config.max_tokens = max_tokens;
  config.type = half ? SHMEMX_DATATYPE_HALF : SHMEMX_DATATYPE_BFLOAT16;
  config.dispatch_type = fp8 ? SHMEMX_DATATYPE_FLOAT8_E4M3 : config.type;
  config.multiprocessors = multiprocessors;
  config.late_weights = late_weights;
  config.scale_type = scale_type;
  config.x_scaled = x_scaled;
  return config;
}
shmemx_moe_config_t with_masks(shmemx_moe_config_t config, bool maskable, int mask_after_ms, shmemx_moe_t mask_of,
                               bool zeroed) {
  config.maskable = maskable;
  config.mask_after_ms = mask_after_ms;
  config.mask_of = mask_of;
  config.zeroed = zeroed;
  return config;
}

size_t moe_workspace(const char* function, const Team* team, int experts, int topk, int hidden, int max_tokens,
                     bool half, bool fp8, bool late_weights, int scale_type) {
  require_running(function);
  const shmemx_moe_config_t config =
      config_of(experts, topk, hidden, max_tokens, half, fp8, late_weights, scale_type, false, 0);
  const size_t nbytes = moe_library(function).workspace(team_of(function, team), &config);
  must(function, nbytes == 0);
  return nbytes;
}

/// Nodes of the team, and the number of this PE's among them.
std::pair<int, int> moe_nodes(const char* function, const Team* team) {
  require_running(function);
  shmemx_topology_t where{};
  where.size = sizeof where;
  must(function, shmemx_topology_get(team_of(function, team), &where));
  return {where.nnodes, where.my_node};
}

/// Also before init().
size_t moe_workspace_of(const char* function, int members, bool between_nodes, int experts, int topk, int hidden,
                        int max_tokens, bool half, bool fp8, bool late_weights, int scale_type) {
  const shmemx_moe_config_t config =
      config_of(experts, topk, hidden, max_tokens, half, fp8, late_weights, scale_type, false, 0);
  const MoeLibrary& library = moe_library(function);
  const size_t nbytes = (between_nodes ? library.workspace_between_nodes : library.workspace_of)(members, &config);
  must(function, nbytes == 0);
  return nbytes;
}

/// A handle of the library. Frees nothing by itself: its memory is the peers', too.
class MoeHandle {
 public:
  MoeHandle(const char* function, const Team* team, int experts, int topk, int hidden, int max_tokens, bool half,
            bool fp8, bool late_weights, int scale_type, bool x_scaled, int multiprocessors, nb::handle workspace,
            bool maskable, int mask_after_ms, const MoeHandle* mask_of, bool zeroed)
      : MoeHandle(function, team, Array(function, "workspace", workspace, Access::write),
                  with_masks(config_of(experts, topk, hidden, max_tokens, half, fp8, late_weights, scale_type, x_scaled,
                                       multiprocessors),
                             maskable, mask_after_ms, mask_of == nullptr ? nullptr : mask_of->use(function), zeroed)) {}
  MoeHandle(const char* function, const Team* team, const Array& memory, const shmemx_moe_config_t& config)
      : config_(config), arguments_(function, memory) {
    const shmem_team_t members = team_of(function, team);
    n_ = static_cast<size_t>(shmem_team_n_pes(members));
    const MoeLibrary& library = moe_library(function);
    int status = 0;
    {
      const Waiting waits(function);
      status = library.create(members, &config_, memory.data(), memory.nbytes(), &handle_);
    }
    must(function, status);
  }
  MoeHandle(const MoeHandle&) = delete;

  void destroy(const char* function) {
    const shmemx_moe_t handle = use(function);
    handle_ = nullptr;
    must(function, moe_library(function).destroy(handle));
  }

  void dispatch(const char* function, nb::handle x, nb::handle x_scales, nb::handle experts, nb::handle weights,
                nb::handle rows, nb::handle scales, nb::handle counts, nb::handle totals, nb::handle ranges,
                nb::handle sources, size_t tokens, bool hook) const {
    shmemx_moe_dispatch_t call = SHMEMX_MOE_DISPATCH_INITIALIZER;
    call.handle = use(function);
    call.tokens = static_cast<int>(tokens);
    call.hook = hook;
    const bool x_scaled = config_.x_scaled != 0;
    call.x = arguments_.read(function, "x", x, x_scaled ? kFloat8 : type(), tokens * hidden(), kMoeUnit);
    if (x_scaled)
      call.x_scales = static_cast<const float*>(
          arguments_.read(function, "x's scales", x_scales, kFloat, tokens * (hidden() / kChannelsOfScale)));
    call.experts = static_cast<const int64_t*>(arguments_.read(function, "experts", experts, kInt64, tokens * topk()));
    call.weights = static_cast<const float*>(arguments_.read_if(function, "weights", weights, kFloat, tokens * topk()));
    call.rows = arguments_.written(function, "rows", rows, fp8() ? kFloat8 : type(), all_rows() * hidden(), kMoeUnit);
    if (fp8())
      call.scales =
          packed()
              ? arguments_.written(function, "scales", scales, kInt32, all_rows() * (hidden() / kChannelsOfScale / 4))
              : arguments_.written(function, "scales", scales, kFloat, all_rows() * (hidden() / kChannelsOfScale));
    call.counts = static_cast<int32_t*>(arguments_.written(function, "counts", counts, kInt32, local() * n_));
    call.totals = static_cast<int32_t*>(arguments_.written_if(function, "totals", totals, kInt32, local()));
    call.ranges = static_cast<int64_t*>(arguments_.written_if(function, "ranges", ranges, kInt64, local() * n_));
    call.sources = static_cast<int32_t*>(arguments_.written_if(function, "sources", sources, kInt32, all_rows()));
    arguments_.give(function, [&](shmemx_stream_t stream) { return moe_library(function).dispatch(&call, stream); });
  }

  void combine(const char* function, nb::handle results, nb::handle weights, nb::handle out, size_t tokens,
               bool hook) const {
    shmemx_moe_combine_t call = SHMEMX_MOE_COMBINE_INITIALIZER;
    call.handle = use(function);
    call.hook = hook;
    call.rows = arguments_.read(function, "results", results, type(), all_rows() * hidden(), kMoeUnit);
    call.out = arguments_.written(function, "out", out, type(), tokens * hidden(), kMoeUnit);
    call.weights = static_cast<const float*>(arguments_.read_if(function, "weights", weights, kFloat, tokens * topk()));
    arguments_.give(function, [&](shmemx_stream_t stream) { return moe_library(function).combine(&call, stream); });
  }

  void complete(const char* function) const {
    const shmemx_moe_t handle = use(function);
    arguments_.give(function, [&](shmemx_stream_t stream) { return moe_library(function).complete(handle, stream); });
  }

  void mask(const char* function, int member) const {
    const shmemx_moe_t handle = use(function);
    arguments_.give(function,
                    [&](shmemx_stream_t stream) { return moe_library(function).mask(handle, member, stream); });
  }
  /// member: -1 for all.
  void unmask(const char* function, int member) const {
    const shmemx_moe_t handle = use(function);
    arguments_.give(function,
                    [&](shmemx_stream_t stream) { return moe_library(function).unmask(handle, member, stream); });
  }
  void masked(const char* function, nb::handle into) const {
    const shmemx_moe_t handle = use(function);
    auto* const at = static_cast<int32_t*>(arguments_.written(function, "into", into, kInt32, n_));
    arguments_.give(function, [&](shmemx_stream_t stream) { return moe_library(function).masked(handle, at, stream); });
  }
  void meet(const char* function) const {
    const shmemx_moe_t handle = use(function);
    arguments_.give(function, [&](shmemx_stream_t stream) { return moe_library(function).meet(handle, stream); });
  }

 private:
  size_t hidden() const noexcept { return static_cast<size_t>(config_.hidden); }
  size_t topk() const noexcept { return static_cast<size_t>(config_.topk); }
  size_t local() const noexcept { return static_cast<size_t>(config_.experts) / n_; }
  size_t all_rows() const noexcept { return local() * n_ * static_cast<size_t>(config_.max_tokens); }
  bool fp8() const noexcept { return config_.dispatch_type != config_.type; }
  bool packed() const noexcept { return config_.scale_type == SHMEMX_MOE_SCALE_UE8M0; }
  Wanted type() const noexcept { return config_.type == SHMEMX_DATATYPE_HALF ? kHalf : kBfloat16; }

  shmemx_moe_t use(const char* function) const {
    arguments_.require_live(function, handle_);
    return handle_;
  }
  const shmemx_moe_config_t config_;
  const MoeArguments arguments_;
  shmemx_moe_t handle_ = nullptr;
  size_t n_ = 0;
};

}  // namespace

void bind_moe(nb::module_& module) {
  module.def("moe_workspace", moe_workspace, nb::arg("function"), nb::arg("team").none(), nb::arg("experts"),
             nb::arg("topk"), nb::arg("hidden"), nb::arg("max_tokens"), nb::arg("half"), nb::arg("fp8"),
             nb::arg("late_weights"), nb::arg("scale_type"));
  module.def("moe_nodes", moe_nodes, nb::arg("function"), nb::arg("team").none());
  module.def("moe_workspace_of", moe_workspace_of, nb::arg("function"), nb::arg("members"), nb::arg("between_nodes"),
             nb::arg("experts"), nb::arg("topk"), nb::arg("hidden"), nb::arg("max_tokens"), nb::arg("half"),
             nb::arg("fp8"), nb::arg("late_weights"), nb::arg("scale_type"));
  nb::class_<MoeHandle>(module, "MoeHandle")
      .def(nb::init<const char*, const Team*, int, int, int, int, bool, bool, bool, int, bool, int, nb::handle, bool,
                    int, const MoeHandle*, bool>(),
           nb::arg("function"), nb::arg("team").none(), nb::arg("experts"), nb::arg("topk"), nb::arg("hidden"),
           nb::arg("max_tokens"), nb::arg("half"), nb::arg("fp8"), nb::arg("late_weights"), nb::arg("scale_type"),
           nb::arg("x_scaled"), nb::arg("multiprocessors"), nb::arg("workspace"), nb::arg("maskable"),
           nb::arg("mask_after_ms"), nb::arg("mask_of").none(), nb::arg("zeroed"))
      .def("dispatch", &MoeHandle::dispatch, nb::arg("function"), nb::arg("x"), nb::arg("x_scales").none(),
           nb::arg("experts"), nb::arg("weights").none(), nb::arg("rows"), nb::arg("scales").none(), nb::arg("counts"),
           nb::arg("totals").none(), nb::arg("ranges").none(), nb::arg("sources").none(), nb::arg("tokens"),
           nb::arg("hook"))
      .def("combine", &MoeHandle::combine, nb::arg("function"), nb::arg("results"), nb::arg("weights").none(),
           nb::arg("out"), nb::arg("tokens"), nb::arg("hook"))
      .def("complete", &MoeHandle::complete, nb::arg("function"))
      .def("mask", &MoeHandle::mask, nb::arg("function"), nb::arg("member"))
      .def("unmask", &MoeHandle::unmask, nb::arg("function"), nb::arg("member"))
      .def("masked", &MoeHandle::masked, nb::arg("function"), nb::arg("into"))
      .def("meet", &MoeHandle::meet, nb::arg("function"))
      .def("destroy", &MoeHandle::destroy, nb::arg("function"));
}

}  // namespace railshmem::python
