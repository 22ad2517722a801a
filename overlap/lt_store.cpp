// SPDX-License-Identifier: BSD-3-Clause
// A line for each product: a checksum of the rest, the algorithm's 64 bytes, and the product, all of text.
#include "overlap/lt_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <thread>

#include "src/base/env.h"
#include "src/base/error.h"
#include "src/base/fingerprint.h"
#include "src/base/log.h"
#include "src/base/trusted_file.h"

namespace railshmem::overlap {
namespace {

constexpr const char* kTitle = "# RailSHMEM: algorithms of cuBLASLt that were the fastest. It may be deleted.";
constexpr size_t kWordDigits = 16, kDigits = 8 * kWordDigits;

std::string hex(uint64_t word) {
  return text("%016llx", static_cast<unsigned long long>(word));
}

std::optional<uint64_t> word_of(std::string_view digits) {
  uint64_t word = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), word, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return word;
}

std::string line_of(std::string_view product, const lt::Algorithm& algorithm) {
  std::string line;
  for (const uint64_t word : algorithm.data) line += hex(word);
  line += ' ';
  line += product;
  return hex(fnv1a(line)) + ' ' + line;
}

/// Whether it is a line of line_of(); then it is in `product` and `algorithm`.
bool parse(std::string_view line, std::string& product, lt::Algorithm& algorithm) {
  if (line.size() <= kWordDigits + 1 + kDigits + 1) return false;
  const std::string_view rest = line.substr(kWordDigits + 1);
  for (size_t i = 0; i < algorithm.data.size(); ++i) {
    const auto word = word_of(rest.substr(i * kWordDigits, kWordDigits));
    if (!word) return false;
    algorithm.data[i] = *word;
  }
  product = rest.substr(kDigits + 1);
  return line_of(product, algorithm) == line;
}

/// All of a file; empty if none exists. Algorithms decide which code the GPU runs, so another user's are refused.
std::string content_of(const std::string& path) {
  const TrustedFile file = open_trusted(path, O_RDONLY);
  if (!file.fd && file.error != 0) return {};
  if (!file.fd) throw Error("it " + file.refusal);
  std::string content;
  char block[1 << 14];
  for (ssize_t n = 0; (n = ::read(file.fd.get(), block, sizeof block)) > 0;)
    content.append(block, static_cast<size_t>(n));
  return content;
}

/// With all folders above that are missing; nobody else may write to them, whatever the umask.
void make_folder(const std::string& folder) {
  for (size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    if (mkdir(folder.substr(0, end).c_str(), 0700) != 0 && errno != EEXIST) check_errno(false, "mkdir");
    if (end == std::string::npos) return;
  }
}

/// A lock of all processes that write the file, as long as it lives. One that keeps it does so for milliseconds, unless
/// somebody stopped it.
UniqueFd lock(const std::string& path) {
  TrustedFile file = open_own_output(path, O_RDWR, 0600);
  if (!file.fd) throw Error(text("%s: it %s", path.c_str(), file.refusal.c_str()));
  UniqueFd fd = std::move(file.fd);
  constexpr auto kTurn = std::chrono::milliseconds(5);
  for (int turns = 200; flock(fd.get(), LOCK_EX | LOCK_NB) != 0; --turns) {
    if (turns == 0 || (errno != EWOULDBLOCK && errno != EINTR)) check_errno(false, "flock");
    std::this_thread::sleep_for(kTurn);
  }
  return fd;
}

}  // namespace

std::string store_folder() {
  const char* const cache = launcher_variable("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/railshmem";
  const char* const home = launcher_variable("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/railshmem" : "";
}

LtStore::Content LtStore::read() const {
  Content content;
  std::istringstream file(content_of(path()));
  size_t number = 0;
  for (std::string line, product; std::getline(file, line);) {
    ++number;
    lt::Algorithm algorithm{};
    if (line.empty() || line[0] == '#') continue;
    if (parse(line, product, algorithm)) {
      content.kept.emplace(product, algorithm);
    } else if (content.damaged++ == 0) {
      content.first = number;
    }
  }
  return content;
}

std::optional<lt::Algorithm> LtStore::find(std::string_view product) const {
  if (folder_.empty()) return std::nullopt;
  Content content;
  try {
    content = read();
  } catch (const std::exception& e) {
    log_warn("%s is not read: %s", path().c_str(), e.what());
  }
  if (content.damaged != 0)
    log_warn("%s: damaged lines: %zu, the first one is line %zu; they do not count, and are dropped at the next choice",
             path().c_str(), content.damaged, content.first);
  const auto found = content.kept.find(product);
  return found == content.kept.end() ? std::nullopt : std::optional(found->second);
}

/// Readers see the file from before or the new one: it is written beside it and renamed.
void LtStore::write(const Kept& kept) const {
  std::string all = std::string(kTitle) + '\n';
  for (const auto& [product, algorithm] : kept) all += line_of(product, algorithm) + '\n';
  std::string beside = path() + ".XXXXXX";
  const UniqueFd fd(mkostemp(beside.data(), O_CLOEXEC));
  check_errno(static_cast<bool>(fd), "mkostemp");
  const bool well = ::write(fd.get(), all.data(), all.size()) == static_cast<ssize_t>(all.size()) &&
                    rename(beside.c_str(), path().c_str()) == 0;
  const int why = errno;
  if (!well) unlink(beside.c_str());
  errno = why;
  check_errno(well, "write or rename");
}

lt::Algorithm LtStore::keep(std::string_view product, const lt::Algorithm& algorithm,
                            const std::optional<lt::Algorithm>& instead_of) {
  if (folder_.empty() || unwritable_) return algorithm;
  try {
    make_folder(folder_);
    const UniqueFd locked = lock(path() + ".lock");
    Kept kept = read().kept;
    const auto [at, is_new] = kept.emplace(product, algorithm);
    if (!is_new && (!instead_of || at->second.data != instead_of->data)) return at->second;
    at->second = algorithm;
    write(kept);
  } catch (const std::exception& e) {
    unwritable_ = true;
    log_warn("%s cannot be written (%s); each handle measures cuBLASLt's algorithms anew", path().c_str(), e.what());
  }
  return algorithm;
}

}  // namespace railshmem::overlap
