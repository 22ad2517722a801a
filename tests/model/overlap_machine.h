// SPDX-License-Identifier: BSD-3-Clause
// Members whose GPUs are lists of what the overlap library has given to their streams, for the explorer to run. The
// library is the real one; the driver and the functions of librailshmem.so that it calls are in overlap_machine.cpp.
#pragma once

#include <shmemx_overlap.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "tests/model/explorer.h"

namespace railshmem::model {

/// How the streams of a member run.
enum class Queues : uint8_t {
  each,  ///< each by itself
  one    ///< all in one queue, in the order in which work was given: what a graph, or the hardware, may do to branches
};

/// What the members leave out.
enum class Without : uint8_t { nothing, come, taken, arrived, clearing };

class Machine {
 public:
  Machine(int members, Without without);
  ~Machine();
  Machine(const Machine&) = delete;

  /// The member in whose name the library is called from now on.
  void act_as(int member) noexcept { me_ = member; }
  int me() const noexcept { return me_; }
  int members() const noexcept { return n_; }

  /// Symmetric memory, zero; at() is the part of a member.
  size_t allocate(size_t nbytes);
  std::byte* at(int member, size_t offset) const noexcept { return heaps_[static_cast<size_t>(member)] + offset; }
  /// What is at `address` of the member that acts, in another one's memory.
  void* translate(const void* address, int member) const noexcept;
  /// The handle of the member that acts, of shmemx_overlap_create.
  shmemx_overlap_t& handle() noexcept { return handles_[static_cast<size_t>(me_)]; }
  shmemx_stream_t stream() const noexcept { return programs_[static_cast<size_t>(me_)]; }

  /// Work of the program's: a few accesses, with explorer().step() between them.
  void give(shmemx_stream_t stream, std::function<void()> act);
  /// Stores a word, as an access of the stream's work.
  void store(void* to, uint64_t value);
  static uint64_t load(const void* from);
  Explorer& explorer() const noexcept { return *Explorer::current; }

  /// Runs all that was given, in every order with this many preemptions. Returns the number of orders, or throws
  /// std::runtime_error that names the first bad one.
  size_t explore(int preemptions, Queues queues);

  // The driver, for overlap_machine.cpp.
  struct Work {
    std::function<bool()> ready;
    std::function<void()> act;
  };
  struct Stream {
    int member;
    std::vector<Work> work = {};
    size_t done = 0;
  };
  struct Event {
    Stream* stream = nullptr;
    size_t until = 0;
  };
  Stream* make_stream();
  void push(Stream* stream, Work work);
  /// A handle is being made: its work is done at once.
  bool at_once() const noexcept { return handles_[static_cast<size_t>(me_)] == nullptr; }
  void copy(void* to, const void* from, size_t nbytes, Stream* stream);
  void await(const uint64_t* word, uint64_t value, Stream* stream);
  void write(uint64_t* word, uint64_t value, Stream* stream);
  static Machine* current;

 private:
  bool is_symmetric(const void* address) const noexcept;
  /// Whether members do without this word.
  bool left_out(const uint64_t* word) const noexcept;
  /// Whether `from` is the word that copies take into words of other members.
  bool is_one(const void* from) const noexcept;
  void run(Stream* stream, size_t i) const;
  std::vector<Explorer::Body> bodies(Queues queues) const;

  const int n_;
  const Without without_;
  int me_ = 0;
  size_t used_ = 0;
  std::vector<std::byte*> heaps_;
  std::vector<shmemx_overlap_t> handles_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<shmemx_stream_t> programs_;
  std::vector<std::vector<std::pair<Stream*, size_t>>> order_;  ///< of each member: what was given, stream by stream
  std::map<uint64_t*, uint64_t> before_;                        ///< words that work has stored, as they were at first
};

}  // namespace railshmem::model
