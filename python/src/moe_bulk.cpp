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

size_t moe_bulk_workspace(const char* function, const Team* team, int hidden, int max_tokens, int words) {
  require_running(function);
  const shmemx_moe_bulk_config_t config = config_of(hidden, max_tokens, words, 0);
  const size_t nbytes = moe_library(function).bulk_workspace(team_of(function, team), &config);
  must(function, nbytes == 0);
  return nbytes;
}

/// Also before init().
size_t moe_bulk_workspace_of(const char* function, int members, bool between_nodes, int hidden, int max_tokens,
                             int words) {
  const shmemx_moe_bulk_config_t config = config_of(hidden, max_tokens, words, 0);
  const MoeLibrary& library = moe_library(function);
  const auto call = between_nodes ? library.bulk_workspace_between_nodes : library.bulk_workspace_of;
  const size_t nbytes = call(members, &config);
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

  /// Counts what chosen, [tokens, topk], names. Local.
  void count(const char* function, nb::handle chosen, size_t topk, nb::handle in_member, nb::handle to_members,
             nb::handle to_experts) const {
    shmemx_moe_bulk_layout_t call = SHMEMX_MOE_BULK_LAYOUT_INITIALIZER;
    call.handle = use(function);
    const Array from(function, "topk_idx", chosen, Access::read);
    call.chosen = static_cast<const int64_t*>(arguments_.of(function, from, kInt64));
    call.topk = static_cast<int>(topk);
    const size_t tokens = topk == 0 ? 0 : from.elements() / topk;
    call.tokens = static_cast<int>(tokens);
    const Array named(function, "num_tokens_per_expert", to_experts, Access::write);
    call.experts = static_cast<int>(named.elements());
    call.to_experts = static_cast<int32_t*>(arguments_.of(function, named, kInt32));
    call.in_member =
        static_cast<uint8_t*>(arguments_.written(function, "is_token_in_rank", in_member, kBool, tokens * n_));
    call.to_members =
        static_cast<int32_t*>(arguments_.written(function, "num_tokens_per_rank", to_members, kInt32, n_));
    give(function, call);
  }
  /// Makes a route for tokens that go where goes, [tokens, n], says, and tells the members of it. on_host, int64 of the
  /// CPU that the GPU writes, or None: 0, rows, most tokens of a member, and for each expert here how often it is
  /// named.
  void route(const char* function, nb::handle goes, nb::handle named, nb::handle numbers, nb::handle begins,
             nb::handle prefixes, nb::handle on_host) const {
    shmemx_moe_bulk_layout_t call = SHMEMX_MOE_BULK_LAYOUT_INITIALIZER;
    call.handle = use(function);
    const Array from(function, "is_token_in_rank", goes, Access::read);
    const Array names(function, "num_tokens_per_expert", named, Access::read);
    call.goes = static_cast<const uint8_t*>(arguments_.of(function, from, kBool));
    call.tokens = static_cast<int>(from.elements() / n_);
    call.goes_named = static_cast<const int32_t*>(arguments_.of(function, names, kInt32));
    call.experts = static_cast<int>(names.elements());
    call.numbers = static_cast<int32_t*>(arguments_.written(function, "numbers", numbers, kInt32, from.elements()));
    call.begins = static_cast<int32_t*>(arguments_.written(function, "begins", begins, kInt32, n_ + 1));
    call.prefixes = static_cast<int32_t*>(arguments_.written(function, "prefixes", prefixes, kInt32, n_ * n_));
    if (!on_host.is_none()) {
      const Array counts(function, "on_host", on_host, Access::write);
      require_on_host(function, counts);
      if (counts.nbytes() != (3 + names.elements() / n_) * sizeof(uint64_t))
        value_error(text(function, ": on_host has ", counts.nbytes(), " bytes, which is not the size of the counts"));
      call.on_host = static_cast<uint64_t*>(counts.data());
    }
    give(function, call);
  }

 private:
  void give(const char* function, const shmemx_moe_bulk_layout_t& call) const {
    arguments_.give(function, [&](shmemx_stream_t stream) { return moe_library(function).bulk_layout(&call, stream); });
  }
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
  module.def("moe_bulk_workspace", moe_bulk_workspace, nb::arg("function"), nb::arg("team").none(), nb::arg("hidden"),
             nb::arg("max_tokens"), nb::arg("words"));
  module.def("moe_bulk_workspace_of", moe_bulk_workspace_of, nb::arg("function"), nb::arg("members"),
             nb::arg("between_nodes"), nb::arg("hidden"), nb::arg("max_tokens"), nb::arg("words"));
  nb::class_<MoeBulk>(module, "MoeBulk")
      .def(nb::init<const char*, const Team*, int, int, int, int, nb::handle>(), nb::arg("function"),
           nb::arg("team").none(), nb::arg("hidden"), nb::arg("max_tokens"), nb::arg("words"),
           nb::arg("multiprocessors"), nb::arg("workspace"))
      .def("dispatch", &MoeBulk::dispatch, nb::arg("function"), nb::arg("numbers"), nb::arg("begins"), nb::arg("x"),
           nb::arg("x_words").none(), nb::arg("words"), nb::arg("rows"), nb::arg("row_words").none(),
           nb::arg("sources").none())
      .def("combine", &MoeBulk::combine, nb::arg("function"), nb::arg("numbers"), nb::arg("begins"), nb::arg("x"),
           nb::arg("out"))
      .def("count", &MoeBulk::count, nb::arg("function"), nb::arg("chosen"), nb::arg("topk"), nb::arg("in_member"),
           nb::arg("to_members"), nb::arg("to_experts"))
      .def("route", &MoeBulk::route, nb::arg("function"), nb::arg("goes"), nb::arg("named"), nb::arg("numbers"),
           nb::arg("begins"), nb::arg("prefixes"), nb::arg("on_host").none())
      .def("destroy", &MoeBulk::destroy, nb::arg("function"));
}

}  // namespace railshmem::python
