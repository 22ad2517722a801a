// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/harness/context.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>

namespace railshmem::perf {
namespace {

int pairs_of(const Options& options, int npes) {
  const int possible = npes / 2;
  if (options.pairs > possible)
    throw std::invalid_argument("--pairs " + std::to_string(options.pairs) + " needs " +
                                std::to_string(2 * options.pairs) + " PEs, this job has " + std::to_string(npes) +
                                "; start more PEs or ask for fewer pairs");
  return options.pairs ? options.pairs : possible;
}

std::vector<double> field(const std::vector<Distribution>& all, double Distribution::*member) {
  std::vector<double> values;
  for (const Distribution& d : all) values.push_back(d.*member);
  return values;
}

}  // namespace

Symmetric::Symmetric(size_t nbytes) : address_(shmem_calloc(1, nbytes)) {
  if (address_) return;
  throw std::runtime_error("no symmetric memory for " + std::to_string(nbytes) +
                           " bytes; use smaller messages or raise SHMEM_SYMMETRIC_SIZE");
}
Symmetric::~Symmetric() {
  if (std::uncaught_exceptions() == 0) shmem_free(address_);
}

Context::Context(const Options& o, Report& report, double init)
    : options(o),
      pe(shmem_my_pe()),
      npes(shmem_n_pes()),
      init_seconds(init),
      report_(report),
      pairs_(pairs_of(o, npes)),
      shared_memory_(sizeof(Shared)),
      shared_(shared_memory_.as<Shared>()),
      gathered_(static_cast<size_t>(npes) * sizeof(Distribution)) {
  shmem_barrier_all();
}

uint64_t Context::largest() const {
  return *std::max_element(sizes.begin(), sizes.end());
}

long Context::agree(long value) {
  if (pe == 0) {
    for (int other = 0; other < npes; ++other) shmem_long_p(&shared_->agreed, value, other);
  }
  shmem_barrier_all();
  const long agreed = *static_cast<volatile long*>(&shared_->agreed);
  shmem_barrier_all();
  return agreed;
}

std::vector<Distribution> Context::gather(const Distribution& mine) {
  auto* all = gathered_.as<Distribution>();
  shmem_putmem(all + pe, &mine, sizeof mine, 0);
  shmem_barrier_all();
  std::vector<Distribution> result;
  if (pe == 0) result.assign(all, all + npes);
  shmem_barrier_all();
  return result;
}

double Context::sum(double mine) {
  double total = 0;
  Distribution d;
  d.value = mine;
  for (const Distribution& one : gather(d)) total += one.value;
  if (pe == 0)
    for (int other = 0; other < npes; ++other) shmem_double_p(&shared_->total, total, other);
  shmem_barrier_all();
  total = *static_cast<volatile double*>(&shared_->total);
  shmem_barrier_all();
  return total;
}

void Context::sleep_until_released() {
  const timespec pause{0, 1'000'000};  // 1 ms: a thousandth of a core at most
  ++floors_;
  while (!shmem_long_test(&shared_->released, SHMEM_CMP_GE, floors_)) nanosleep(&pause, nullptr);
}

void Context::release() {
  ++floors_;
  for (int other = 1; other < npes; ++other) shmem_long_p(&shared_->released, floors_, other);
  shmem_quiet();
}

void Context::add_latency(const char* metric, uint64_t bytes, const std::vector<Distribution>& by_origin,
                          double share) {
  if (by_origin.empty()) return;
  const std::vector<double> slow = field(by_origin, &Distribution::p99);
  const double scale = 1e6 * share;
  add(metric, "us", bytes, median(field(by_origin, &Distribution::value)) * scale,
      median(field(by_origin, &Distribution::p50)) * scale, *std::max_element(slow.begin(), slow.end()) * scale,
      by_origin.front().iters);
}

void Context::add_throughput(const char* metric, const char* unit, double scale, uint64_t bytes, double amount,
                             const std::vector<Distribution>& by_origin) {
  if (by_origin.empty()) return;
  double value = 0, p50 = 0, p99 = 0;
  for (const Distribution& d : by_origin) {
    value += amount / std::max(d.value, 1e-12) * scale;
    p50 += amount / std::max(d.p50, 1e-12) * scale;
    p99 += amount / std::max(d.p99, 1e-12) * scale;
  }
  add(metric, unit, bytes, value, p50, p99, by_origin.front().iters);
}

void Context::add_bandwidth(uint64_t bytes, double amount, const std::vector<Distribution>& by_origin) {
  add_throughput("bandwidth", "GB/s", 1e-9, bytes, amount, by_origin);
}
void Context::add_rate(uint64_t bytes, double amount, const std::vector<Distribution>& by_origin) {
  add_throughput("rate", "Mops/s", 1e-6, bytes, amount, by_origin);
}

void Context::add(const char* metric, const char* unit, uint64_t bytes, double value, double p50, double p99,
                  long iters) {
  if (pe != 0) return;
  Row row;
  row.bench = bench->name;
  row.transport = transport_name();
  row.provider = provider_name(options);
  row.pes = bench->place == Place::floor ? 1 : npes;
  row.bytes = bytes;
  row.metric = metric;
  row.unit = unit;
  row.value = value;
  row.p50 = p50;
  row.p99 = p99;
  row.iters = iters;
  row.validated = validated;
  if (progress) progress->row(row.bytes);
  report_.add(std::move(row));
}

void Context::mismatch(const std::string& what) {
  constexpr uint64_t kShown = 10;  // the first few tell which of offset, round or sender is wrong
  if (++my_mismatches_ <= kShown)
    fprintf(stderr, "shmem_perf: PE %d: %s: wrong data: %s\n", pe, bench->name, what.c_str());
}

void Context::conclude_check() {
  const uint64_t before = all_mismatches_;
  all_mismatches_ = static_cast<uint64_t>(sum(static_cast<double>(my_mismatches_)));
  validated = all_mismatches_ == before;
}

}  // namespace railshmem::perf
