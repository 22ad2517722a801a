// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/stream_collectives.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include "python/src/array.h"
#include "python/src/device.h"
#include "python/src/errors.h"
#include "python/src/operations.h"
#include "python/src/state.h"
#include "python/src/team.h"
#include "python/src/tensor.h"
#include "python/src/waiting.h"
#include "shmemx.h"

namespace railshmem::python {
namespace {

namespace nb = nanobind;

/// The library's type of the elements, for calls that compute.
int datatype_of(const char* function, const Array& array) {
  const int log2 = array.itemsize() == 8 ? 3 : array.itemsize() == 4 ? 2 : array.itemsize() == 2 ? 1 : 0;
  switch (array.kind()) {
    case Kind::signed_integer:
      return SHMEMX_DATATYPE_INT8 + log2;
    case Kind::unsigned_integer:
      return SHMEMX_DATATYPE_UINT8 + log2;
    case Kind::boolean:
      return SHMEMX_DATATYPE_UINT8;
    case Kind::real:
      return log2 == 1 ? SHMEMX_DATATYPE_HALF : log2 == 2 ? SHMEMX_DATATYPE_FLOAT : SHMEMX_DATATYPE_DOUBLE;
    case Kind::bfloat16:
      return SHMEMX_DATATYPE_BFLOAT16;
    case Kind::float8_e4m3:
      return SHMEMX_DATATYPE_FLOAT8_E4M3;
    case Kind::float8_e5m2:
      return SHMEMX_DATATYPE_FLOAT8_E5M2;
    case Kind::complex:
      return log2 == 3 ? SHMEMX_DATATYPE_COMPLEX_FLOAT : SHMEMX_DATATYPE_COMPLEX_DOUBLE;
    case Kind::unknown:
      break;
  }
  type_error(
      text(function, ": ", array.argument(), " has elements of ", array.type_name(), ", which no operation takes"));
}

/// A function of railshmem.torch, and the library's number of what it does.
struct Collective {
  const char* function;
  int number;
};
constexpr Collective kBroadcast{"railshmem.torch.broadcast", SHMEMX_COLL_BROADCAST};
constexpr Collective kDealt{"railshmem.torch.all_to_all", SHMEMX_COLL_ALLTOALLV};

constexpr std::pair<std::string_view, Collective> kCollectives[] = {
    {"all_gather", {"railshmem.torch.all_gather", SHMEMX_COLL_ALLGATHER}},
    {"reduce_scatter", {"railshmem.torch.reduce_scatter", SHMEMX_COLL_REDUCESCATTER}},
    {"all_reduce", {"railshmem.torch.all_reduce", SHMEMX_COLL_ALLREDUCE}},
    {"all_to_all", {"railshmem.torch.all_to_all", SHMEMX_COLL_ALLTOALL}}};

const Collective& collective_named(const char* name) {
  for (const auto& [known, collective] : kCollectives)
    if (known == name) return collective;
  value_error(text("coll_on_stream: '", name, "' is no collective"));
}

bool reduces(int collective) noexcept {
  return collective == SHMEMX_COLL_REDUCESCATTER || collective == SHMEMX_COLL_ALLREDUCE;
}

/// The tensor, or the first one of the list. Null for an empty list.
nb::handle first_of(nb::handle object) {
  if (!nb::isinstance<nb::list>(object)) return object;
  return PyList_Size(object.ptr()) > 0 ? nb::handle(PyList_GetItem(object.ptr(), 0)) : nb::handle();
}

/// One side of a collective: a tensor, or a list with a tensor for each member.
class Side {
 public:
  Side(const char* function, const char* argument, nb::handle object, Access access) : argument_(argument) {
    if (!nb::isinstance<nb::list>(object)) {
      whole_.emplace(function, argument, object, access);
      require_on_gpu(function, *whole_);
      return;
    }
    for (const nb::handle block : nb::borrow<nb::list>(object)) add(function, block, access);
    if (blocks_.empty()) value_error(text(function, ": ", argument, " is an empty list"));
  }

  const Array& first() const noexcept { return whole_ ? *whole_ : *blocks_.front(); }
  /// In all blocks.
  size_t elements() const noexcept { return whole_ ? whole_->elements() : first().elements() * blocks_.size(); }
  /// ValueError where a list has another number of tensors than the team has members.
  void require_members(const char* function, size_t npes) const {
    if (!whole_ && blocks_.size() != npes)
      value_error(text(function, ": ", argument_, " is a list of ", blocks_.size(), " tensors, and the team has ", npes,
                       " PEs"));
  }
  /// Null for a list.
  void* data() const noexcept { return whole_ ? whole_->data() : nullptr; }
  /// Null for one tensor.
  void* const* list() const noexcept { return whole_ ? nullptr : addresses_.data(); }

 private:
  void require_on_gpu(const char* function, const Array& array) const {
    if (array.on_host())
      type_error(text(function, ": ", argument_, " is in the memory of the CPU, and the call's other tensors are not; ",
                      "move it with to()"));
  }
  void add(const char* function, nb::handle object, Access access) {
    blocks_.push_back(std::make_unique<Array>(function, argument_, object, access));
    addresses_.push_back(blocks_.back()->data());
    require_on_gpu(function, *blocks_.back());
    require_one_type(function, first(), *blocks_.back());
    if (blocks_.back()->elements() != first().elements())
      value_error(text(function, ": ", argument_, " is a list of tensors of ", first().elements(), " and ",
                       blocks_.back()->elements(), " elements; they must have one size"));
  }

  const char* argument_;
  std::optional<Array> whole_;  ///< no allocation for the usual form
  std::vector<std::unique_ptr<Array>> blocks_;
  std::vector<void*> addresses_;
};

/// Elements for and from each member, and where they begin.
struct Counts {
  Counts(const char* function, const Array& array, std::vector<size_t> given, size_t npes) : counts(std::move(given)) {
    if (counts.size() != npes)
      value_error(text(function, ": there are ", counts.size(), " split sizes for ", array.argument(),
                       ", and the team has ", npes, " PEs"));
    offsets.resize(npes);
    std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), size_t{0});
    const size_t all = offsets.back() + counts.back();
    if (all != array.elements())
      value_error(text(function, ": the split sizes of ", array.argument(), " are of ", all, " elements together, and ",
                       "it has ", array.elements()));
  }
  std::vector<size_t> counts, offsets;
};

/// ValueError unless `larger` has `times` the elements of `smaller`.
void require_ratio(const char* function, const Side& larger, const Side& smaller, size_t times, size_t npes) {
  if (larger.elements() != smaller.elements() * times)
    value_error(text(function, ": ", larger.first().argument(), " has ", larger.elements(), " elements; for a team of ",
                     npes, " PEs and ", smaller.elements(), " elements of ", smaller.first().argument(),
                     " it must have ", smaller.elements() * times));
}

/// Elements that one member hands to one other. ValueError for sizes that do not fit.
size_t nelems_of(const char* function, int collective, const Side& dest, const Side& source, size_t npes) {
  switch (collective) {
    case SHMEMX_COLL_ALLGATHER:
      require_ratio(function, dest, source, npes, npes);
      return source.elements();
    case SHMEMX_COLL_REDUCESCATTER:
      require_ratio(function, source, dest, npes, npes);
      return dest.elements();
    case SHMEMX_COLL_ALLTOALL:
      require_ratio(function, dest, source, 1, npes);
      if (source.elements() % npes)
        value_error(text(function, ": ", source.first().argument(), " has ", source.elements(),
                         " elements, which is no multiple of the team's ", npes, " PEs"));
      return source.elements() / npes;
    case SHMEMX_COLL_ALLTOALLV:
      return 0;
    default:
      require_ratio(function, dest, source, 1, npes);
      return source.elements();
  }
}

using Splits = std::vector<size_t>;

/// The tensors of a collective and where it runs. A caller fills in what its collective has beyond that.
class Call {
 public:
  Call(const Collective& collective, nb::handle output, nb::handle input, const Team* team, bool spare_sms)
      : function_(collective.function),
        dest_(function_, "output", output, Access::write),
        source_(function_, "input", input, Access::read) {
    require_one_type(function_, dest_.first(), source_.first());
    require_one_device(function_, dest_.first(), source_.first());
    coll_.team = team ? team->use(function_) : SHMEM_TEAM_WORLD;
    coll_.collective = collective.number;
    coll_.datatype = SHMEMX_DATATYPE_UINT8;  // what only moves, moves as bytes
    coll_.flags = spare_sms ? SHMEMX_COLL_SPARE_SMS : 0;
    npes_ = static_cast<size_t>(shmem_team_n_pes(coll_.team));
    dest_.require_members(function_, npes_);
    source_.require_members(function_, npes_);
  }

  void reduce(nb::handle op, const std::optional<double>& factor) {
    coll_.op = operation_of(function_, op, factor, source_.first()).value;
    coll_.datatype = datatype_of(function_, source_.first());
    coll_.factor = factor.value_or(0.0);
    unit_ = 1;
  }

  void from_root(int root) {
    if (root < 0 || static_cast<size_t>(root) >= npes_)
      value_error(text(function_, ": root is ", root, ", and the team has the members 0 to ", npes_ - 1));
    coll_.root = root;
  }

  void deal(const Splits& dest_counts, const Splits& source_counts) {
    dealt_.emplace(function_, source_.first(), source_counts, npes_);
    got_.emplace(function_, dest_.first(), dest_counts, npes_);
    for (auto* list : {&dealt_->counts, &dealt_->offsets, &got_->counts, &got_->offsets})
      for (size_t& number : *list) number *= unit_;
    coll_.source_counts = dealt_->counts.data();
    coll_.source_offsets = dealt_->offsets.data();
    coll_.dest_counts = got_->counts.data();
    coll_.dest_offsets = got_->offsets.data();
  }

  void give(nb::handle stream) {
    coll_.nelems = nelems_of(function_, coll_.collective, dest_, source_, npes_) * unit_;
    coll_.source = source_.data();
    coll_.dest = dest_.data();
    coll_.sources = const_cast<const void* const*>(source_.list());
    coll_.dests = dest_.list();
    const auto on = stream_for(function_, dest_.first(), stream);
    int status = 0;
    {
      const Waiting waits(function_);
      status = shmemx_coll_on_stream(&coll_, *on);
    }
    if (status != 0) require_device_heap(function_);
    if (status != 0)
      state_error(text(function_, ": the library refused the call; its message on standard error says why"));
  }

 private:
  const char* function_;
  const Side dest_, source_;
  shmemx_coll_t coll_ = SHMEMX_COLL_INITIALIZER;
  size_t npes_ = 0;
  size_t unit_ = source_.first().itemsize();  ///< bytes, or elements of what is reduced
  std::optional<Counts> dealt_, got_;
};

// Each returns False, and nothing has happened, where input is in the memory of the CPU or is no tensor. nanobind hands
// arguments on without looking for names where there are at most eight, all of them given and none by name.

bool coll_on_stream(const char* name, nb::handle output, nb::handle input, const Team* team, nb::handle stream,
                    bool spare_sms, nb::handle op, const std::optional<double>& factor) {
  const Collective& collective = collective_named(name);
  require_running(collective.function);
  if (!is_on_gpu(first_of(input))) return false;
  Call call(collective, output, input, team, spare_sms);
  if (reduces(collective.number)) call.reduce(op, factor);
  call.give(stream);
  return true;
}

bool broadcast_on_stream(nb::handle tensor, int root, const Team* team, nb::handle stream, bool spare_sms) {
  require_running(kBroadcast.function);
  if (!is_on_gpu(tensor)) return false;
  Call call(kBroadcast, tensor, tensor, team, spare_sms);
  call.from_root(root);
  call.give(stream);
  return true;
}

bool all_to_all_v_on_stream(nb::handle output, nb::handle input, const Splits& output_counts,
                            const Splits& input_counts, const Team* team, nb::handle stream, bool spare_sms) {
  require_running(kDealt.function);
  if (!is_on_gpu(input)) return false;
  Call call(kDealt, output, input, team, spare_sms);
  call.deal(output_counts, input_counts);
  call.give(stream);
  return true;
}

}  // namespace

void bind_stream_collectives(nb::module_& module) {
  module.def("coll_on_stream", coll_on_stream, nb::arg("collective"), nb::arg("output").none(), nb::arg("input").none(),
             nb::arg("team").none() = nb::none(), nb::arg("stream").none() = nb::none(), nb::arg("spare_sms") = false,
             nb::arg("op").none() = nb::none(), nb::arg("factor").none() = nb::none());
  module.def("broadcast_on_stream", broadcast_on_stream, nb::arg("tensor").none(), nb::arg("root"),
             nb::arg("team").none() = nb::none(), nb::arg("stream").none() = nb::none(), nb::arg("spare_sms") = false);
  module.def("all_to_all_v_on_stream", all_to_all_v_on_stream, nb::arg("output").none(), nb::arg("input").none(),
             nb::arg("output_counts"), nb::arg("input_counts"), nb::arg("team").none() = nb::none(),
             nb::arg("stream").none() = nb::none(), nb::arg("spare_sms") = false);
}

}  // namespace railshmem::python
