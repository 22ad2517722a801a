// SPDX-License-Identifier: BSD-3-Clause
#include "perftest/device/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <map>
#include <regex>

#include "perftest/device/overlap/shapes.h"
#include "perftest/harness/size_options.h"

namespace railshmem::perf::gpu {
namespace {

constexpr int kUsageError = 2;

const std::map<std::string, Scope> kScopes{{"thread", Scope::thread}, {"warp", Scope::warp}, {"block", Scope::block}};
const std::map<std::string, Amo> kAmos{
    {"add", Amo::add}, {"fetch_add", Amo::fetch_add}, {"swap", Amo::swap}, {"compare_swap", Amo::compare_swap}};
const std::map<std::string, Format> kFormats{{"table", Format::table}, {"csv", Format::csv}, {"json", Format::json}};

std::map<std::string, coll::Dtype> dtypes() {
  std::map<std::string, coll::Dtype> names;
  for (const coll::DtypeFacts& facts : coll::kDtypes) names[facts.name] = facts.dtype;
  return names;
}
std::map<std::string, coll::Memory> memories() {
  std::map<std::string, coll::Memory> names;
  for (size_t i = 0; i < coll::kMemories.size(); ++i) names[coll::kMemories[i]] = static_cast<coll::Memory>(i);
  return names;
}

template <class T>
CLI::Validator any_of(const std::map<std::string, T>& names) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : names) keys.push_back(key);
  return CLI::IsMember(keys);
}

/// Refuses words that are not of this form.
CLI::Validator matches(const std::string& form, const std::string& meaning) {
  return CLI::Validator(
      [form, meaning](const std::string& word) {
        return std::regex_match(word, std::regex(form)) ? std::string() : "'" + word + "' is not " + meaning;
      },
      meaning);
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}
template <class T>
std::string list_of(const std::map<std::string, T>& names) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : names) keys.push_back(key);
  return joined(keys, ", ");
}

struct Raw {
  SizeOptions sizes;
  std::vector<std::string> scopes;
  std::string amo = "add";
  std::vector<std::string> memories;
  std::string dtype = "float";
  std::string format = "table";
};

void declare(CLI::App& app, Options& options, Raw& raw) {
  perf::Options& common = options.common;
  app.add_option("bench", common.benches, "Benches to run; --list shows them");
  app.add_flag("--list", common.list, "List the benches and stop; needs no GPU");
  raw.sizes.declare(app);
  app.add_option("--scope", raw.scopes, "Who calls: thread, warp, block, or several with commas; default: the bench's")
      ->delimiter(',')
      ->check(any_of(kScopes));
  app.add_option("--ctas", options.ctas, "Blocks of bandwidth and rate benches")->check(CLI::Range(1u, 4096u));
  app.add_option("--threads", options.threads, "Threads of a block; a multiple of 32")
      ->check(CLI::Range(1u, kMostThreads));
  app.add_option("--peer", options.peer, "PE that PE 0 talks to; default: N/2")->check(CLI::Range(0, 1 << 20));
  app.add_option("--iters", common.iters, "Operations per repetition; default: by message size")
      ->check(CLI::Range(1L, 100000000L));
  app.add_option("--warmup", common.warmup, "Operations before each row that are not measured")
      ->check(CLI::Range(0L, 100000000L));
  app.add_option("--repetitions", common.repetitions, "Repetitions per row; the value is their median")
      ->check(CLI::Range(1, 1000));
  app.add_option("--op", raw.amo, "Operation of amo_lat: add, fetch_add, swap, compare_swap")->check(any_of(kAmos));
  app.add_flag("--graph", options.graph,
               "Collectives and experts: many calls in one CUDA graph, replayed; else call by call");
  app.add_flag("--maskable", options.maskable, "Experts, few tokens: exchanges that can go on without a PE that died");
  app.add_flag("--in-place", options.in_place, "Collectives: source and dest are one buffer");
  app.add_option("--memory", raw.memories,
                 "Collectives: buffers in heap, registered or unregistered memory, or several")
      ->delimiter(',')
      ->check(any_of(memories()));
  app.add_option("--dtype", raw.dtype, "Collectives: type of an element: " + list_of(dtypes()))
      ->check(any_of(dtypes()));
  const std::string lists = joined(overlap::shape_lists(), ", ");
  app.add_option("--shapes", options.shapes,
                 "Overlapped products: rows of all PEs x depth x columns, as 8192x8192x4096, or lists: " + lists +
                     "; experts: tokens of a PE x channels x experts")
      ->delimiter(',')
      ->check(matches("[1-9][0-9]*x[1-9][0-9]*x[1-9][0-9]*|" + joined(overlap::shape_lists(), "|"), "MxKxN, " + lists));
  app.add_option("--tokens", options.tokens, "Overlapped products: rows of all PEs in the layers of models")
      ->check(CLI::Range(size_t{1}, size_t{1} << 20));
  app.add_option("--pieces", options.pieces,
                 "Overlapped products: pieces of a PE's rows, whole, or auto; several in turn")
      ->delimiter(',')
      ->check(matches("[1-9]|[1-5][0-9]|6[0-4]|whole|auto", "1 to 64, whole or auto"));
  app.add_option("--protocol", options.protocols,
                 "ag_gemm: how rows move inside a node, get, put or auto; several in turn")
      ->delimiter(',')
      ->check(matches("get|put|auto", "get, put or auto"));
  app.add_option("--timeout", options.timeout, "Seconds after which a kernel is given up")
      ->check(CLI::Range(1.0, 3600.0));
  app.add_flag("--validate", common.validate, "Compare every byte of a round before each row that moves data");
  app.add_option("--format", raw.format, "table, csv or json (one object a row)")->check(any_of(kFormats));
  app.add_option("--out", common.out, "Write the rows to this file instead of standard output");
}

void interpret(const Raw& raw, Options& options) {
  raw.sizes.interpret(options.common);
  for (const std::string& scope : raw.scopes) options.scopes.push_back(kScopes.at(scope));
  options.amo = kAmos.at(raw.amo);
  for (const std::string& memory : raw.memories) options.memories.push_back(memories().at(memory));
  options.dtype = dtypes().at(raw.dtype);
  options.common.format = kFormats.at(raw.format);
  if (options.threads && *options.threads > 1 && *options.threads % kWarpThreads != 0)
    throw CLI::ValidationError("--threads", std::to_string(*options.threads) + " is neither 1 nor a multiple of 32");
  if (!options.common.list && options.common.benches.empty())
    throw CLI::ValidationError("bench", "name at least one; --list shows them all");
}

template <class T>
const char* key_of(const std::map<std::string, T>& names, T value) {
  for (const auto& [key, v] : names)
    if (v == value) return key.c_str();
  return "?";
}

}  // namespace

Parsed parse_options(int argc, const char* const* argv) {
  Parsed parsed;
  Raw raw;
  parsed.options.common.warmup = 50;
  parsed.options.common.repetitions = 21;
  CLI::App app("shmem_gpu_perf: bandwidth, latency and rate of SHMEM operations that kernels call, and raw floors",
               "shmem_gpu_perf");
  declare(app, parsed.options, raw);
  try {
    app.parse(argc, argv);
    interpret(raw, parsed.options);
  } catch (const CLI::CallForHelp&) {
    parsed.exit_status = 0;
    parsed.message = app.help();
  } catch (const CLI::ParseError& e) {
    parsed.exit_status = kUsageError;
    parsed.message = std::string("shmem_gpu_perf: ") + e.what() + "; --help shows every option\n";
  }
  return parsed;
}

const char* name_of(Scope scope) {
  return key_of(kScopes, scope);
}
const char* name_of(Amo amo) {
  return key_of(kAmos, amo);
}

long iterations(const Options& options, uint64_t bytes, long usual) {
  if (options.common.iters) return *options.common.iters;
  constexpr uint64_t kSmall = 4096;  // up to here a message costs about as much as an empty one
  if (bytes <= kSmall) return usual;
  return std::max<long>(5, static_cast<long>(static_cast<uint64_t>(usual) * kSmall / bytes));
}

}  // namespace railshmem::perf::gpu
