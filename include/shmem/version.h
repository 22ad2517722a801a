// SPDX-License-Identifier: BSD-3-Clause
#ifndef RAILSHMEM_SHMEM_VERSION_H
#define RAILSHMEM_SHMEM_VERSION_H

#define RAILSHMEM_QUOTE_(x) #x
#define RAILSHMEM_QUOTE(x) RAILSHMEM_QUOTE_(x)

/// Version of this library; unrelated to the version of the standard it implements.
#define RAILSHMEM_VERSION_MAJOR 0
#define RAILSHMEM_VERSION_MINOR 2
#define RAILSHMEM_VERSION_PATCH 0

/// The library version as a string, "major.minor.patch".
#define RAILSHMEM_VERSION                  \
  RAILSHMEM_QUOTE(RAILSHMEM_VERSION_MAJOR) \
  "." RAILSHMEM_QUOTE(RAILSHMEM_VERSION_MINOR) "." RAILSHMEM_QUOTE(RAILSHMEM_VERSION_PATCH)

#endif
