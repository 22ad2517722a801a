// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/moe.h"

#include <optional>

#include "python/src/array.h"
#include "python/src/device.h"
#include "python/src/errors.h"
#include "python/src/heap.h"
#include "python/src/moe_library.h"
#include "python/src/state.h"
#include "python/src/team.h"
#include "python/src/tensor.h"
#include "python/src/waiting.h"

namespace railshmem::python {
namespace {

namespace nb = nanobind;

constexpr size_t kUnit = 16;  ///< bytes: tokens and results begin at multiples of it
constexpr size_t kChannelsOfScale = 128;

shmem_team_t team_of(const char* function, const Team* team) {
  return team ? team->use(function) : SHMEM_TEAM_WORLD;
}

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

void must(const char* function, int status) {
  if (status != 0)
    state_error(text(function, ": the library refused the call; its message on standard error says why"));
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

/// Also before init().
size_t moe_workspace_of(const char* function, int members, int experts, int topk, int hidden, int max_tokens, bool half,
                        bool fp8, bool late_weights, int scale_type) {
  const shmemx_moe_config_t config =
      config_of(experts, topk, hidden, max_tokens, half, fp8, late_weights, scale_type, false, 0);
  const size_t nbytes = moe_library(function).workspace_of(members, &config);
  must(function, nbytes == 0);
  return nbytes;
}

/// What the elements of an argument must be.
struct Wanted {
  Kind kind;
  size_t itemsize;
  const char* name;
};
constexpr Wanted kBfloat16{Kind::bfloat16, 2, "bfloat16"}, kHalf{Kind::real, 2, "float16"},
    kFloat8{Kind::float8_e4m3, 1, "float8_e4m3fn"}, kFloat{Kind::real, 4, "float32"},
    kInt32{Kind::signed_integer, 4, "int32"}, kInt64{Kind::signed_integer, 8, "int64"};

/// A handle of the library. Frees nothing by itself: its memory is the peers', too.
class MoeHandle {
 public:
  MoeHandle(const char* function, const Team* team, int experts, int topk, int hidden, int max_tokens, bool half,
            bool fp8, bool late_weights, int scale_type, bool x_scaled, int multiprocessors, nb::handle workspace)
      : config_(config_of(experts, topk, hidden, max_tokens, half, fp8, late_weights, scale_type, x_scaled,
                          multiprocessors)) {
    require_device_heap(function);
    const shmem_team_t members = team_of(function, team);
    const Array memory(function, "workspace", workspace, Access::write);
    if (memory.on_host())
      type_error(text(function, ": workspace is in the memory of the CPU; pass a symmetric CUDA tensor"));
    if (!is_symmetric(memory))
      value_error(text(function, ": workspace is not symmetric; make it with railshmem.torch.empty() on every PE"));
    device_ = memory.device();
    n_ = static_cast<size_t>(shmem_team_n_pes(members));
    run_ = run_number();
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
    call.x = read(function, "x", x, x_scaled ? kFloat8 : type(), tokens * hidden(), kUnit);
    if (x_scaled)
      call.x_scales = static_cast<const float*>(
          read(function, "x's scales", x_scales, kFloat, tokens * (hidden() / kChannelsOfScale)));
    call.experts = static_cast<const int64_t*>(read(function, "experts", experts, kInt64, tokens * topk()));
    call.weights = static_cast<const float*>(read_if(function, "weights", weights, kFloat, tokens * topk()));
    call.rows = rows_of(Array(function, "rows", rows, Access::write), function, fp8() ? kFloat8 : type());
    if (fp8())
      call.scales = packed()
                        ? written(function, "scales", scales, kInt32, all_rows() * (hidden() / kChannelsOfScale / 4))
                        : written(function, "scales", scales, kFloat, all_rows() * (hidden() / kChannelsOfScale));
    call.counts = static_cast<int32_t*>(written(function, "counts", counts, kInt32, local() * n_));
    call.totals = static_cast<int32_t*>(written_if(function, "totals", totals, kInt32, local()));
    call.ranges = static_cast<int64_t*>(written_if(function, "ranges", ranges, kInt64, local() * n_));
    call.sources = static_cast<int32_t*>(written_if(function, "sources", sources, kInt32, all_rows()));
    give(function, [&](shmemx_stream_t stream) { return moe_library(function).dispatch(&call, stream); });
  }

  void combine(const char* function, nb::handle results, nb::handle weights, nb::handle out, size_t tokens,
               bool hook) const {
    shmemx_moe_combine_t call = SHMEMX_MOE_COMBINE_INITIALIZER;
    call.handle = use(function);
    call.hook = hook;
    call.rows = rows_of(Array(function, "results", results, Access::read), function, type());
    call.out = written(function, "out", out, type(), tokens * hidden(), kUnit);
    call.weights = static_cast<const float*>(read_if(function, "weights", weights, kFloat, tokens * topk()));
    give(function, [&](shmemx_stream_t stream) { return moe_library(function).combine(&call, stream); });
  }

  void complete(const char* function) const {
    const shmemx_moe_t handle = use(function);
    give(function, [&](shmemx_stream_t stream) { return moe_library(function).complete(handle, stream); });
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
    require_running(function);
    if (handle_ == nullptr) state_error(text(function, ": this exchange was freed; make a new one"));
    if (run_ != run_number())
      state_error(text(function, ": this exchange is of the time before finalize(); make a new one"));
    return handle_;
  }

  void* checked(const char* function, const Array& array, const Wanted& wanted, size_t elements, size_t unit) const {
    if (array.on_host())
      type_error(text(function, ": ", array.argument(), " is in the memory of the CPU; move it with to()"));
    if (array.device() != device_)
      type_error(text(function, ": ", array.argument(), " is on the device cuda:", array.device(),
                      ", and the exchange on cuda:", device_, "; move it with to()"));
    if (array.kind() != wanted.kind || array.itemsize() != wanted.itemsize)
      type_error(text(function, ": ", array.argument(), " has elements of ", array.type_name(), "; they must be of ",
                      wanted.name));
    if (array.elements() != elements)
      value_error(
          text(function, ": ", array.argument(), " has ", array.elements(), " elements; it must have ", elements));
    if (reinterpret_cast<uintptr_t>(array.data()) % unit != 0)
      value_error(text(function, ": ", array.argument(), " does not begin at a multiple of ", unit,
                       " bytes; pass a copy by clone()"));
    return array.data();
  }
  /// Rows of all local experts. A single expert may have fewer than it could get: its rows end where the caller knows.
  void* rows_of(const Array& array, const char* function, const Wanted& wanted) const {
    const bool fewer = local() == 1 && array.elements() < all_rows() * hidden() && array.elements() % hidden() == 0;
    return checked(function, array, wanted, fewer ? array.elements() : all_rows() * hidden(), kUnit);
  }
  const void* read(const char* function, const char* argument, nb::handle object, const Wanted& wanted, size_t elements,
                   size_t unit = 1) const {
    return checked(function, Array(function, argument, object, Access::read), wanted, elements, unit);
  }
  /// Null for None.
  const void* read_if(const char* function, const char* argument, nb::handle object, const Wanted& wanted,
                      size_t elements) const {
    return object.is_none() ? nullptr : read(function, argument, object, wanted, elements);
  }
  void* written(const char* function, const char* argument, nb::handle object, const Wanted& wanted, size_t elements,
                size_t unit = 1) const {
    return checked(function, Array(function, argument, object, Access::write), wanted, elements, unit);
  }
  void* written_if(const char* function, const char* argument, nb::handle object, const Wanted& wanted,
                   size_t elements) const {
    return object.is_none() ? nullptr : written(function, argument, object, wanted, elements);
  }

  template <class Call>
  void give(const char* function, Call&& call) const {
    const shmemx_stream_t stream = stream_of(device_, nb::none());
    int status = 0;
    {
      const Waiting waits(function);
      status = call(stream);
    }
    must(function, status);
  }

  const shmemx_moe_config_t config_;
  shmemx_moe_t handle_ = nullptr;
  size_t n_ = 0;
  int device_ = kOnHost;
  unsigned run_ = 0;
};

}  // namespace

void bind_moe(nb::module_& module) {
  module.def("moe_workspace", moe_workspace, nb::arg("function"), nb::arg("team").none(), nb::arg("experts"),
             nb::arg("topk"), nb::arg("hidden"), nb::arg("max_tokens"), nb::arg("half"), nb::arg("fp8"),
             nb::arg("late_weights"), nb::arg("scale_type"));
  module.def("moe_workspace_of", moe_workspace_of, nb::arg("function"), nb::arg("members"), nb::arg("experts"),
             nb::arg("topk"), nb::arg("hidden"), nb::arg("max_tokens"), nb::arg("half"), nb::arg("fp8"),
             nb::arg("late_weights"), nb::arg("scale_type"));
  nb::class_<MoeHandle>(module, "MoeHandle")
      .def(nb::init<const char*, const Team*, int, int, int, int, bool, bool, bool, int, bool, int, nb::handle>(),
           nb::arg("function"), nb::arg("team").none(), nb::arg("experts"), nb::arg("topk"), nb::arg("hidden"),
           nb::arg("max_tokens"), nb::arg("half"), nb::arg("fp8"), nb::arg("late_weights"), nb::arg("scale_type"),
           nb::arg("x_scaled"), nb::arg("multiprocessors"), nb::arg("workspace"))
      .def("dispatch", &MoeHandle::dispatch, nb::arg("function"), nb::arg("x"), nb::arg("x_scales").none(),
           nb::arg("experts"), nb::arg("weights").none(), nb::arg("rows"), nb::arg("scales").none(), nb::arg("counts"),
           nb::arg("totals").none(), nb::arg("ranges").none(), nb::arg("sources").none(), nb::arg("tokens"),
           nb::arg("hook"))
      .def("combine", &MoeHandle::combine, nb::arg("function"), nb::arg("results"), nb::arg("weights").none(),
           nb::arg("out"), nb::arg("tokens"), nb::arg("hook"))
      .def("complete", &MoeHandle::complete, nb::arg("function"))
      .def("destroy", &MoeHandle::destroy, nb::arg("function"));
}

}  // namespace railshmem::python
