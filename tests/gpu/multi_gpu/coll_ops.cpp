// SPDX-License-Identifier: BSD-3-Clause
// shmemx_coll_on_stream between PEs: every collective, element type and operation, from every kind of memory, in place
// and not, as lists, with counts, given to a stream and replayed from a graph with other data each time. Compared bit
// for bit with one reference. SHMEM_COLLECTIVES makes it run one path at all sizes.
//   coll_ops [LARGEST [PARTS]]     LARGEST: elements of the largest block    (default: 700)
// PARTS names what runs, by commas: moves, reductions (float and half at all sizes, in all memory) and types (every
// type and operation, 37 elements in the heap); without it all of them run.
#include <shmem.h>
#include <shmemx.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "tests/gpu/multi_gpu/coll_buffers.h"

namespace {

using namespace railshmem::multi;

int failures = 0;

/// One call with its data. Rounds differ in their data.
class Case {
 public:
  Case(const StreamDriver& driver, const Buffers& buffers, std::string name, const TypeOf& type, size_t n)
      : driver_(driver), buffers_(buffers), name_(std::move(name)), type_(type), n_(n) {
    coll.datatype = type.datatype;
    coll.nelems = n;
  }

  shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
  std::function<void(int round)> fill;
  /// A place in memory, and what must be there.
  struct Wanted {
    const std::byte* at;
    Bytes bytes;
  };
  std::function<std::vector<Wanted>(int round)> wanted;

  void run() {
    const auto give = [&] {
      if (shmemx_coll_on_stream(&coll, driver_.stream) != 0) {
        std::printf("FAILED %s: refused\n", name_.c_str());
        ++failures;
      }
    };
    for (int round = 0; round < 3; ++round) once(round, "in stream order", give);
    if (!driver_.graphs()) return;
    void* const graph = driver_.capture([&] {
      give();
      give();  // one behind the other, with nothing between
    });
    for (int round = 3; round < 5; ++round) once(round, "in a graph", [&] { driver_.launch(graph); });
    driver_.call("cuGraphExecDestroy", graph);
  }

 private:
  template <class Give>
  void once(int round, const char* how, Give&& give) {
    // A graph runs the call twice: in place the second one has the result of the first for its source, which only moves
    // leave as it is.
    const bool again = round >= 3 && coll.dest != nullptr && coll.dest == coll.source &&
                       (coll.collective == SHMEMX_COLL_ALLREDUCE || coll.collective == SHMEMX_COLL_ALLTOALL);
    if (again || (round >= 3 && reduces_in_place)) return;
    fill(round);
    give();
    driver_.synchronize();
    for (const Wanted& one : wanted(round)) {
      const Bytes seen = buffers_.read(one.at, one.bytes.size());
      if (seen == one.bytes) continue;
      size_t i = 0;
      while (seen[i] == one.bytes[i]) ++i;
      std::printf("FAILED %s, %s, round %d: PE %d: byte %zu of %zu is %02x, expected %02x\n", name_.c_str(), how, round,
                  shmem_my_pe(), i, seen.size(), static_cast<unsigned>(seen[i]), static_cast<unsigned>(one.bytes[i]));
      ++failures;
      return;
    }
  }

 public:
  bool reduces_in_place = false;

 private:
  const StreamDriver& driver_;
  const Buffers& buffers_;
  const std::string name_;
  const TypeOf& type_;
  const size_t n_;
};

/// All cases of one kind of memory.
class Cases {
 public:
  Cases(const StreamDriver& driver, Kind kind, size_t largest)
      : driver_(driver), buffers_(driver, kind, largest * 16 * static_cast<size_t>(npes) + 4096), kind_(kind) {}

  void gather(const TypeOf& type, size_t n, bool in_place, bool list, bool limited) {
    Case one = make("all-gather", type, n, in_place, list);
    std::byte* const dest = buffers_.dest(type.nbytes);
    std::byte* const source = in_place ? dest + size(type, n) * static_cast<size_t>(me) : buffers_.source(type.nbytes);
    one.coll.collective = SHMEMX_COLL_ALLGATHER;
    one.coll.max_blocks = limited ? 1 : 0;
    one.coll.flags = limited || in_place ? SHMEMX_COLL_SPARE_SMS : 0;
    one.coll.source = source;
    std::vector<void*> dests;
    for (int k = 0; k < npes; ++k) dests.push_back(place(dest, type, n, list ? npes - 1 - k : k));
    one.coll.dest = list ? nullptr : dest;
    one.coll.dests = list ? dests.data() : nullptr;
    one.fill = [&](int round) { buffers_.write(source, operand_of(type, n, me, round)); };
    one.wanted = [&](int round) {
      std::vector<Case::Wanted> all;
      for (int k = 0; k < npes; ++k)
        all.push_back({static_cast<std::byte*>(dests[static_cast<size_t>(k)]), operand_of(type, n, k, round)});
      return all;
    };
    one.run();
  }

  void reduce_all(const TypeOf& type, size_t n, int op, bool in_place) {
    Case one = make("all-reduce", type, n, in_place, false, op);
    std::byte* const dest = buffers_.dest(type.nbytes);
    std::byte* const source = in_place ? dest : buffers_.source(type.nbytes);
    one.coll.collective = SHMEMX_COLL_ALLREDUCE;
    one.coll.flags = in_place ? SHMEMX_COLL_SPARE_SMS : 0;
    one.coll.op = op;
    one.coll.factor = kFactor;
    one.coll.source = source;
    one.coll.dest = dest;
    one.fill = [&](int round) { buffers_.write(source, operand_of(type, n, me, round)); };
    one.wanted = [&](int round) {
      std::vector<Bytes> operands;
      for (int k = 0; k < npes; ++k) operands.push_back(operand_of(type, n, k, round));
      return std::vector<Case::Wanted>{{dest, result(type, op, operands)}};
    };
    one.run();
  }

  void reduce_parts(const TypeOf& type, size_t n, int op, bool in_place, bool list) {
    Case one = make("reduce-scatter", type, n, in_place, list, op);
    std::byte* const source = buffers_.source(type.nbytes);
    std::byte* const dest = in_place ? source + size(type, n) * static_cast<size_t>(me) : buffers_.dest(type.nbytes);
    one.reduces_in_place = in_place;
    one.coll.collective = SHMEMX_COLL_REDUCESCATTER;
    one.coll.flags = in_place ? SHMEMX_COLL_SPARE_SMS : 0;
    one.coll.op = op;
    one.coll.factor = kFactor;
    std::vector<const void*> sources;
    for (int k = 0; k < npes; ++k) sources.push_back(place(source, type, n, list ? npes - 1 - k : k));
    one.coll.source = list ? nullptr : source;
    one.coll.sources = list ? sources.data() : nullptr;
    one.coll.dest = dest;
    one.fill = [&](int round) {
      for (int k = 0; k < npes; ++k)
        buffers_.write(place(source, type, n, list ? npes - 1 - k : k), block_of(type, n, me, k, round));
    };
    one.wanted = [&](int round) {
      std::vector<Bytes> operands;
      for (int k = 0; k < npes; ++k) operands.push_back(block_of(type, n, k, me, round));
      return std::vector<Case::Wanted>{{dest, result(type, op, operands)}};
    };
    one.run();
  }

  void exchange(const TypeOf& type, size_t n, bool in_place, bool list) {
    Case one = make("all-to-all", type, n, in_place, list);
    std::byte* const dest = buffers_.dest(type.nbytes);
    std::byte* const source = in_place ? dest : buffers_.source(type.nbytes);
    one.coll.collective = SHMEMX_COLL_ALLTOALL;
    one.coll.max_blocks = list ? 1 : 0;  // lists have limited kernels too
    one.coll.flags = in_place ? SHMEMX_COLL_SPARE_SMS : 0;
    std::vector<void*> dests;
    std::vector<const void*> sources;
    for (int k = 0; k < npes; ++k) {
      dests.push_back(place(dest, type, n, list ? npes - 1 - k : k));
      sources.push_back(place(source, type, n, list ? (k + 1) % npes : k));
    }
    one.coll.source = list ? nullptr : source;
    one.coll.dest = list ? nullptr : dest;
    one.coll.sources = list ? sources.data() : nullptr;
    one.coll.dests = list ? dests.data() : nullptr;
    one.fill = [&](int round) {
      for (int k = 0; k < npes; ++k)
        buffers_.write(static_cast<std::byte*>(const_cast<void*>(sources[static_cast<size_t>(k)])),
                       block_of(type, n, me, k, round));
    };
    one.wanted = [&](int round) {
      std::vector<Case::Wanted> all;
      for (int k = 0; k < npes; ++k)
        all.push_back({static_cast<std::byte*>(dests[static_cast<size_t>(k)]), block_of(type, n, k, me, round)});
      return all;
    };
    one.run();
  }

  /// PE i sends (i + 2k) % 3 * n elements to PE k: some nothing.
  void exchange_counts(const TypeOf& type, size_t n) {
    Case one = make("all-to-all with counts", type, n, false, false);
    std::byte* const source = buffers_.source(type.nbytes);
    std::byte* const dest = buffers_.dest(type.nbytes);
    const auto count = [&](int from, int to) { return static_cast<size_t>((from + 2 * to) % 3) * n / 2; };
    std::vector<size_t> source_counts, source_offsets, dest_counts, dest_offsets;
    for (int k = 0; k < npes; ++k) {
      source_counts.push_back(count(me, k));
      source_offsets.push_back(static_cast<size_t>(k) * n);
      dest_counts.push_back(count(k, me));
      dest_offsets.push_back(static_cast<size_t>(npes - 1 - k) * n);
    }
    one.coll.collective = SHMEMX_COLL_ALLTOALLV;
    one.coll.source = source;
    one.coll.dest = dest;
    one.coll.source_counts = source_counts.data();
    one.coll.source_offsets = source_offsets.data();
    one.coll.dest_counts = dest_counts.data();
    one.coll.dest_offsets = dest_offsets.data();
    one.fill = [&](int round) {
      for (int k = 0; k < npes; ++k)
        buffers_.write(place(source, type, n, k), block_of(type, count(me, k), me, k, round));
    };
    one.wanted = [&](int round) {
      std::vector<Case::Wanted> all;
      for (int k = 0; k < npes; ++k)
        all.push_back({place(dest, type, n, npes - 1 - k), block_of(type, count(k, me), k, me, round)});
      return all;
    };
    one.run();
  }

  void broadcast(const TypeOf& type, size_t n, int root, bool in_place) {
    Case one = make("broadcast", type, n, in_place, false);
    std::byte* const dest = buffers_.dest(type.nbytes);
    std::byte* const source = in_place ? dest : buffers_.source(type.nbytes);
    one.coll.collective = SHMEMX_COLL_BROADCAST;
    one.coll.root = root;
    one.coll.source = me == root ? source : nullptr;
    one.coll.dest = dest;
    one.fill = [&, root](int round) {
      if (me == root) buffers_.write(source, operand_of(type, n, root, round));
    };
    one.wanted = [&, root](int round) { return std::vector<Case::Wanted>{{dest, operand_of(type, n, root, round)}}; };
    one.run();
  }

 private:
  static constexpr double kFactor = 0.375;
  static Bytes result(const TypeOf& type, int op, const std::vector<Bytes>& operands) {
    std::vector<const Bytes*> pointers;
    for (const Bytes& operand : operands) pointers.push_back(&operand);
    return reduced(type, op, kFactor, pointers, node_of_pe(shmem_n_pes()));
  }
  static size_t size(const TypeOf& type, size_t n) { return type.nbytes * n; }
  static std::byte* place(std::byte* base, const TypeOf& type, size_t n, int block) {
    return base + size(type, n) * static_cast<size_t>(block);
  }
  static Bytes block_of(const TypeOf& type, size_t n, int from, int to, int round) {
    return operand_of(type, n, from, round * 16 + to);
  }
  Case make(const char* what, const TypeOf& type, size_t n, bool in_place, bool list, int op = -1) {
    std::string name =
        std::string(what) + " of " + std::to_string(n) + " " + type.name + " in " + kKindNames[static_cast<int>(kind_)];
    if (op >= 0) name += ", op " + std::to_string(op);
    if (in_place) name += ", in place";
    if (list) name += ", as a list";
    return {driver_, buffers_, name, type, n};
  }

  const int me = shmem_my_pe(), npes = shmem_n_pes();
  const StreamDriver& driver_;
  const Buffers buffers_;
  const Kind kind_;
};

constexpr const TypeOf& kFloat = kTypes[8];
constexpr const TypeOf& kHalf = kTypes[12];
constexpr const TypeOf& kByte = kTypes[4];

void run_moves(Cases& cases, size_t n) {
  for (const TypeOf* type : {&kFloat, &kByte}) {
    for (const bool in_place : {false, true}) {
      cases.gather(*type, n, in_place, false, false);
      cases.exchange(*type, n, in_place, false);
      cases.broadcast(*type, n, shmem_n_pes() - 1, in_place);
    }
    cases.gather(*type, n, false, true, true);
    cases.gather(*type, n, false, shmem_my_pe() % 2 == 1, false);  // members choose their forms for themselves
    cases.exchange(*type, n, false, true);
    cases.exchange_counts(*type, n);
  }
}

void run_reductions(Cases& cases, const TypeOf& type, size_t n, int op) {
  for (const bool in_place : {false, true}) {
    cases.reduce_all(type, n, op, in_place);
    cases.reduce_parts(type, n, op, in_place, false);
  }
  cases.reduce_parts(type, n, op, false, true);
  cases.reduce_parts(type, n, op, false, shmem_my_pe() % 2 == 1);
}

struct Parts {
  bool moves = false;
  bool reductions = false;
  bool types = false;
};

/// False: some word is no part.
bool parse_parts(std::string words, Parts& parts) {
  while (!words.empty()) {
    const size_t comma = words.find(',');
    const std::string word = words.substr(0, comma);
    words.erase(0, comma == std::string::npos ? comma : comma + 1);
    if (word == "moves") {
      parts.moves = true;
    } else if (word == "reductions") {
      parts.reductions = true;
    } else if (word == "types") {
      parts.types = true;
    } else {
      std::fprintf(stderr, "coll_ops: there is no part '%s'; parts are moves, reductions and types\n", word.c_str());
      return false;
    }
  }
  return true;
}

void run_kind(const StreamDriver& driver, Kind kind, size_t largest, const Parts& parts) {
  Cases cases(driver, kind, largest);
  for (const size_t n : {size_t{1}, size_t{5}, size_t{33}, largest}) {
    if (parts.moves) run_moves(cases, n);
    if (!parts.reductions) continue;
    run_reductions(cases, kFloat, n, SHMEMX_OP_SUM);
    run_reductions(cases, kHalf, n, SHMEMX_OP_AVG);
  }
  if (kind != Kind::heap || !parts.types) return;
  for (const TypeOf& type : kTypes)
    for (int op = SHMEMX_OP_AND; op <= SHMEMX_OP_PREMUL_SUM; ++op)
      if (has_op(type, op)) run_reductions(cases, type, 37, op);
}

}  // namespace

int main(int argc, char** argv) {
  const size_t largest = argc > 1 ? static_cast<size_t>(std::atol(argv[1])) : 700;
  Parts parts;
  if (!parse_parts(argc > 2 ? argv[2] : "moves,reductions,types", parts)) return 2;
  shmem_init();
  if (shmemx_attach_device() != 0) return 1;
  {
    const StreamDriver driver;
    for (const Kind kind : {Kind::heap, Kind::shifted, Kind::odd, Kind::plain, Kind::registered})
      run_kind(driver, kind, largest, parts);
    char line[512];
    shmemx_coll_t coll = SHMEMX_COLL_INITIALIZER;
    coll.nelems = 1000;
    coll.source = coll.dest = &line;
    if (shmemx_coll_explain(&coll, line, sizeof line) == 0) ++failures;
    if (shmem_my_pe() == 0) std::printf("%s\n", line);
  }
  shmem_barrier_all();
  if (failures == 0 && shmem_my_pe() == 0) std::printf("ok\n");
  shmem_finalize();
  return failures == 0 ? 0 : 1;
}
