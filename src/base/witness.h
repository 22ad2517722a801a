// SPDX-License-Identifier: BSD-3-Clause
// Who died: asked when a rail fails, because providers report a lost peer as any kind of error, often without saying
// whose. The layer that knows registers itself; the layers that ask need not know it.
#pragma once

#include <optional>
#include <string>

namespace railshmem {

/// The first dead peer as a sentence, or nothing. Any thread may call it. One per process; the last one set wins.
using DeathWitness = std::optional<std::string> (*)() noexcept;
void set_death_witness(DeathWitness witness) noexcept;

/// What the witness says, empty when it knows of no death. May take half a second: a process closes its connections,
/// which is what a rail sees, some milliseconds before the kernel reports its end.
std::string witnessed_death() noexcept;

/// Whether this PE has died. Set only in jobs whose PEs go on without one that dies (SHMEM_SURVIVE).
using LossWitness = bool (*)(int pe) noexcept;
void set_loss_witness(LossWitness witness) noexcept;

/// Stands for any PE.
inline constexpr int kAnyPe = -1;

/// Whether this PE goes on though `pe` has died, as far as known now. False where PEs do not go on.
bool is_known_dead(int pe) noexcept;
/// Whether this PE goes on though `pe` has died. May take two seconds, as witnessed_death(); at once where PEs do not
/// go on.
bool goes_on_without(int pe) noexcept;

}  // namespace railshmem
