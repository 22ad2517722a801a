// SPDX-License-Identifier: BSD-3-Clause
// Without libFuzzer, so that the seeds and the inputs of past crashes are a test under every compiler and sanitizer:
//   fuzz_replay TARGET FOLDER              runs the seeds, the inputs in FOLDER, and simple variations of both
//   fuzz_replay --write TARGET FOLDER OUT  writes the seeds and those inputs as files, for libFuzzer
//   fuzz_replay --run TARGET FILE...       runs files as libFuzzer has written them
// An input in FOLDER is a file NAME.hex: lines of hexadecimal digits; # begins a comment.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/fuzz.h"

namespace railshmem::fuzz {
namespace {

struct Named {
  std::string name;
  Data data;
};

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "fuzz_replay: %s\n", why.c_str());
  std::exit(2);
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

Data from_hex(const std::filesystem::path& path) {
  Data out;
  std::string digits, line;
  for (std::ifstream file(path); std::getline(file, line);)
    for (const char c : line.substr(0, line.find('#')))
      if (c != ' ') digits += c;
  for (size_t at = 0; at < digits.size(); at += 2) {
    uint8_t byte = 0;
    const auto [end, error] = std::from_chars(&digits[at], &digits[at] + 2, byte, 16);
    if (error != std::errc() || end != &digits[at] + 2) fail(path.string() + " is no file of hexadecimal digits");
    out.push_back(static_cast<std::byte>(byte));
  }
  return out;
}

/// The seeds, and the inputs of past crashes.
std::vector<Named> inputs_of(const Target& target, const std::filesystem::path& folder) {
  std::vector<Named> all;
  for (Data& data : target.seeds()) all.push_back({"seed " + std::to_string(all.size()), std::move(data)});
  if (all.empty()) fail(std::string(target.name) + " has no seeds");
  if (!std::filesystem::is_directory(folder)) return all;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) all.push_back({file.filename().string(), from_hex(file)});
  return all;
}

/// Cuts the input at some places, and bends as many of its bytes in two ways.
size_t run_variations(const Target& target, const Data& whole) {
  constexpr size_t kPlaces = 24;
  const size_t step = whole.size() / kPlaces + 1;
  size_t runs = 0;
  for (size_t at = 0; at < whole.size(); at += step, runs += 3) {
    target.run(Input(std::span(whole).first(at)));
    for (const std::byte bend : {std::byte{0x80}, std::byte{0xff}}) {
      Data bent = whole;
      bent[at] ^= bend;
      target.run(Input(bent));
    }
  }
  return runs;
}

int replay(const Target& target, const std::filesystem::path& folder) {
  size_t runs = 1;
  target.run(Input({}));
  const std::vector<Named> inputs = inputs_of(target, folder);
  for (const Named& input : inputs) {
    std::printf("%s\n", input.name.c_str());
    std::fflush(stdout);  // so that a crash has a name
    target.run(Input(input.data));
    runs += 1 + run_variations(target, input.data);
  }
  std::printf("%s: %zu seeds and past crashes, %zu inputs with their variations\n", target.name, inputs.size(), runs);
  return 0;
}

int write(const Target& target, const std::filesystem::path& folder, const std::filesystem::path& out) {
  std::filesystem::create_directories(out);
  for (const Named& input : inputs_of(target, folder)) {
    std::ofstream file(out / input.name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(input.data.data()), static_cast<std::streamsize>(input.data.size()));
    if (!file.flush()) fail((out / input.name).string() + " cannot be written");
  }
  return 0;
}

int run(const Target& target, std::span<char* const> files) {
  for (const char* file : files) {
    std::printf("%s\n", file);
    std::fflush(stdout);
    target.run(Input(seed(content_of(file))));
  }
  return 0;
}

const Target& target_named(std::string_view name) {
  std::string known;
  for (const Target& target : targets()) {
    if (target.name == name) return target;
    known += std::string(" ") + target.name;
  }
  fail("there is no target '" + std::string(name) + "'; there are:" + known);
}

}  // namespace
}  // namespace railshmem::fuzz

int main(int argc, char** argv) {
  using namespace railshmem::fuzz;
  const std::span<char* const> words(argv + 1, static_cast<size_t>(argc - 1));
  if (words.size() == 4 && std::string_view(words[0]) == "--write")
    return write(target_named(words[1]), words[2], words[3]);
  if (words.size() >= 3 && std::string_view(words[0]) == "--run") return run(target_named(words[1]), words.subspan(2));
  if (words.size() == 2) return replay(target_named(words[0]), words[1]);
  fail("usage: fuzz_replay TARGET FOLDER | --write TARGET FOLDER OUT | --run TARGET FILE...");
}
