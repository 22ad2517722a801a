// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/stream_collectives.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <numeric>
#include <string_view>

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

struct Name {
  std::string_view name;
  int value;
};
constexpr Name kCollectives[] = {{"all_gather", SHMEMX_COLL_ALLGATHER},   {"reduce_scatter", SHMEMX_COLL_REDUCESCATTER},
                                 {"all_reduce", SHMEMX_COLL_ALLREDUCE},   {"all_to_all", SHMEMX_COLL_ALLTOALL},
                                 {"all_to_all_v", SHMEMX_COLL_ALLTOALLV}, {"broadcast", SHMEMX_COLL_BROADCAST}};

int collective_named(std::string_view name) noexcept {
  for (const Name& known : kCollectives)
    if (known.name == name) return known.value;
  return -1;  // railshmem.torch has no other name
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

using Splits = std::optional<std::vector<size_t>>;

/// False, and nothing has happened, where input is in the memory of the CPU or is no tensor.
bool coll_on_stream(const char* function, const char* collective, nb::handle to, nb::handle from, const Team* team,
                    nb::handle stream, nb::handle op, const std::optional<double>& factor, int root,
                    const Splits& dest_counts, const Splits& source_counts, bool spare_sms) {
  require_running(function);
  if (!is_on_gpu(first_of(from))) return false;
  const Side dest(function, "output", to, Access::write), source(function, "input", from, Access::read);
  require_one_type(function, dest.first(), source.first());
  require_one_device(function, dest.first(), source.first());
  shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
  coll.team = team ? team->use(function) : SHMEM_TEAM_WORLD;
  coll.collective = collective_named(collective);
  const auto npes = static_cast<size_t>(shmem_team_n_pes(coll.team));
  dest.require_members(function, npes);
  source.require_members(function, npes);
  coll.datatype = SHMEMX_DATATYPE_UINT8;  // what only moves, moves as bytes
  size_t unit = source.first().itemsize();
  if (reduces(coll.collective)) {
    coll.op = operation_of(function, op, factor, source.first()).value;
    coll.datatype = datatype_of(function, source.first());
    coll.factor = factor.value_or(0.0);
    unit = 1;
  }
  coll.root = root;
  coll.flags = spare_sms ? SHMEMX_COLL_SPARE_SMS : 0;
  if (coll.collective == SHMEMX_COLL_BROADCAST && (root < 0 || static_cast<size_t>(root) >= npes))
    value_error(text(function, ": root is ", root, ", and the team has the members 0 to ", npes - 1));
  coll.nelems = nelems_of(function, coll.collective, dest, source, npes) * unit;
  coll.source = source.data();
  coll.dest = dest.data();
  coll.sources = const_cast<const void* const*>(source.list());
  coll.dests = dest.list();
  std::optional<Counts> dealt, got;
  if (coll.collective == SHMEMX_COLL_ALLTOALLV) {
    dealt.emplace(function, source.first(), source_counts.value_or(std::vector<size_t>{}), npes);
    got.emplace(function, dest.first(), dest_counts.value_or(std::vector<size_t>{}), npes);
    for (auto* list : {&dealt->counts, &dealt->offsets, &got->counts, &got->offsets})
      for (size_t& number : *list) number *= unit;
    coll.source_counts = dealt->counts.data();
    coll.source_offsets = dealt->offsets.data();
    coll.dest_counts = got->counts.data();
    coll.dest_offsets = got->offsets.data();
  }
  const auto on = stream_for(function, dest.first(), stream);
  int status = 0;
  {
    const Waiting waits(function);
    status = shmemx_coll_on_stream(&coll, *on);
  }
  if (status != 0) require_device_heap(function);
  if (status != 0)
    state_error(text(function, ": the library refused the call; its message on standard error says why"));
  return true;
}

}  // namespace

void bind_stream_collectives(nb::module_& module) {
  module.def("coll_on_stream", coll_on_stream, nb::arg("function"), nb::arg("collective"), nb::arg("output").none(),
             nb::arg("input").none(), nb::arg("team").none() = nb::none(), nb::arg("stream").none() = nb::none(),
             nb::arg("op").none() = nb::none(), nb::arg("factor").none() = nb::none(), nb::arg("root") = 0,
             nb::arg("output_counts").none() = nb::none(), nb::arg("input_counts").none() = nb::none(),
             nb::arg("spare_sms") = false);
}

}  // namespace railshmem::python
