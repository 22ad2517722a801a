// SPDX-License-Identifier: BSD-3-Clause
// libfabric is loaded at the first of these calls, through the plug-in that is linked with it. The functions have the
// names and signatures of <rdma/fabric.h>, hidden in this library.
#include <dlfcn.h>

#include <string>
#include <string_view>

#include "src/base/error.h"
#include "src/base/plugin_file.h"
#include "src/base/process.h"
#include "src/base/signal_actions.h"
#include "transports/ofi/libfabric/calls.h"

namespace railshmem::ofi {
namespace {

const LibfabricCalls* load() {
  std::string path = find_plugin_file("libfabric");
  if (path.empty()) path = "librailshmem-libfabric.so";  // where dlopen looks
  // PSM, which libfabric brings along, has a constructor that catches SIGABRT, SIGSEGV, SIGTERM and more and calls
  // exit(1).
  const KeptSignalActions kept;
  // Never closed: providers leave threads and exit handlers behind.
  void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!plugin)
    throw Error(
        text("cannot load libfabric: %s; install libfabric and librailshmem-libfabric.so beside this library, "
             "or set SHMEM_TRANSPORT to p2p for a job on one node",
             dlerror()));
  const auto* calls = static_cast<const LibfabricCalls*>(dlsym(plugin, kLibfabricCalls));
  if (!calls) throw Error(text("%s is not RailSHMEM's plug-in: it has no %s", path.c_str(), kLibfabricCalls));
  if (std::string_view(calls->version) != RAILSHMEM_VERSION_TEXT)
    throw Error(text("%s is of version %s, this library of %s; install both together", path.c_str(), calls->version,
                     RAILSHMEM_VERSION_TEXT));
  return calls;
}

const LibfabricCalls& libfabric() {
  return *g_process.libfabric.get(load);
}

}  // namespace
}  // namespace railshmem::ofi

using railshmem::ofi::libfabric;

extern "C" {

uint32_t fi_version() {
  return libfabric().version_of_libfabric();
}

int fi_getinfo(uint32_t version, const char* node, const char* service, uint64_t flags, const fi_info* hints,
               fi_info** info) {
  const railshmem::KeptSignalActions kept;  // providers are loaded at the first call
  return libfabric().getinfo(version, node, service, flags, hints, info);
}

void fi_freeinfo(fi_info* info) {
  libfabric().freeinfo(info);
}

fi_info* fi_dupinfo(const fi_info* info) {
  return libfabric().dupinfo(info);
}

int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
  return libfabric().fabric(attributes, fabric, context);
}

const char* fi_strerror(int error) {
  return libfabric().strerror(error);
}

}  // extern "C"
