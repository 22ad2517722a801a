// SPDX-License-Identifier: BSD-3-Clause
// Gives the peers of the node the executable's global objects by load and store, at unchanged addresses.
#pragma once

#include <string>

#include "src/base/unique.h"
#include "src/globals/data_segment.h"

namespace railshmem {

/// The shared memory, or the reason why the objects cannot be shared.
struct SharedData {
  UniqueFd memory;      ///< memfd of segment.nbytes; offset 0 is segment.base
  std::string refusal;  ///< empty when shared
  explicit operator bool() const noexcept { return static_cast<bool>(memory); }
};

/// Moves the segment into a memfd. Contents, addresses and protection stay; pages never written stay unpopulated.
///
/// Other threads are held for the time (ThreadPark): none loses a store, some see EINTR. When a thread cannot be held,
/// the executable is static, or pages of the segment were remapped or protected by somebody, nothing changes and the
/// refusal says why. fork() gives the child a private copy, and the parent waits up to kForkWaitMs for it; posix_spawn
/// and vfork need none; a child made by raw clone(2) or _Fork() shares the objects with its parent.
/// Pages of these objects that a device driver registered or pinned beforehand stay the old pages.
/// A second call returns the memory of the first.
SharedData share_data_segment(const DataSegment& segment);

/// Makes the objects private again, with the values they have now. Peers must have stopped writing.
/// False when some thread could not be held; `why` says which. The objects then stay shared, which harms nobody.
/// True also when nothing was shared.
bool unshare_data_segment(std::string* why = nullptr);

/// How long a parent's fork() waits for the child's copy: beyond it the child may see later stores of the parent.
inline constexpr int kForkWaitMs = 5000;

}  // namespace railshmem
