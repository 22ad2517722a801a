// SPDX-License-Identifier: BSD-3-Clause
#include "src/cuda/imported_memory.h"

#include <utility>

#include "src/cuda/check.h"
#include "src/cuda/context_guard.h"
#include "src/cuda/mapped_range.h"

namespace railshmem::cuda {
namespace {

constexpr const char* kMapping = "mapping memory of other processes";

/// Extents of cuMemCreate, one behind the other.
class MappedExtents final : public ImportedMemory {
 public:
  MappedExtents(const DeviceContext& gpu, ShareBy by, size_t nbytes, std::string whose)
      : gpu_(gpu), by_(by), whose_(std::move(whose)), range_(gpu, nbytes, MappedFor::this_gpu) {}
  void add(const ShareDescriptor& descriptor) override {
    if (by_ == ShareBy::fabric)
      return range_.append(PhysicalMemory::import(gpu_, FabricHandle{descriptor.handle}, descriptor.nbytes, whose_));
    const UniqueFd fd = take_fd(descriptor.fd);
    range_.append(PhysicalMemory::import(gpu_, fd.get(), descriptor.nbytes, whose_));
  }
  std::byte* base() const noexcept override { return range_.base(); }

 private:
  const DeviceContext& gpu_;
  const ShareBy by_;
  const std::string whose_;
  MappedRange range_;
};

class OpenedBlock final : public ImportedMemory {
 public:
  OpenedBlock(const DeviceContext& gpu, std::string whose) : gpu_(gpu), whose_(std::move(whose)) {
    need(gpu.driver(), Calls::ipc, kMapping);
  }
  ~OpenedBlock() override {
    if (base_ == 0) return;
    const ContextGuard guard(gpu_, ContextGuard::For::cleanup);
    gpu_.log_failure(gpu_.driver().ipc_close(base_), "cuIpcCloseMemHandle");
  }
  void add(const ShareDescriptor& descriptor) override {
    const ContextGuard guard(gpu_);
    const Result result = gpu_.driver().ipc_open(&base_, IpcHandle{descriptor.handle}, kIpcEnablesPeerAccess);
    if (result == kSuccess) return;
    base_ = 0;
    const std::string message = text("%llu bytes of cudaMalloc memory of %s cannot be opened on %s: %s%s",
                                     static_cast<unsigned long long>(descriptor.nbytes), whose_.c_str(),
                                     gpu_.description().c_str(), explain(gpu_.driver(), result).c_str(), hint(result));
    if (result == kAlreadyMapped) throw StaleBlock(message);
    throw Error(message);
  }
  std::byte* base() const noexcept override { return pointer_to(base_); }

 private:
  const DeviceContext& gpu_;
  const std::string whose_;
  Address base_ = 0;
};

}  // namespace

class ImportedPool {
 public:
  ImportedPool(const DeviceContext& gpu, const ShareDescriptor& descriptor, const std::string& whose) : gpu_(gpu) {
    need(gpu.driver(), Calls::pools, kMapping);
    const UniqueFd fd = take_fd(descriptor.fd);
    const ContextGuard guard(gpu);
    void* const shareable = reinterpret_cast<void*>(static_cast<intptr_t>(fd.get()));
    Result result = gpu.driver().pool_import(&pool_, shareable, kHandlePosixFd, 0);
    if (result != kSuccess)
      throw Error(text("a memory pool of %s cannot be opened on %s: %s%s", whose.c_str(), gpu.description().c_str(),
                       explain(gpu.driver(), result).c_str(), hint(result)));
    const AccessDescription access{{kAtDevice, gpu.device()}, kReadWrite};
    result = gpu.driver().pool_set_access(pool_, &access, 1);
    if (result == kSuccess) return;
    gpu.log_failure(gpu.driver().pool_destroy(pool_), "cuMemPoolDestroy");
    throw Error(text("%s gets no access to a memory pool of %s: %s%s", gpu.description().c_str(), whose.c_str(),
                     explain(gpu.driver(), result).c_str(), hint(result)));
  }
  ~ImportedPool() {
    const ContextGuard guard(gpu_, ContextGuard::For::cleanup);
    gpu_.log_failure(gpu_.driver().pool_destroy(pool_), "cuMemPoolDestroy");
  }
  ImportedPool(const ImportedPool&) = delete;
  Pool get() const noexcept { return pool_; }

 private:
  const DeviceContext& gpu_;
  Pool pool_ = nullptr;
};

class PooledMemory final : public ImportedMemory {
 public:
  PooledMemory(Importer& importer, std::string whose) : importer_(importer), whose_(std::move(whose)) {}
  ~PooledMemory() override {
    if (base_ == 0) return;
    const DeviceContext& gpu = importer_.gpu_;
    const ContextGuard guard(gpu, ContextGuard::For::cleanup);
    gpu.log_failure(gpu.driver().memory_free(base_), "cuMemFree");
  }
  void add(const ShareDescriptor& descriptor) override {
    pool_ = importer_.pool_of(descriptor, whose_);
    const DeviceContext& gpu = importer_.gpu_;
    const ContextGuard guard(gpu);
    PoolPointer exported{descriptor.handle};
    const Result result = gpu.driver().pool_import_pointer(&base_, pool_->get(), &exported);
    if (result == kSuccess) return;
    base_ = 0;
    throw Error(text("%llu bytes in a memory pool of %s cannot be opened on %s: %s%s",
                     static_cast<unsigned long long>(descriptor.nbytes), whose_.c_str(), gpu.description().c_str(),
                     explain(gpu.driver(), result).c_str(), hint(result)));
  }
  std::byte* base() const noexcept override { return pointer_to(base_); }

 private:
  Importer& importer_;
  const std::string whose_;
  std::shared_ptr<ImportedPool> pool_;  // outlives the memory: destroyed after ~PooledMemory has freed it
  Address base_ = 0;
};

std::shared_ptr<ImportedPool> Importer::pool_of(const ShareDescriptor& descriptor, const std::string& whose) {
  std::weak_ptr<ImportedPool>& known = pools_[{descriptor.fd.pid, descriptor.pool}];
  std::shared_ptr<ImportedPool> pool = known.lock();
  if (pool) return pool;
  pool = std::make_shared<ImportedPool>(gpu_, descriptor, whose);
  known = pool;
  return pool;
}

std::unique_ptr<ImportedMemory> Importer::begin(ShareBy by, size_t nbytes, const std::string& whose) {
  if (by == ShareBy::ipc) return std::make_unique<OpenedBlock>(gpu_, whose);
  if (by == ShareBy::pool) return std::make_unique<PooledMemory>(*this, whose);
  return std::make_unique<MappedExtents>(gpu_, by, nbytes, whose);
}

}  // namespace railshmem::cuda
