// SPDX-License-Identifier: BSD-3-Clause
// Dispatches and combines of many tokens.
#include "python/src/errors.h"
#include "python/src/moe.h"
#include "python/src/moe_arguments.h"
#include "python/src/moe_library.h"
#include "python/src/state.h"

namespace railshmem::python {
namespace {

namespace nb = nanobind;

shmemx_moe_bulk_config_t config_of(int hidden, int max_tokens, int words, int multiprocessors) {
  shmemx_moe_bulk_config_t config = SHMEMX_MOE_BULK_CONFIG_INITIALIZER;
  config.hidden = hidden;
  config.max_tokens = max_tokens;
  config.words = words;
  config.multiprocessors = multiprocessors;
  return config;
}

/// Also before init().
size_t moe_bulk_workspace_of(const char* function, int members, int hidden, int max_tokens, int words) {
  const shmemx_moe_bulk_config_t config = config_of(hidden, max_tokens, words, 0);
  const size_t nbytes = moe_library(function).bulk_workspace_of(members, &config);
  must(function, nbytes == 0);
  return nbytes;
}

/// A handle of the library, of bfloat16. Frees nothing by itself: its memory is the peers', too.
class MoeBulk {
 public:
  MoeBulk(const char* function, const Team* team, int hidden, int max_tokens, int words, int multiprocessors,
          nb::handle workspace)
      : MoeBulk(function, team, Array(function, "workspace", workspace, Access::write),
                config_of(hidden, max_tokens, words, multiprocessors)) {}
  MoeBulk(const MoeBulk&) = delete;

  void destroy(const char* function) {
    const shmemx_moe_bulk_t handle = use(function);
    handle_ = nullptr;
    must(function, moe_library(function).bulk_destroy(handle));
  }

  /// x is of bfloat16 or float8_e4m3fn; x_words, of `words` a token, or None.
  void dispatch(const char* function, nb::handle numbers, nb::handle begins, nb::handle x, nb::handle x_words,
                size_t words, nb::handle rows, nb::handle row_words, nb::handle sources) const {
    shmemx_moe_bulk_dispatch_t call = SHMEMX_MOE_BULK_DISPATCH_INITIALIZER;
    const Array to(function, "rows", rows, Access::write);
    const bool small = to.kind() == Kind::float8_e4m3;
    const Wanted& type = small ? kFloat8 : kBfloat16;
    call.handle = use(function);
    call.rows = arguments_.of(function, to, type, kMoeUnit);
    call.route = route_of(function, numbers, begins, to);
    const auto tokens = static_cast<size_t>(call.route.tokens), room = static_cast<size_t>(call.route.room);
    if (small) call.x_type = SHMEMX_DATATYPE_FLOAT8_E4M3;
    call.words = static_cast<int>(words);
    call.x = arguments_.read(function, "x", x, type, tokens * hidden(), kMoeUnit);
    call.x_words = arguments_.read_if(function, "x_words", x_words, kInt32, tokens * words);
    call.row_words = arguments_.written_if(function, "row_words", row_words, kInt32, room * words);
    call.sources = static_cast<int32_t*>(arguments_.written_if(function, "sources", sources, kInt32, room));
    arguments_.give(function,
                    [&](shmemx_stream_t stream) { return moe_library(function).bulk_dispatch(&call, stream); });
  }

  void combine(const char* function, nb::handle numbers, nb::handle begins, nb::handle rows, nb::handle out) const {
    shmemx_moe_bulk_combine_t call = SHMEMX_MOE_BULK_COMBINE_INITIALIZER;
    const Array from(function, "x", rows, Access::read);
    call.handle = use(function);
    call.rows = arguments_.of(function, from, kBfloat16, kMoeUnit);
    call.route = route_of(function, numbers, begins, from);
    call.out = arguments_.written(function, "out", out, kBfloat16, static_cast<size_t>(call.route.tokens) * hidden(),
                                  kMoeUnit);
    arguments_.give(function,
                    [&](shmemx_stream_t stream) { return moe_library(function).bulk_combine(&call, stream); });
  }

 private:
  MoeBulk(const char* function, const Team* team, const Array& memory, const shmemx_moe_bulk_config_t& config)
      : config_(config), arguments_(function, memory) {
    const shmem_team_t members = team_of(function, team);
    n_ = static_cast<size_t>(shmem_team_n_pes(members));
    const MoeLibrary& library = moe_library(function);
    int status = 0;
    {
      const Waiting waits(function);
      status = library.bulk_create(members, &config_, memory.data(), memory.nbytes(), &handle_);
    }
    must(function, status);
  }

  size_t hidden() const noexcept { return static_cast<size_t>(config_.hidden); }
  shmemx_moe_bulk_t use(const char* function) const {
    arguments_.require_live(function, handle_);
    return handle_;
  }
  /// numbers: [tokens, n]. rows: [room, hidden].
  shmemx_moe_bulk_route_t route_of(const char* function, nb::handle numbers, nb::handle begins,
                                   const Array& rows) const {
    const Array places(function, "numbers", numbers, Access::read);
    if (places.elements() % n_ != 0 || rows.elements() % hidden() != 0)
      value_error(text(function, ": numbers or rows have a part of a token"));
    shmemx_moe_bulk_route_t route{};
    route.tokens = static_cast<int>(places.elements() / n_);
    route.room = static_cast<int>(rows.elements() / hidden());
    route.numbers = static_cast<const int32_t*>(arguments_.of(function, places, kInt32));
    route.begins = static_cast<const int32_t*>(arguments_.read(function, "begins", begins, kInt32, n_ + 1));
    return route;
  }

  const shmemx_moe_bulk_config_t config_;
  const MoeArguments arguments_;
  shmemx_moe_bulk_t handle_ = nullptr;
  size_t n_ = 0;
};

}  // namespace

void bind_moe_bulk(nb::module_& module) {
  module.def("moe_bulk_workspace_of", moe_bulk_workspace_of, nb::arg("function"), nb::arg("members"), nb::arg("hidden"),
             nb::arg("max_tokens"), nb::arg("words"));
  nb::class_<MoeBulk>(module, "MoeBulk")
      .def(nb::init<const char*, const Team*, int, int, int, int, nb::handle>(), nb::arg("function"),
           nb::arg("team").none(), nb::arg("hidden"), nb::arg("max_tokens"), nb::arg("words"),
           nb::arg("multiprocessors"), nb::arg("workspace"))
      .def("dispatch", &MoeBulk::dispatch, nb::arg("function"), nb::arg("numbers"), nb::arg("begins"), nb::arg("x"),
           nb::arg("x_words").none(), nb::arg("words"), nb::arg("rows"), nb::arg("row_words").none(),
           nb::arg("sources").none())
      .def("combine", &MoeBulk::combine, nb::arg("function"), nb::arg("numbers"), nb::arg("begins"), nb::arg("x"),
           nb::arg("out"))
      .def("destroy", &MoeBulk::destroy, nb::arg("function"));
}

}  // namespace railshmem::python
