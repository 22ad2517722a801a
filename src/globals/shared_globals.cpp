// SPDX-License-Identifier: BSD-3-Clause
#include "src/globals/shared_globals.h"

#include "src/base/align.h"
#include "src/base/error.h"
#include "src/base/log.h"
#include "src/base/quantity.h"

namespace railshmem {

SharedGlobals::SharedGlobals(Bootstrap& bootstrap, const NodeLayout& layout, LoadStore* load_store,
                             DataSegmentMode mode)
    : layout_(layout) {
  why_none_ = find_objects(bootstrap, mode);
  if (!why_none_.empty()) range_ = {};
  if (range_.nbytes == 0) return;
  if (!load_store) {
    why_not_ = "no load/store transport";
  } else if (mode == DataSegmentMode::network) {
    why_not_ = "SHMEM_DATA_SEGMENT=network";
    needs_network_ = bootstrap.npes() > 1;
  } else {
    share(bootstrap, *load_store, mode);
  }
}

SharedGlobals::~SharedGlobals() {
  arena_.reset();
  give_back();
}

void SharedGlobals::give_back() noexcept {
  if (!moved_) return;
  moved_ = false;
  std::string why;
  if (!unshare_data_segment(&why)) log_debug("global objects stay in shared memory: %s", why.c_str());
}

/// Fills range_. Why there are no symmetric objects, or empty.
std::string SharedGlobals::find_objects(Bootstrap& bootstrap, DataSegmentMode mode) {
  if (mode != DataSegmentMode::off) range_ = find_data_segment();
  if (range_.ranges > 1) range_.nbytes = 0;
  // Collective, so also on PEs that know a reason already.
  const std::string other = find_other_executable(bootstrap);
  if (mode == DataSegmentMode::off) return "SHMEM_DATA_SEGMENT is off; set it to auto";
  if (!other.empty()) return other;
  if (range_.ranges > 1)
    return text("those of this executable are in %d separate ranges; link it with the linker's default script",
                range_.ranges);
  return range_.nbytes == 0 ? "the executable has none" : "";
}

/// Whether all PEs run one executable: an offset must name one object on all PEs.
std::string SharedGlobals::find_other_executable(Bootstrap& bootstrap) {
  struct Summary {
    ExecutableId id;
    uint64_t nbytes;
  };
  const std::vector<Summary> all = exchange(bootstrap, Summary{range_.id, range_.nbytes});
  for (size_t pe = 1; pe < all.size(); ++pe) {
    if (all[pe].id == all[0].id && all[pe].nbytes == all[0].nbytes) continue;
    if (bootstrap.pe() == 0)
      log_info("PE %zu runs another executable than PE 0: global objects are not symmetric in this job", pe);
    if ((all[pe].nbytes == 0) != (all[0].nbytes == 0))
      return text("PE %zu shares no global objects; set SHMEM_DATA_SEGMENT alike on all PEs and start one executable",
                  all[pe].nbytes == 0 ? pe : 0);
    return text("PE %zu runs another executable than PE 0; start one executable on all PEs", pe);
  }
  return {};
}

void SharedGlobals::share(Bootstrap& bootstrap, LoadStore& load_store, DataSegmentMode mode) {
  struct Offer {
    PeerFd memory;
    uint8_t shared;  // not a bool: a damaged peer may send any number
    uint8_t alone;
  };
  Offer offer{};
  offer.alone = layout_.members.size() == 1;
  SharedData mine;
  if (!offer.alone) {
    mine = share_data_segment(range_);
    moved_ = static_cast<bool>(mine);
    if (mine) offer.memory = describe_fd(mine.memory.get());
    offer.shared = moved_ && load_store.unreachable(offer.memory).empty();
    if (!moved_) why_not_ = mine.refusal;
  }
  const std::vector<Offer> all = exchange(bootstrap, offer);
  bool node_shares = !offer.alone;
  std::vector<PeerFd> memory;
  for (const int pe : layout_.members) {
    memory.push_back(all[static_cast<size_t>(pe)].memory);
    if (all[static_cast<size_t>(pe)].shared) continue;
    if (node_shares && pe != bootstrap.pe()) why_not_ = text("PE %d of the node cannot share its own", pe);
    node_shares = false;
  }
  for (const Offer& other : all) needs_network_ |= !other.shared && !other.alone;
  if (mode == DataSegmentMode::shared && !offer.alone && !node_shares)
    throw Error("SHMEM_DATA_SEGMENT is 'shared' but the global objects cannot be: " + why_not_ +
                "; use auto or network");
  if (node_shares) map_peers(load_store, memory);
  bootstrap.barrier();  // the descriptors stay open until every peer has mapped them
}

void SharedGlobals::map_peers(LoadStore& load_store, const std::vector<PeerFd>& memory) {
  arena_ = std::make_unique<NodeArena>(memory.size(), align_up(range_.nbytes, NodeArena::kAlign));
  for (size_t slot = 0; slot < memory.size(); ++slot)
    load_store.map_peer(*arena_, slot, memory[slot], range_.nbytes, 0);  // its own slot too: one rule for all
}

Segment SharedGlobals::segment() const noexcept {
  return {SegmentId::data, range_.base, range_.nbytes};
}

SegmentView SharedGlobals::view() const noexcept {
  SegmentView view;
  view.base = reinterpret_cast<uintptr_t>(range_.base);
  view.nbytes = range_.nbytes;
  view.node_base = view.base;
  view.first_slot = layout_.my_slot;
  view.slots = 1;
  if (arena_) {
    view.node_base = reinterpret_cast<uintptr_t>(arena_->base());
    view.stride = arena_->stride();
    view.first_slot = 0;
    view.slots = static_cast<int>(arena_->nslots());
  }
  return view;
}

std::string SharedGlobals::describe() const {
  if (range_.nbytes == 0) return "global objects are not symmetric: " + why_none_ + "\n";
  return text("global objects of %s, %s%s\n", memory_size(range_.nbytes).c_str(),
              arena_ ? "load/store inside the node" : "not mapped inside the node: ", arena_ ? "" : why_not_.c_str());
}

}  // namespace railshmem
