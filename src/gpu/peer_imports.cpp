// SPDX-License-Identifier: BSD-3-Clause
#include "src/gpu/peer_imports.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

#include "src/base/error.h"
#include "src/base/log.h"

namespace railshmem {
namespace {

/// Tries for 2 ms: closing freed blocks takes less, unless the driver waits for a kernel. Not a timed mutex, whose
/// locking ThreadSanitizer of gcc 12 does not see.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int turn = 0; turn < 20 && !lock; ++turn) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    static_cast<void>(lock.try_lock());  // the loop's condition and the caller look at the lock itself
  }
  return lock;
}

}  // namespace

ImportAnswer PeerImports::import(const ImportRequest& request,
                                 std::span<const cuda::ShareDescriptor> descriptors) noexcept {
  ImportAnswer answer;
  const std::unique_lock working = lock_soon(work_);
  if (!working) {
    answer.later = 1;
    std::strncpy(answer.why, "the PE closes freed blocks, and its driver may wait for kernels", sizeof answer.why - 1);
    return answer;
  }
  try {
    answer.here = map(request, descriptors);
  } catch (const std::exception& error) {
    begun_.erase({request.pe, request.number});
    std::strncpy(answer.why, error.what()[0] == '\0' ? "?" : error.what(), sizeof answer.why - 1);
    answer.later = dynamic_cast<const cuda::StaleBlock*>(&error) != nullptr ? 1 : 0;
  }
  return answer;
}

uint64_t PeerImports::map(const ImportRequest& request, std::span<const cuda::ShareDescriptor> descriptors) {
  const Key key{request.pe, request.number};
  {
    const std::lock_guard reading(books_);
    if (const auto known = imports_.find(key); known != imports_.end())
      return reinterpret_cast<uintptr_t>(known->second.here);
  }
  if (request.first_extent == 0) {
    const auto by = static_cast<cuda::ShareBy>(request.by);
    Import fresh{request.address, request.nbytes, by, 0, nullptr, nullptr};
    fresh.memory = importer_.begin(by, request.nbytes, text("PE %d", request.pe));
    begun_.insert_or_assign(key, std::move(fresh));
  }
  const auto found = begun_.find(key);
  if (found == begun_.end() || found->second.extents != request.first_extent)
    throw Error(text("extent %u of an allocation of PE %d came out of turn", request.first_extent, request.pe));
  Import& import = found->second;
  for (const cuda::ShareDescriptor& descriptor : descriptors) add_extent(key, import, descriptor);
  if (import.extents < request.nextents) return 0;
  import.here = import.memory->base();
  const auto here = reinterpret_cast<uintptr_t>(import.here);
  log_debug("%zu bytes of PE %d (%s at %#llx there) are mapped at %#llx", import.nbytes, request.pe,
            cuda::name_of(import.by), static_cast<unsigned long long>(import.address),
            static_cast<unsigned long long>(here));
  keep(key, std::move(import));
  begun_.erase(found);
  return here;
}

/// The owner may have got the addresses of a freed block anew, and the driver opens the new block only when the old one
/// is closed here. That waits for kernels, which may wait for the owner, so it is left to close_withdrawn().
void PeerImports::add_extent(const Key& key, Import& import, const cuda::ShareDescriptor& descriptor) {
  try {
    import.memory->add(descriptor);
  } catch (const cuda::StaleBlock&) {
    withdraw_stale(key.first, import.address, import.nbytes);
    throw;
  }
  ++import.extents;
}

void PeerImports::keep(const Key& key, Import import) {
  const std::lock_guard writing(books_);
  imports_.emplace(key, std::move(import));
}

bool PeerImports::withdraw(int pe, uint64_t number) noexcept {
  const Key key{pe, number};
  const std::unique_lock working = lock_soon(work_);
  if (working) begun_.erase(key);
  Import gone;
  {
    const std::lock_guard writing(books_);
    const auto found = imports_.find(key);
    if (found == imports_.end()) return true;
    gone = std::move(found->second);
    imports_.erase(found);
    if (!working || cuda::waits_for_kernels(gone.by)) {
      withdrawn_.emplace_back(key, std::move(gone));
      return false;
    }
  }
  gone.memory.reset();
  return true;
}

void PeerImports::close_withdrawn() noexcept {
  const std::lock_guard working(work_);
  std::vector<std::pair<Key, Import>> gone;  // destroyed after books_ is free again
  const std::lock_guard writing(books_);
  gone.swap(withdrawn_);
}

/// Blocks that a PE has freed, since it has other memory at these addresses now. Its word that a graph has let go of
/// such a block may still be on its way.
void PeerImports::withdraw_stale(int pe, uint64_t address, size_t nbytes) {
  const std::lock_guard writing(books_);
  for (auto at = imports_.lower_bound({pe, 0}); at != imports_.end() && at->first.first == pe;) {
    const auto here = at++;
    Import& import = here->second;
    const bool overlaps = import.address < address + nbytes && address < import.address + import.nbytes;
    if (import.by != cuda::ShareBy::ipc || !overlaps) continue;
    withdrawn_.emplace_back(here->first, std::move(import));
    imports_.erase(here);
  }
}

bool PeerImports::has_withdrawn() const noexcept {
  const std::lock_guard reading(books_);
  return !withdrawn_.empty();
}

size_t PeerImports::count() const noexcept {
  const std::lock_guard reading(books_);
  return imports_.size() + withdrawn_.size();
}

std::optional<PeerPlace> PeerImports::place_of(const void* here) const noexcept {
  const std::lock_guard reading(books_);
  for (const auto& [key, import] : imports_) {
    const auto offset = static_cast<size_t>(static_cast<const std::byte*>(here) - import.here);
    if (offset < import.nbytes) return PeerPlace{key.first, import.address + offset, import.nbytes - offset};
  }
  return std::nullopt;
}

std::byte* PeerImports::mapped(int pe, uint64_t address, size_t nbytes) const noexcept {
  const std::lock_guard reading(books_);
  for (auto at = imports_.lower_bound({pe, 0}); at != imports_.end() && at->first.first == pe; ++at) {
    const Import& import = at->second;
    const uint64_t offset = address - import.address;
    if (offset < import.nbytes && nbytes <= import.nbytes - offset) return import.here + offset;
  }
  return nullptr;
}

}  // namespace railshmem
