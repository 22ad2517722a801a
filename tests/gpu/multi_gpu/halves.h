// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tests/gpu/multi_gpu/gpu_pes.h"

namespace railshmem::multi {

/// Collective.
void reduce_halves(Job& job);

}  // namespace railshmem::multi
