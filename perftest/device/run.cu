// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/device/run.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>

#include "perftest/device/context.cuh"
#include "perftest/harness/launcher.h"

namespace railshmem::perf::gpu {
namespace {

/// Processes of a host share its GPUs in turn.
int choose_device() {
  int devices = 0;
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  const Launched process = launched();
  return process.local_rank.value_or(process.rank.value_or(0)) % devices;
}

Stamp stamp_of(const Context& context) {
  Stamp stamp = make_stamp();
  int device = 0, driver = 0;
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  const Symmetric probe(16);
  stamp.library = job::library();
  stamp.gpu = properties.name;
  stamp.driver = "driver for CUDA " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
  stamp.reach = job::way(context.at_peer(probe.as<>()) != nullptr);
  return stamp;
}

const std::vector<Scope>& scopes_of(const Options& options, const Bench& bench) {
  return bench.scoped && !options.scopes.empty() ? options.scopes : bench.scopes;
}

void run_bench(Context& context, const Bench& bench) {
  for (const Scope scope : scopes_of(context.options, bench)) {
    context.begin(bench, scope);
    bench.run(context);
  }
}

void write_rows(const Context& context, const Stamp& stamp) {
  const perf::Options& common = context.options.common;
  if (common.out.empty()) return write(std::cout, context.rows(), stamp, common.format);
  std::ofstream file(common.out);
  write(file, context.rows(), stamp, common.format);
  file.close();
  if (!file) throw std::runtime_error("cannot write --out " + common.out + "; is its folder there and writable?");
}

bool run_all(const Options& options) {
  Context context(options);
  const Stamp stamp = stamp_of(context);
  size_t steps = 0;
  for (const std::string& name : options.common.benches) steps += scopes_of(options, *find_bench(name)).size();
  std::optional<Progress> progress(std::in_place, context.first() ? Terminal::find() : Terminal(-1, false), steps);
  if (context.first()) context.progress = &*progress;
  try {
    for (const std::string& name : options.common.benches) run_bench(context, *find_bench(name));
    context.progress = nullptr;
    progress.reset();
  } catch (const std::exception&) {
    progress.reset();
    if (context.first()) write_rows(context, stamp);  // what ran before is still worth something
    throw;
  }
  if (!context.first()) return context.all_valid();
  write_rows(context, stamp);
  if (options.common.validate)
    fprintf(stderr, "shmem_gpu_perf: %s\n",
            context.all_valid() ? "validated: every byte of the checked rounds was right" : "NOT validated");
  return context.all_valid();
}

}  // namespace

std::string why_no_gpu() {
  int devices = 0;
  const cudaError_t result = cudaGetDeviceCount(&devices);
  if (result == cudaSuccess && devices > 0) return "";
  const std::string reason = result == cudaSuccess ? "the driver lists none" : cudaGetErrorString(result);
  return "shmem_gpu_perf: no GPU: " + reason + "; run it where nvidia-smi lists one\n";
}

bool run(const Options& options) {
  job::start(choose_device());
  const bool well = run_all(options);
  job::stop();
  return well;
}

}  // namespace railshmem::perf::gpu
