// SPDX-License-Identifier: BSD-3-Clause
// librailshmem-libfabric.so: the only file that is linked with libfabric, so that a job which needs no network neither
// needs it nor waits for it to start.
#include "transports/ofi/libfabric/calls.h"

extern "C" __attribute__((visibility("default"))) const railshmem::ofi::LibfabricCalls railshmem_libfabric_calls;
const railshmem::ofi::LibfabricCalls railshmem_libfabric_calls = {
    .version = RAILSHMEM_VERSION_TEXT,
    .version_of_libfabric = &fi_version,
    .getinfo = &fi_getinfo,
    .freeinfo = &fi_freeinfo,
    .dupinfo = &fi_dupinfo,
    .fabric = &fi_fabric,
    .strerror = &fi_strerror,
};
