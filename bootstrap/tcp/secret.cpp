// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/tcp/secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/base/trusted_file.h"

namespace railshmem::tcp {
namespace {

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw Error(text("SHMEM_TCP_SECRET_FILE is '%s', %s", path.c_str(), why.c_str()));
}

/// Nobody else may read it, besides what open_trusted() asks.
void must_be_private(int fd, const std::string& path) {
  struct stat file {};
  check_errno(fstat(fd, &file) == 0, "fstat");
  if (!S_ISREG(file.st_mode)) refuse_file(path, "which is no file");
  if (file.st_mode & (S_IRWXG | S_IRWXO))
    refuse_file(path, text("which other users may use (its mode is %04o); make it yours alone: chmod 600",
                           static_cast<unsigned>(file.st_mode & 07777)));
}

std::string read_secret(const std::string& path) {
  const TrustedFile file = open_trusted(path, O_RDONLY);
  if (!file.fd) refuse_file(path, "which " + file.refusal);
  const int fd = file.fd.get();
  must_be_private(fd, path);
  char bytes[4097];  // more is no secret, but the wrong file
  const ssize_t n = read(fd, bytes, sizeof bytes);
  if (n < 0) refuse_file(path, text("which cannot be read: %s", std::strerror(errno)));
  if (n == sizeof bytes) refuse_file(path, "which holds more than 4096 bytes");
  std::string secret(bytes, static_cast<size_t>(n));
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.size() < kShortestSecret)
    refuse_file(path, text("which holds %zu characters and needs %zu or more, such as: openssl rand -hex 32",
                           secret.size(), kShortestSecret));
  return secret;
}

}  // namespace

Digest Secret::proof(End end, const Encounter& encounter) const {
  Packer packer;
  packer.add_text(end == End::caller ? "railshmem tcp 1 caller" : "railshmem tcp 1 listener");
  packer.add(encounter.kind).add(encounter.port).add(encounter.caller).add(encounter.listener);
  return hmac(bytes_, packer.add_bytes(encounter.claim).take());
}

bool Secret::proven(const Digest& proof, End end, const Encounter& encounter) const {
  return equal_digests(proof, this->proof(end, encounter));
}

Secret secret_of(const Env& env) {
  Secret secret;
  if (!env.tcp_secret.empty())
    secret = Secret(env.tcp_secret);
  else if (!env.tcp_secret_file.empty())
    secret = Secret(read_secret(env.tcp_secret_file));
  if (!secret.empty()) hmac(secret.bytes(), {});  // throws now rather than in the middle of a meeting
  return secret;
}

}  // namespace railshmem::tcp
