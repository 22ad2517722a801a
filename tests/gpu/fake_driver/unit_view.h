// SPDX-License-Identifier: BSD-3-Clause
// The view of the job for kernels that are host threads of this program, filled by the library as for any CUDA unit.
// Included by one file of a program.
#pragma once

#include <cstring>

#include "include/shmem/device/view.h"

namespace railshmem {

inline WorldView view;

inline int fill_view(const void* from, size_t nbytes) {
  std::memcpy(&view, from, nbytes);
  return 0;
}

inline const struct ViewRegistration {
  ViewRegistration() { shmemx_device_view_register(fill_view, sizeof view, kWorldViewVersion); }
} view_registration;

}  // namespace railshmem
