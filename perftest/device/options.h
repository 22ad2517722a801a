// SPDX-License-Identifier: BSD-3-Clause
// The command line of shmem_gpu_perf.
#pragma once

#include "perftest/device/coll/dtype.h"
#include "perftest/device/coll/memory.h"
#include "perftest/device/scope_kind.h"
#include "perftest/harness/options.h"

namespace railshmem::perf::gpu {

/// Operations of amo_lat.
enum class Amo : uint8_t { add, fetch_add, swap, compare_swap };

struct Options {
  perf::Options common;       ///< benches, sizes, repetitions, output; of its fields only those declared in options.cpp
  std::vector<Scope> scopes;  ///< empty = the bench's own
  std::optional<unsigned> ctas;  ///< blocks of a kernel; absent = the bench's own number
  std::optional<unsigned> threads;
  std::optional<int> peer;  ///< the PE that PE 0 talks to; absent = N/2
  Amo amo = Amo::add;
  bool graph = false;                  ///< collectives: replayed by a CUDA graph
  bool maskable = false;               ///< experts: handles that can go on without members
  bool in_place = false;               ///< collectives: source and dest overlap
  std::vector<coll::Memory> memories;  ///< collectives: of their buffers, in turn; empty = heap
  coll::Dtype dtype = coll::Dtype::float32;
  std::vector<std::string>
      shapes;            ///< overlapped products: MxKxN or names of lists; experts: sizes; empty = the bench's own
  size_t tokens = 8192;  ///< overlapped products: rows of layers of models
  std::vector<std::string> pieces;     ///< overlapped products: numbers, "whole" or "auto", in turn; empty = auto
  std::vector<std::string> protocols;  ///< all-gather + product: "get", "put", in turn; empty = auto
  double timeout = 60;                 ///< seconds after which a kernel counts as hung
};

/// As perf::Parsed: never prints and never exits.
struct Parsed {
  Options options;
  std::optional<int> exit_status;
  std::string message;
};
Parsed parse_options(int argc, const char* const* argv);

const char* name_of(Scope scope);
const char* name_of(Amo amo);

/// Operations of one repetition: the option, or `usual` for small messages and fewer for large ones, but at least 5.
/// Every PE computes this number without talking to the others.
long iterations(const Options& options, uint64_t bytes, long usual);

}  // namespace railshmem::perf::gpu
