// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/hmac.h"

#include <dlfcn.h>

#include "src/base/error.h"
#include "src/base/process.h"

namespace railshmem::tcp {

// Declared here, because the library is built where OpenSSL's headers are not.
struct Libcrypto {
  const void* (*sha256)() = nullptr;
  unsigned char* (*hmac)(const void* algorithm, const void* key, int key_nbytes, const unsigned char* message,
                         size_t message_nbytes, unsigned char* digest, unsigned int* digest_nbytes) = nullptr;
  int (*differ)(const void* a, const void* b, size_t nbytes) = nullptr;

  bool complete() const noexcept { return sha256 && hmac && differ; }
};

namespace {

Libcrypto open_libcrypto() noexcept {
  for (const char* name : {"libcrypto.so.3", "libcrypto.so.1.1"}) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);  // never closed: it leaves exit handlers behind
    if (!library) continue;
    Libcrypto out;
    out.sha256 = reinterpret_cast<decltype(out.sha256)>(dlsym(library, "EVP_sha256"));
    out.hmac = reinterpret_cast<decltype(out.hmac)>(dlsym(library, "HMAC"));
    out.differ = reinterpret_cast<decltype(out.differ)>(dlsym(library, "CRYPTO_memcmp"));
    if (out.complete()) return out;
  }
  return {};
}

const Libcrypto& libcrypto() noexcept {
  return *g_process.libcrypto.get([] { return new Libcrypto(open_libcrypto()); });
}

const Libcrypto& need_libcrypto() {
  if (!libcrypto().complete())
    throw Error(
        "PEs that prove a secret to each other (SHMEM_TCP_SECRET, SHMEM_TCP_SECRET_FILE, or a unique id) need "
        "OpenSSL's libcrypto.so.3 or libcrypto.so.1.1, and neither can be opened here; install OpenSSL (Debian: "
        "libssl3)");
  return libcrypto();
}

}  // namespace

bool have_hmac() noexcept {
  return libcrypto().complete();
}

Digest hmac(const std::string& key, std::span<const std::byte> message) {
  const Libcrypto& library = need_libcrypto();
  Digest digest{};
  unsigned int nbytes = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  if (!library.hmac(library.sha256(), key.data(), static_cast<int>(key.size()), bytes, message.size(), digest.data(),
                    &nbytes) ||
      nbytes != digest.size())
    throw Error("libcrypto refuses HMAC-SHA-256 with the job's secret");
  return digest;
}

bool equal_digests(const Digest& a, const Digest& b) {
  return need_libcrypto().differ(a.data(), b.data(), a.size()) == 0;
}

}  // namespace railshmem::tcp
