// SPDX-License-Identifier: BSD-3-Clause
// shmem_perf: runs benches by name and prints one row per size.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>

#include "perftest/floor/partner.h"
#include "perftest/harness/context.h"
#include "perftest/harness/launcher.h"

namespace railshmem::perf {
namespace {

constexpr int kUsageError = 2;

std::string version_text() {
  return std::string(SHMEM_VENDOR_STRING) + " (OpenSHMEM " + std::to_string(SHMEM_MAJOR_VERSION) + "." +
         std::to_string(SHMEM_MINOR_VERSION) + ")";
}

/// The message for the first unknown or impossible bench; empty when all can run.
std::string refused(const Options& options) {
  const char* const heap = getenv("SHMEM_HEAP_KIND");
  if (heap && strcmp(heap, "device") == 0)
    return "SHMEM_HEAP_KIND=device, but the CPU fills and compares the memory here; unset it, or use shmem_gpu_perf";
  for (const std::string& name : options.benches)
    if (!find_bench(name)) return "there is no bench '" + name + "'; --list shows those of this build";
  return "";
}

const FloorOf& floor_of(const Bench& bench, const Options& options) {
  const bool network = transport_name().starts_with("ofi") || !options.provider.empty();
  return network ? bench.network : bench.load_store;
}

void run_one(Context& context, const Bench& bench) {
  context.bench = &bench;
  context.validated.reset();
  if (context.progress) context.progress->begin(bench.name, context.sizes.size());
  if (bench.place == Place::floor) return context.alone([&] { bench.run(context); });
  if (bench.place == Place::pairs && context.npes < 2)
    throw std::invalid_argument(std::string(bench.name) + " needs at least 2 PEs; start it with oshrun -n 2");
  bench.run(context);
}

void run_round(Context& context, Report& report) {
  for (const std::string& name : context.options.benches) {
    const Bench& bench = *find_bench(name);
    context.sizes = sweep(context.options, bench.sizes);
    const FloorOf& floor = floor_of(bench, context.options);
    const Bench* floor_bench = context.options.floor && floor.bench ? find_bench(floor.bench) : nullptr;
    if (floor_bench) run_one(context, *floor_bench);
    const size_t first = report.rows().size();
    run_one(context, bench);
    if (floor_bench) report.compare(first, floor);
  }
}

/// Calls of run_one().
size_t steps(const Options& options) {
  size_t count = 0;
  for (const std::string& name : options.benches)
    count += options.floor && floor_of(*find_bench(name), options).bench ? 2 : 1;
  return count * static_cast<size_t>(options.rounds);
}

void run_rounds(Context& context, Report& report) {
  Progress progress(context.pe == 0 ? Terminal::find() : Terminal(-1, false), steps(context.options));
  if (context.pe == 0) context.progress = &progress;
  for (int round = 0; round < context.options.rounds; ++round) run_round(context, report);
  context.progress = nullptr;
}

void write_report(const Report& report, const Options& options) {
  if (options.out.empty()) return report.write(std::cout, options.format);
  std::ofstream file(options.out);
  report.write(file, options.format);
  file.close();
  if (!file) throw std::runtime_error("cannot write --out " + options.out + "; is its folder there and writable?");
}

/// Says how the checked rounds went; the exit status of the process.
int conclude(const Context& context) {
  if (!context.options.validate) return EXIT_SUCCESS;
  if (context.pe == 0) {
    const auto wrong = static_cast<unsigned long long>(context.mismatches());
    if (wrong)
      fprintf(stderr, "shmem_perf: NOT validated: %llu transfers brought wrong data\n", wrong);
    else
      fprintf(stderr, "shmem_perf: validated: every byte of the checked rounds was right\n");
  }
  return context.mismatches() ? EXIT_FAILURE : EXIT_SUCCESS;
}

int run_all(const Options& options, double init_seconds) {
  Report report(make_stamp(version_text()));
  Context context(options, report, init_seconds);
  run_rounds(context, report);
  if (context.pe == 0) write_report(report, options);
  return conclude(context);
}

/// Threads only for benches that start some: a library may have to lock for them.
void start_library(const Options& options) {
  bool threads = false;
  for (const std::string& name : options.benches) threads |= find_bench(name)->threads == Threads::yes;
  if (!threads) return shmem_init();
  int provided = SHMEM_THREAD_SINGLE;
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) != 0) exit(EXIT_FAILURE);
}

int perf_main(int argc, char** argv) {
  if (argc == 4 && strcmp(argv[1], kPartnerOption) == 0) return partner_main(argv[2], argv[3]);
  Parsed parsed = parse_options(argc, argv);
  if (!parsed.exit_status && parsed.options.list) {
    parsed.exit_status = EXIT_SUCCESS;
    parsed.message = list_benches();
  }
  if (!parsed.exit_status) {
    const std::string why = refused(parsed.options);
    if (!why.empty()) {
      parsed.exit_status = kUsageError;
      parsed.message = "shmem_perf: " + why + "\n";
    }
  }
  if (parsed.exit_status) {
    // Before shmem_init only the launcher knows who is first.
    if (is_first_process()) fputs(parsed.message.c_str(), *parsed.exit_status ? stderr : stdout);
    return *parsed.exit_status;
  }
  const uint64_t start = ticks();
  start_library(parsed.options);
  const double init_seconds = static_cast<double>(ticks() - start) * seconds_per_tick();
  try {
    const int status = run_all(parsed.options, init_seconds);
    shmem_finalize();
    return status;
  } catch (const std::invalid_argument& e) {
    // Found on every PE alike: an orderly end.
    if (shmem_my_pe() == 0) fprintf(stderr, "shmem_perf: %s\n", e.what());
    shmem_finalize();
    return kUsageError;
  } catch (const std::exception& e) {
    // Perhaps only here, with the others in a barrier: end the job.
    fprintf(stderr, "shmem_perf: PE %d: %s\n", shmem_my_pe(), e.what());
    shmem_global_exit(EXIT_FAILURE);
  }
  return EXIT_FAILURE;
}

}  // namespace
}  // namespace railshmem::perf

int main(int argc, char** argv) {
  return railshmem::perf::perf_main(argc, argv);
}
