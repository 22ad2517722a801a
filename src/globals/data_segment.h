// SPDX-License-Identifier: BSD-3-Clause
// Where the global and static objects of the executable are: the standard makes them symmetric.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

namespace railshmem {

/// Names an executable, equally in all its processes: the build id, or a hash of its layout where it has none.
struct ExecutableId {
  std::array<unsigned char, 32> bytes{};
  bool operator==(const ExecutableId&) const = default;
};

/// The writable part of the executable, without what is read-only after relocation. Objects of shared libraries are
/// not in it. The base differs between PEs (address randomisation), sizes and offsets do not.
struct DataSegment {
  std::byte* base = nullptr;     ///< start of the first page
  size_t nbytes = 0;             ///< whole pages
  std::byte* objects = nullptr;  ///< first byte that belongs to the executable
  size_t object_nbytes = 0;
  size_t initialised_nbytes = 0;   ///< from `base`: backed by the executable's file; the bytes behind start as zeros
  int protection = 0;              ///< PROT_* of the pages
  int ranges = 0;                  ///< above 1, the segment has read-only or foreign gaps and must not be used whole
  bool static_executable = false;  ///< libc's own objects are in the segment
  ExecutableId id;

  bool contains(const void* address) const noexcept {
    const auto* byte = static_cast<const std::byte*>(address);
    return byte >= objects && byte < objects + object_nbytes;
  }
};
static_assert(std::is_trivially_copyable_v<DataSegment>);

/// Reads the program headers of the running executable. nbytes is 0 when it has no writable objects.
DataSegment find_data_segment();

}  // namespace railshmem
