// SPDX-License-Identifier: BSD-3-Clause
// Who died: asked when a rail fails, because providers report a lost peer as any kind of error, often without saying
// whose. The layer that knows registers itself; the layers that ask need not know it.
#pragma once

#include <optional>
#include <string>

namespace railshmem {

/// The first dead peer as a sentence, or nothing. Any thread may call it. One per process; the last one set wins.
using DeathDetector = std::optional<std::string> (*)() noexcept;
void set_death_detector(DeathDetector detector) noexcept;

/// What the detector says, empty when it knows of no death. Asks for up to so many tenths of a second: a process closes
/// its connections, which is what a rail sees, before the launcher or the kernel reports its end. Where another PE has
/// ended the job, this process ends here, too.
inline constexpr int kBeforeAnError = 15;  ///< the job is lost, so a clear message is worth the wait
inline constexpr int kBesideWork = 5;
std::string detected_death(int tenths = kBeforeAnError) noexcept;

}  // namespace railshmem
