// SPDX-License-Identifier: BSD-3-Clause
// The shmemx_ extensions.
#include <sched.h>

#include <algorithm>
#include <cstring>

#include "shmemx.h"
#include "src/api/job.h"
#include "src/base/error.h"
#include "src/base/guard.h"
#include "src/base/log.h"
#include "src/plugin/network.h"

using namespace railshmem;

namespace {

/// Copies as much of `whole` as fits, and a terminating null. Returns the bytes that all of it needs.
size_t copy_out(const std::string& whole, char* buffer, size_t nbytes) {
  if (buffer && nbytes > 0) {
    const size_t copied = std::min(nbytes - 1, whole.size());
    std::memcpy(buffer, whole.data(), copied);
    buffer[copied] = '\0';
  }
  return whole.size() + 1;
}

BootstrapRequest request_of(unsigned int flags, const shmemx_init_attr_t& attr) {
  BootstrapRequest request;
  if (flags == SHMEMX_INIT_WITH_MPI_COMM) {
    if (!attr.mpi_comm) throw Error("mpi_comm is NULL; pass the address of an MPI_Comm");
    request.mpi_comm = attr.mpi_comm;
  } else if (flags == SHMEMX_INIT_WITH_UNIQUEID) {
    if (attr.npes < 1 || attr.pe < 0 || attr.pe >= attr.npes)
      throw Error(text("PE %d of %d makes no sense; PEs count from 0", attr.pe, attr.npes));
    request.unique_id = attr.uniqueid.internal;
    request.pe = attr.pe;
    request.npes = attr.npes;
  } else if (flags != 0) {
    throw Error(text("flags 0x%x are neither SHMEMX_INIT_WITH_MPI_COMM nor SHMEMX_INIT_WITH_UNIQUEID", flags));
  }
  return request;
}

}  // namespace

extern "C" {

int shmemx_init_attr(unsigned int flags, shmemx_init_attr_t* attr) {
  return guard("shmemx_init_attr", [&] {
    const unsigned int way = flags & ~SHMEMX_INIT_THREAD_MULTIPLE;
    if (way != 0 && (!attr || attr->size != sizeof *attr))
      throw Error("attr is NULL or its size is not set; begin with SHMEMX_INIT_ATTR_INITIALIZER");
    // shmem_init has threads take turns, too.
    const int threads = flags == way ? SHMEM_THREAD_SERIALIZED : SHMEM_THREAD_MULTIPLE;
    job::start(threads, way ? request_of(way, *attr) : BootstrapRequest{});
  });
}

int shmemx_get_uniqueid(shmemx_uniqueid_t* uniqueid) {
  return guard("shmemx_get_uniqueid", [&] {
    if (!uniqueid) throw Error("uniqueid is NULL; pass the address of a shmemx_uniqueid_t");
    make_unique_id(Env::parse(), uniqueid->internal);
  });
}

int shmemx_set_attr_uniqueid_args(int pe, int npes, const shmemx_uniqueid_t* uniqueid, shmemx_init_attr_t* attr) {
  return guard("shmemx_set_attr_uniqueid_args", [&] {
    if (!uniqueid || !attr) throw Error("uniqueid or attr is NULL");
    if (npes < 1 || pe < 0 || pe >= npes) throw Error(text("PE %d of %d makes no sense; PEs count from 0", pe, npes));
    attr->size = sizeof *attr;
    attr->pe = pe;
    attr->npes = npes;
    attr->uniqueid = *uniqueid;
  });
}

size_t shmemx_describe_environment(char* buffer, size_t nbytes) {
  return copy_out(describe_env(), buffer, nbytes);
}

size_t shmemx_describe_rails(int slot, int npes, char* buffer, size_t nbytes) {
  size_t needed = 0;
  guard("shmemx_describe_rails", [&] {
    if (npes < 1 || slot < 0 || slot >= npes)
      throw Error(text("PE %d of %d makes no sense; PEs count from 0", slot, npes));
    const Env env = Env::parse();
    NetworkConfig config{};
    config.env = &env;
    config.host_slot = static_cast<size_t>(slot);
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) CPU_ZERO(&cpus);
    config.host_cpus.assign(static_cast<size_t>(npes), cpus);
    needed = copy_out(describe_rails(config), buffer, nbytes);
  });
  return needed;
}

const char* shmemx_build_options(void) {
  return RAILSHMEM_BUILD_OPTIONS;
}
}
