// SPDX-License-Identifier: BSD-3-Clause
// Several PEs in one process for emulated kernels: heaps side by side in one mapping, and a thread that plays the
// proxies of all of them.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "include/shmem/detail/device_control.h"
#include "src/channel/channel.h"
#include "tests/gpu/emulated/emulation.h"
#include "tests/support/execute_command.h"
#include "tests/support/payload_room.h"

namespace railshmem::emulation {

/// How the PEs of a job reach each other.
struct Shape {
  int npes = 2;
  int node_npes = 2;  ///< PEs of a node: the others are far
  uint32_t nchannels = 2;
  bool replies = true;     ///< reply cells, as on a GPU
  int log2_payloads = -1;  ///< large payload slots of a ring; negative: none
  uint64_t timeout_ns = 60'000'000'000;
  int teams = 4;  ///< rows in the table of teams
};

class Job {
 public:
  static constexpr uint64_t kHeap = uint64_t{4} << 20, kOther = 1 << 16;

  explicit Job(const Shape& shape) : shape_(shape), heaps_(map(total())), pes_(static_cast<size_t>(shape.npes)) {
    for (int pe = 0; pe < shape.npes; ++pe) add(pe);
    proxy_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }
  ~Job() {
    proxy_ = {};
    munmap(heaps_, total());
  }
  Job(const Job&) = delete;

  WorldView& view(int pe) { return pes_[index(pe)].view; }
  FaultRecord& fault(int pe) { return *pes_[index(pe)].fault; }
  TeamRow& team(int pe, int slot) { return pes_[index(pe)].teams[static_cast<size_t>(slot)]; }
  ContextRow& context(int pe, int place) { return pes_[index(pe)].contexts[static_cast<size_t>(place)]; }
  Channel& channel(int pe, size_t i) { return *pes_[index(pe)].channels[i]; }
  uint64_t* error(int pe) { return &pes_[index(pe)].error; }
  /// Where the program's objects begin: one offset for all PEs.
  static constexpr uint64_t kObjects = uint64_t{2} << 20;
  template <class T = unsigned char>
  T* object(int pe, uint64_t offset = 0) {
    return reinterpret_cast<T*>(heap(pe) + kObjects + offset);
  }
  unsigned char* heap(int pe) { return heaps_ + index(pe) * kHeap; }
  unsigned char* other(int pe) { return heaps_ + index(shape_.npes) * kHeap + index(pe) * kOther; }
  uint64_t commands() const { return commands_.load(); }
  /// Of these, commands whose data was in a slot.
  uint64_t payloads() const { return payloads_.load(); }
  /// Gets whose data went into a slot.
  uint64_t gets_by_slot() const { return gets_by_slot_.load(); }
  /// Makes the proxy leave commands in the ring.
  std::atomic<bool> stalled{false};

  /// Runs one kernel on every PE.
  template <class Body>
  void run(uint32_t blocks, uint32_t threads, const Body& body) {
    std::vector<Launch> launches;
    for (int pe = 0; pe < shape_.npes; ++pe) {
      launches.push_back({&view(pe), blocks, threads, [&body, pe] { body(pe); }});
    }
    emulation::run(launches);
  }
  /// A kernel on one PE.
  template <class Body>
  void run_on(int pe, uint32_t blocks, uint32_t threads, const Body& body) {
    emulation::run({{&view(pe), blocks, threads, body}});
  }

 private:
  struct Pe {
    WorldView view;
    std::vector<std::unique_ptr<PayloadRoom>> payloads;  // channels hold its addresses
    std::vector<std::unique_ptr<Channel>> channels;
    std::vector<ChannelView> views;
    std::vector<ReplyCells::Cell> cells = std::vector<ReplyCells::Cell>(kCells);
    std::vector<uint32_t> taken = std::vector<uint32_t>(kCells);
    std::unique_ptr<FaultRecord> fault = std::make_unique<FaultRecord>();
    uint32_t fault_taken = 0;
    uint64_t error = 0;
    std::vector<TeamRow> teams;
    std::vector<ContextRow> contexts = std::vector<ContextRow>(4);
  };
  static constexpr uint32_t kLog2Cells = 6, kCells = 1u << kLog2Cells;

  static size_t index(int pe) { return static_cast<size_t>(pe); }
  size_t total() const { return index(shape_.npes) * (kHeap + kOther); }
  static unsigned char* map(size_t nbytes) {
    void* const at = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) std::abort();
    return static_cast<unsigned char*>(at);
  }

  void add(int pe) {
    Pe& p = pes_[index(pe)];
    const int first = pe / shape_.node_npes * shape_.node_npes;
    const int here = std::min(shape_.node_npes, shape_.npes - first);
    const bool alone = here == shape_.npes;
    for (uint32_t i = 0; i < shape_.nchannels && !alone; ++i) {
      ChannelMemory memory = host_channel_memory(6);
      if (shape_.log2_payloads >= 0) {
        p.payloads.push_back(std::make_unique<PayloadRoom>(static_cast<uint32_t>(shape_.log2_payloads)));
        memory.payloads = p.payloads.back()->memory();
      }
      p.channels.push_back(std::make_unique<Channel>(std::move(memory)));
      p.views.push_back(p.channels.back()->view());
      p.views.back().ring.doorbell = nullptr;
      if (shape_.replies) p.views.back().replies = {p.cells.data(), p.taken.data(), kLog2Cells};
    }
    p.teams.resize(index(shape_.teams));
    p.teams[0] = {1, 0, 1, shape_.npes, pe, nullptr, 0, 0};
    WorldView& v = p.view;
    v.pe = pe;
    v.npes = shape_.npes;
    v.first_pe = first;
    v.node_npes = here;
    v.heap = {heap(pe), kHeap, heap(first), kHeap, 0, alone ? kHeap : 0, 2};
    v.other = {other(pe), kOther, other(first), kOther, 0, alone ? kOther : 0, 0};
    v.channels = p.views.data();
    v.nchannels = static_cast<uint32_t>(p.views.size());
    v.timeout_ns = shape_.timeout_ns;
    v.error = &p.error;
    v.fault = p.fault.get();
    v.fault_taken = &p.fault_taken;
    v.teams = p.teams.data();
    v.nteams = static_cast<uint32_t>(p.teams.size());
    v.contexts = p.contexts.data();
    v.ncontexts = static_cast<uint32_t>(p.contexts.size());
    v.check = 1;
    v.control = 0;
    v.control_nbytes = DeviceControlLayout(shape_.npes, shape_.teams).nbytes();
    if (v.control_nbytes > kObjects) std::abort();
  }

  unsigned char* segment(uint64_t id, uint32_t pe) {
    const int p = static_cast<int>(pe) % shape_.npes;  // a fence names no PE
    return id == 2 ? heap(p) : other(p);
  }

  void serve(const std::stop_token& stop) {
    for (uint32_t idle = 0; !stop.stop_requested();) {
      bool moved = false;
      for (Pe& p : pes_) {
        for (const auto& channel : p.channels) {
          while (!stalled.load()) {
            auto command = channel->peek();
            if (!command) break;
            const uint32_t hold = Payloads::hold_of(command->value, command->nbytes);
            const bool slot = find_payload(*channel, *command);
            gets_by_slot_ += find_get_slot(*channel, *command) ? 1 : 0;
            execute_command(*command, segment(command->segment, command->pe),
                            segment(command->signal_segment, command->pe));
            commands_.fetch_add(1);
            payloads_ += slot ? (command->nbytes + kLargePayload - 1) / kLargePayload : 0;
            const uint64_t ticket = channel->next();
            channel->pop();
            if (slot) channel->free_payload(hold);
            channel->complete(ticket);
            moved = true;
          }
          channel->publish();
        }
      }
      if (!moved) portable::relax(idle++ | 255);
    }
  }

  const Shape shape_;
  unsigned char* const heaps_;
  std::vector<Pe> pes_;
  std::atomic<uint64_t> commands_{0};
  std::atomic<uint64_t> payloads_{0};  ///< slots whose data was delivered
  std::atomic<uint64_t> gets_by_slot_{0};
  std::jthread proxy_;
};

}  // namespace railshmem::emulation
