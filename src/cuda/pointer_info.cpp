// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/pointer_info.h"

#include <array>

namespace railshmem::cuda {

bool is_device_memory(const Driver& driver, const void* pointer) noexcept {
  unsigned type = 0;
  unsigned managed = 0;
  std::array<PointerAttribute, 2> asked{PointerAttribute::memory_type, PointerAttribute::is_managed};
  std::array<void*, 2> answers{&type, &managed};
  // The plural form knows no error for plain host memory; the singular one does.
  return driver.pointer_attributes(asked.size(), asked.data(), answers.data(), address_of(pointer)) == kSuccess &&
         type == kMemoryDevice && managed == 0;
}

MemoryId memory_id(const Driver& driver, Address address) noexcept {
  MemoryId id;
  std::array<PointerAttribute, 2> asked{PointerAttribute::buffer_id, PointerAttribute::memory_block_id};
  std::array<void*, 2> answers{&id.buffer, &id.block};
  for (unsigned count = asked.size(); count > 0; --count)  // older drivers refuse the second
    if (driver.pointer_attributes(count, asked.data(), answers.data(), address) == kSuccess) return id;
  return {};
}

PointerInfo inspect(const Driver& driver, const void* pointer) noexcept {
  PointerInfo found;
  unsigned type = 0;
  unsigned managed = 0;
  std::array<PointerAttribute, 6> asked{PointerAttribute::memory_type, PointerAttribute::is_managed,
                                        PointerAttribute::device,      PointerAttribute::buffer_id,
                                        PointerAttribute::range_start, PointerAttribute::range_nbytes};
  std::array<void*, 6> answers{
      &type, &managed, &found.device, &found.buffer_id, &found.range_start, &found.range_nbytes};
  const Result result = driver.pointer_attributes(asked.size(), asked.data(), answers.data(), address_of(pointer));
  if (result != kSuccess || type == 0) return {};
  // `managed` is a byte or a word, as the driver likes; both read alike here.
  found.kind = managed != 0 ? MemoryOf::managed : type == kMemoryDevice ? MemoryOf::device : MemoryOf::pinned_host;
  return found;
}

}  // namespace railshmem::cuda
