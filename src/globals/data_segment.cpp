// SPDX-License-Identifier: BSD-3-Clause
#include "src/globals/data_segment.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "src/base/align.h"
#include "src/base/fingerprint.h"

namespace railshmem {
namespace {

struct Range {
  uintptr_t begin;
  uintptr_t end;
};

struct Executable {
  uintptr_t load = 0;
  std::span<const ElfW(Phdr)> headers;
};

int take_first(dl_phdr_info* found, size_t, void* out) {
  *static_cast<Executable*>(out) = {found->dlpi_addr, {found->dlpi_phdr, found->dlpi_phnum}};
  return 1;  // the executable is listed first; stop
}

/// The writable ranges that stay writable. The dynamic linker rounds the end of RELRO down to a page.
std::vector<Range> writable_ranges(const Executable& program, size_t page) {
  std::vector<Range> ranges;
  Range relro{0, 0};
  for (const auto& header : program.headers) {
    const uintptr_t begin = program.load + header.p_vaddr;
    if (header.p_type == PT_GNU_RELRO) relro = {align_down(begin, page), align_down(begin + header.p_memsz, page)};
    if (header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0 && header.p_memsz != 0)
      ranges.push_back({begin, begin + header.p_memsz});
  }
  std::vector<Range> rest;
  for (const Range& range : ranges) {
    const Range before{range.begin, std::min(range.end, relro.begin)};
    const Range after{std::max(range.begin, relro.end), range.end};
    if (relro.end <= range.begin || relro.begin >= range.end) {
      rest.push_back(range);
      continue;
    }
    if (before.begin < before.end) rest.push_back(before);
    if (after.begin < after.end) rest.push_back(after);
  }
  std::ranges::sort(rest, {}, &Range::begin);
  return rest;
}

void hash_into(unsigned char* out, const void* bytes, size_t nbytes) {
  uint64_t hash = 0;
  std::memcpy(&hash, out, sizeof hash);
  hash = fnv1a({static_cast<const char*>(bytes), nbytes}, hash);
  std::memcpy(out, &hash, sizeof hash);
}

bool take_build_id(const Executable& program, const ElfW(Phdr) & notes, ExecutableId& id) {
  const auto* at = reinterpret_cast<const unsigned char*>(program.load + notes.p_vaddr);
  const auto* end = at + notes.p_memsz;
  const size_t unit = notes.p_align == 8 ? 8 : 4;
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const auto* name = at + sizeof note;
    const auto* content = at + align_up(sizeof note + note.n_namesz, unit);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::memcpy(id.bytes.data(), content, std::min<size_t>(note.n_descsz, id.bytes.size()));
      return true;
    }
    at = content + align_up(note.n_descsz, unit);
  }
  return false;
}

ExecutableId identify(const Executable& program) {
  ExecutableId id;
  for (const auto& header : program.headers)
    if (header.p_type == PT_NOTE && take_build_id(program, header, id)) return id;
  struct stat file {};
  const int64_t nbytes = stat("/proc/self/exe", &file) == 0 ? file.st_size : -1;
  std::memcpy(id.bytes.data() + 8, "layout", 6);  // never equal to a build id by accident of length
  hash_into(id.bytes.data(), program.headers.data(), program.headers.size_bytes());
  hash_into(id.bytes.data(), &nbytes, sizeof nbytes);
  return id;
}

int protection_of(const Executable& program, uintptr_t begin) {
  for (const auto& header : program.headers) {
    const uintptr_t start = program.load + header.p_vaddr;
    if (header.p_type == PT_LOAD && begin >= start && begin < start + header.p_memsz)
      return PROT_READ | PROT_WRITE | ((header.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
  }
  return PROT_READ | PROT_WRITE;
}

}  // namespace

DataSegment find_data_segment() {
  Executable program;
  dl_iterate_phdr(take_first, &program);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  DataSegment segment;
  segment.id = identify(program);
  segment.static_executable = std::ranges::none_of(program.headers, [](auto& h) { return h.p_type == PT_INTERP; });
  const std::vector<Range> ranges = writable_ranges(program, page);
  if (ranges.empty()) return segment;
  const Range whole{ranges.front().begin, ranges.back().end};
  const uintptr_t base = align_down(whole.begin, page);
  segment.base = reinterpret_cast<std::byte*>(base);
  segment.nbytes = align_up(whole.end, page) - base;
  segment.objects = reinterpret_cast<std::byte*>(whole.begin);
  segment.object_nbytes = whole.end - whole.begin;
  segment.protection = protection_of(program, whole.begin);
  segment.ranges = 1;
  for (size_t i = 1; i < ranges.size(); ++i)
    segment.ranges += align_up(ranges[i - 1].end, page) < align_down(ranges[i].begin, page) ? 1 : 0;
  for (const auto& header : program.headers) {
    const uintptr_t end = program.load + header.p_vaddr + header.p_filesz;
    if (header.p_type == PT_LOAD && end > base && end <= whole.end)
      segment.initialised_nbytes = std::max(segment.initialised_nbytes, align_up(end, page) - base);
  }
  return segment;
}

}  // namespace railshmem
