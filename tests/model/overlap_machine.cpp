// SPDX-License-Identifier: BSD-3-Clause
#include "tests/model/overlap_machine.h"

#include <shmem.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "overlap/handle.h"

namespace railshmem::model {
namespace {

constexpr size_t kHeapBytes = size_t{128} << 20;  // reserved; a few pages are touched

}  // namespace

Machine* Machine::current = nullptr;

Machine::Machine(int members, Without without) : n_(members), without_(without) {
  current = this;
  setenv("SHMEM_WAIT_TIMEOUT", "0", 1);  // a member that waits forever is the explorer's to find
  for (me_ = 0; me_ < n_; ++me_) {
    void* const heap = mmap(nullptr, kHeapBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (heap == MAP_FAILED) throw std::runtime_error("no memory for a heap");
    heaps_.push_back(static_cast<std::byte*>(heap));
    programs_.push_back(reinterpret_cast<shmemx_stream_t>(make_stream()));
  }
  handles_.resize(static_cast<size_t>(n_));
  order_.resize(static_cast<size_t>(n_));
  me_ = 0;
  constexpr size_t kPartials = 4096;
  const size_t nbytes = shmemx_overlap_workspace(SHMEM_TEAM_WORLD, kPartials), workspace = allocate(nbytes);
  for (int k = 0; k < n_; ++k) {
    act_as(k);
    if (shmemx_overlap_create(SHMEM_TEAM_WORLD, at(k, workspace), nbytes, &handle()) != 0)
      throw std::runtime_error("no handle");
  }
}

Machine::~Machine() {
  for (const shmemx_overlap_t handle : handles_)
    if (handle != nullptr) shmemx_overlap_destroy(handle);
  for (std::byte* const heap : heaps_) munmap(heap, kHeapBytes);
  current = nullptr;
}

size_t Machine::allocate(size_t nbytes) {
  const size_t at = used_;
  used_ = (used_ + nbytes + 255) / 256 * 256;
  if (used_ > kHeapBytes) throw std::runtime_error("the heap is full");
  return at;
}

void* Machine::translate(const void* address, int member) const noexcept {
  const std::byte* const base = heaps_[static_cast<size_t>(me_)];
  const ptrdiff_t offset = static_cast<const std::byte*>(address) - base;
  if (offset < 0 || static_cast<size_t>(offset) >= kHeapBytes) return nullptr;
  return heaps_[static_cast<size_t>(member)] + offset;
}

bool Machine::is_symmetric(const void* address) const noexcept {
  return std::any_of(heaps_.begin(), heaps_.end(),
                     [&](std::byte* heap) { return address >= heap && address < heap + kHeapBytes; });
}

bool Machine::left_out(const uint64_t* word) const noexcept {
  const auto among = [&](const uint64_t* words, size_t count) { return word >= words && word < words + count; };
  const auto n = static_cast<size_t>(n_);
  for (const shmemx_overlap_t handle : handles_) {
    const overlap::Words& words = handle->workspace.mine();
    if (without_ == Without::come && among(words.come, n)) return true;
    if (without_ == Without::taken && among(words.taken, n)) return true;
    if (without_ == Without::arrived && among(words.arrived, n * overlap::kMostPieces)) return true;
  }
  return false;
}

bool Machine::is_one(const void* from) const noexcept {
  return !at_once() && from == handles_[static_cast<size_t>(me_)]->workspace.mine().one;
}

uint64_t Machine::load(const void* from) {
  return *static_cast<const uint64_t*>(from);
}
void Machine::store(void* to, uint64_t value) {
  auto* const word = static_cast<uint64_t*>(to);
  before_.emplace(word, *word);
  *word = value;
}

Machine::Stream* Machine::make_stream() {
  streams_.push_back(std::make_unique<Stream>(Stream{me_}));
  return streams_.back().get();
}

void Machine::push(Stream* stream, Work work) {
  order_[static_cast<size_t>(stream->member)].emplace_back(stream, stream->work.size());
  stream->work.push_back(std::move(work));
}

void Machine::give(shmemx_stream_t stream, std::function<void()> act) {
  push(reinterpret_cast<Stream*>(stream), {[] { return true; }, std::move(act)});
}

void Machine::copy(void* to, const void* from, size_t nbytes, Stream* stream) {
  if (is_one(from) && left_out(static_cast<uint64_t*>(to))) return;
  const auto act = [this, to, from, nbytes] {
    for (size_t at = 0; at < nbytes; at += sizeof(uint64_t)) {
      explorer().step();
      store(static_cast<std::byte*>(to) + at, load(static_cast<const std::byte*>(from) + at));
    }
  };
  push(stream, {[] { return true; }, act});
}

void Machine::await(const uint64_t* word, uint64_t value, Stream* stream) {
  if (!left_out(word)) push(stream, {[word, value] { return *word == value; }, [] {}});
}

void Machine::write(uint64_t* word, uint64_t value, Stream* stream) {
  if (at_once()) {
    *word = value;
    return;
  }
  // Marks of waits are nobody's here: there is no deadline.
  if (!is_symmetric(word) || left_out(word) || (without_ == Without::clearing && value == 0)) return;
  const auto act = [this, word, value] {
    explorer().step();
    store(word, value);
  };
  push(stream, {[] { return true; }, act});
}

void Machine::run(Stream* stream, size_t i) const {
  const Work& work = stream->work[i];
  while (!work.ready()) explorer().idle();
  work.act();
  stream->done = i + 1;
}

std::vector<Explorer::Body> Machine::bodies(Queues queues) const {
  std::vector<Explorer::Body> all;
  if (queues == Queues::each) {
    for (const auto& stream : streams_)
      if (!stream->work.empty())
        all.push_back([this, s = stream.get()] {
          for (size_t i = 0; i < s->work.size(); ++i) run(s, i);
        });
    return all;
  }
  for (const auto& order : order_)
    all.push_back([this, &order] {
      for (const auto& [stream, i] : order) run(stream, i);
    });
  return all;
}

size_t Machine::explore(int preemptions, Queues queues) {
  Explorer explorer(preemptions);
  return explorer.run([this, queues] {
    for (const auto& [word, value] : before_) *word = value;
    for (const auto& stream : streams_) stream->done = 0;
    return bodies(queues);
  });
}

}  // namespace railshmem::model

// ---- the driver ----

namespace railshmem::overlap {
namespace {

using model::Machine;

Machine& machine() {
  return *Machine::current;
}
Machine::Stream* of(Stream stream) {
  return reinterpret_cast<Machine::Stream*>(stream);
}
Machine::Event* of(Event event) {
  return reinterpret_cast<Machine::Event*>(event);
}

Result words(Stream stream, unsigned count, WordOp* ops, unsigned) {
  constexpr int kWait64 = 4;
  for (const WordOp& op : std::span(ops, count)) {
    auto* const word = static_cast<uint64_t*>(pointer_of(op.address));
    op.op == kWait64 ? machine().await(word, op.value, of(stream)) : machine().write(word, op.value, of(stream));
  }
  return 0;
}

/// The kernel that adds up. Its loads and stores are not apart: what it reads must be there when it begins, and stay.
Result launch(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream stream,
              void** parameters, void**) {
  const SumCall call = *static_cast<SumCall*>(parameters[0]);
  machine().give(stream, [call] {
    machine().explorer().step();
    SumCall into = call;
    std::vector<uint64_t> result(call.nelems * sizeof(float) / sizeof(uint64_t));
    into.dest = result.data();
    kernels::sum(into, 0, 1);
    for (size_t i = 0; i < result.size(); ++i) machine().store(static_cast<uint64_t*>(call.dest) + i, result[i]);
  });
  return 0;
}

DriverCalls made() {
  DriverCalls calls;
  calls.error_string = [](Result, const char**) { return 1; };
  calls.get_context = [](void** context) {
    static int some = 0;
    *context = &some;
    return 0;
  };
  calls.host_alloc = [](void** memory, size_t nbytes, unsigned) {
    *memory = std::calloc(1, nbytes);
    return 0;
  };
  calls.host_free = [](void* memory) {
    std::free(memory);
    return 0;
  };
  calls.copy_async = [](Address to, Address from, size_t nbytes, Stream stream) {
    machine().copy(pointer_of(to), pointer_of(from), nbytes, of(stream));
    return 0;
  };
  calls.fill_async = [](Address, unsigned char, size_t, Stream) { return 0; };  // heaps are zero
  calls.stream_create = [](Stream* stream, unsigned, int) {
    *stream = reinterpret_cast<Stream>(machine().make_stream());
    return 0;
  };
  calls.stream_destroy = [](Stream) { return 0; };
  calls.stream_synchronize = [](Stream) { return 0; };
  calls.stream_wait_event = [](Stream stream, Event event, unsigned) {
    const Machine::Event at = *of(event);
    machine().push(of(stream), {[at] { return at.stream->done >= at.until; }, [] {}});
    return 0;
  };
  calls.stream_capturing = [](Stream, int* status) {
    *status = 0;
    return 0;
  };
  calls.stream_words = words;
  calls.event_create = [](Event* event, unsigned) {
    *event = reinterpret_cast<Event>(new Machine::Event);
    return 0;
  };
  calls.event_record = [](Event event, Stream stream) {
    *of(event) = {of(stream), of(stream)->work.size()};
    return 0;
  };
  calls.event_destroy = [](Event event) {
    delete of(event);
    return 0;
  };
  calls.module_load = [](Module*, const void*) { return 0; };
  calls.module_unload = [](Module) { return 0; };
  calls.module_function = [](Function*, Module, const char*) { return 0; };
  calls.launch = launch;
  return calls;
}

}  // namespace

const DriverCalls& driver() {
  static const DriverCalls calls = made();
  return calls;
}

std::span<const std::byte> sum_kernels() noexcept {
  static constexpr std::byte kSome[1]{};
  return kSome;
}

}  // namespace railshmem::overlap

// ---- what the overlap library calls of librailshmem.so ----

extern "C" {

int shmem_my_pe() {
  return railshmem::model::Machine::current->me();
}
int shmem_team_my_pe(shmem_team_t) {
  return railshmem::model::Machine::current->me();
}
int shmem_team_n_pes(shmem_team_t) {
  return railshmem::model::Machine::current->members();
}
int shmem_team_translate_pe(shmem_team_t, int member, shmem_team_t) {
  return member;
}
int shmem_team_sync(shmem_team_t) {
  return 0;
}
void* shmem_ptr(const void* address, int pe) {
  return railshmem::model::Machine::current->translate(address, pe);
}
int shmem_addr_accessible(const void* address, int pe) {
  return shmem_ptr(address, pe) != nullptr;
}
int shmemx_team_agree(shmem_team_t, int value) {
  return value;
}
int shmemx_topology_get(shmem_team_t, shmemx_topology_t* topology) {
  topology->nnodes = topology->mapped = 1;
  return 0;
}
int shmem_fcollectmem(shmem_team_t, void*, const void*, size_t) {
  return 1;  // between nodes only
}
int shmemx_coll_on_stream(const shmemx_coll_t*, shmemx_stream_t) {
  return 1;  // not of the model
}
int shmemx_fcollectmem_pieces_on_stream(shmem_team_t, void*, const void*, size_t, size_t, uint64_t*, shmemx_stream_t) {
  return 1;
}
int shmemx_reducescatter_pieces_on_stream(const shmemx_coll_t*, size_t, const uint64_t*, uint64_t*, shmemx_stream_t) {
  return 1;
}
void shmem_global_exit(int) {
  std::abort();
}

}  // extern "C"
