// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/needed.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "src/base/unique.h"

namespace railshmem::oshrun {
namespace {

/// Bytes of a file that may be damaged: each read checks its offset.
struct Image {
  std::span<const std::byte> bytes;

  template <class T>
  std::optional<T> at(uint64_t offset) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  std::string text(uint64_t offset) const {
    if (offset >= bytes.size()) return "";
    const char* const from = reinterpret_cast<const char*>(bytes.data()) + offset;
    return std::string(from, strnlen(from, bytes.size() - offset));
  }
};

using Header = ElfW(Ehdr);
using Part = ElfW(Phdr);
using Entry = ElfW(Dyn);

std::vector<Part> parts_of(const Image& image) {
  std::vector<Part> parts;
  const auto header = image.at<Header>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      header->e_phentsize != sizeof(Part))
    return parts;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto part = image.at<Part>(header->e_phoff + i * sizeof(Part));
    if (!part) break;
    parts.push_back(*part);
  }
  return parts;
}

/// Where in the file this address of the loaded program is.
std::optional<uint64_t> offset_of(const std::vector<Part>& parts, uint64_t address) {
  for (const Part& part : parts)
    if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
      return part.p_offset + (address - part.p_vaddr);
  return std::nullopt;
}

std::string in_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const path = std::getenv("PATH");
  for (std::string_view rest = path ? path : ""; !rest.empty();) {
    const size_t end = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + program;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  return "";
}

std::vector<std::string> needed_by(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat is {};
  if (!file || fstat(file.get(), &is) != 0 || !S_ISREG(is.st_mode) || is.st_size <= 0) return {};
  const size_t nbytes = static_cast<size_t>(is.st_size);
  void* const bytes = mmap(nullptr, nbytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (bytes == MAP_FAILED) return {};
  std::vector<std::string> needed = needed_libraries({static_cast<const std::byte*>(bytes), nbytes});
  munmap(bytes, nbytes);
  return needed;
}

}  // namespace

std::vector<std::string> needed_libraries(std::span<const std::byte> file) {
  const Image image{file};
  const std::vector<Part> parts = parts_of(image);
  std::vector<uint64_t> names;
  std::optional<uint64_t> strings;
  for (const Part& part : parts) {
    if (part.p_type != PT_DYNAMIC) continue;
    for (uint64_t i = 0; i < part.p_filesz / sizeof(Entry); ++i) {
      const auto entry = image.at<Entry>(part.p_offset + i * sizeof(Entry));
      if (!entry || entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_NEEDED) names.push_back(entry->d_un.d_val);
      if (entry->d_tag == DT_STRTAB) strings = offset_of(parts, entry->d_un.d_ptr);
    }
  }
  std::vector<std::string> needed;
  if (strings)
    for (const uint64_t name : names) needed.push_back(image.text(*strings + name));
  return needed;
}

std::string foreign_openshmem(const std::string& program) {
  std::string foreign;
  for (const std::string& name : needed_by(in_path(program))) {
    if (name.starts_with("librailshmem.so")) return "";
    // Open MPI, Sandia OpenSHMEM and Cray, OSHMPI
    for (const char* other : {"liboshmem.so", "libsma.so", "liboshmpi.so"})
      if (name.starts_with(other)) foreign = name;
  }
  return foreign;
}

}  // namespace railshmem::oshrun
