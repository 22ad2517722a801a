// SPDX-License-Identifier: BSD-3-Clause
// Files of the user's that the library reads: the cache of the overlap library and the secret of a tcp job.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "bootstrap/tcp/secret.h"
#include "overlap/lt_store.h"
#include "src/base/error.h"
#include "src/base/fingerprint.h"
#include "src/base/log.h"
#include "src/base/unique.h"
#include "tests/fuzz/fuzz.h"

namespace railshmem {
namespace {

using fuzz::must;

/// A folder of this process alone, which is removed at its end.
struct Folder {
  std::string path = (parent() / "fuzz_files_XXXXXX").string();
  Folder() { must(mkdtemp(path.data()) != nullptr, "there are temporary folders"); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char* name) const { return path + "/" + name; }

 private:
  /// In memory, where that is possible: a target runs thousands of inputs a second there.
  static std::filesystem::path parent() {
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
  }
};

const Folder& folder() {
  static const Folder one;
  return one;
}

void write(const std::string& path, const std::string& content) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  must(::write(fd.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size()),
       "files can be written");
}

overlap::lt::Algorithm algorithm(uint64_t number) {
  overlap::lt::Algorithm made{};
  made.data.fill(number);
  return made;
}

/// With right checksums, if asked: no fuzzer would guess them.
void read_cache(fuzz::Input input, bool with_checksums) {
  std::string content;
  if (!with_checksums) content = input.text();
  while (!input.empty()) {
    const std::string line = input.line();
    content += text("%016llx ", static_cast<unsigned long long>(fnv1a(line))) + line + '\n';
  }
  write(folder().file("overlap_algorithms.txt"), content);
  overlap::LtStore store(folder().path);
  const auto before = store.find("a product");
  const auto kept = store.keep("a product", algorithm(2), {});
  must(!before || kept.data == before->data, "the first choice stays");
  const auto found = store.find("a product");
  must(found && found->data == kept.data, "what is kept is found");
}

void read_secret(fuzz::Input input) {
  const std::string content = input.text();
  Env env;
  env.tcp_secret_file = folder().file("secret");
  write(env.tcp_secret_file, content);
  try {
    const tcp::Secret secret = tcp::secret_of(env);
    must(secret.bytes().size() >= kShortestSecret && content.rfind(secret.bytes(), 0) == 0,
         "a secret is the file without the end of its line");
  } catch (const Error& e) {
    std::string message = e.what();  // without the name of the file, which a secret may resemble
    if (const size_t at = message.find(env.tcp_secret_file); at != std::string::npos)
      message.replace(at, env.tcp_secret_file.size(), content.rfind('x', 0) == 0 ? "y" : "x");
    must(content.size() < 4 || message.find("'" + content) == std::string::npos, "no message holds a secret");
  }
}

std::vector<fuzz::Data> seeds() {
  // Lines as the library writes them.
  std::filesystem::remove(folder().file("overlap_algorithms.txt"));
  overlap::LtStore store(folder().path);
  store.keep("a product", algorithm(1), {});
  store.keep("another one", algorithm(3), {});
  std::string cache(4096, '\0');
  const UniqueFd fd(open(folder().file("overlap_algorithms.txt").c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t n = read(fd.get(), cache.data(), cache.size());
  cache.resize(static_cast<size_t>(n > 0 ? n : 0));
  return {fuzz::joined({fuzz::seed(std::string_view("\0", 1)), fuzz::seed(cache)}),
          fuzz::seed(std::string_view("\0# nothing\n\n0 0 x\n", 17)), fuzz::seed("\1correct horse battery staple\n"),
          fuzz::seed("\1short\r\n"),
          fuzz::seed('\2' + std::string(128, 'a') + " a product\n" + std::string(128, '0') + " \n")};
}

}  // namespace
}  // namespace railshmem

RAILSHMEM_FUZZ(user_files, railshmem::seeds) {
  railshmem::set_log_level(railshmem::LogLevel::error);
  const uint8_t what = input.u8() % 3;
  if (what == 1)
    railshmem::read_secret(input);
  else
    railshmem::read_cache(input, what == 2);
}
