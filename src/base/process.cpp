// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/process.h"

namespace railshmem {

constinit Process g_process;

}  // namespace railshmem
