// SPDX-License-Identifier: BSD-3-Clause
#include "transports/loopback/fabric.h"

#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

#include "src/base/error.h"
#include "src/base/process.h"

namespace railshmem::loopback {

/// Every attached PE of this process, of any job, by a key that is never used twice: the stand-in for the network.
class Registry {
 public:
  uint64_t add(std::shared_ptr<ExposedPe> pe) {
    const std::lock_guard lock(mutex_);
    pes_[++last_] = std::move(pe);
    return last_;
  }
  void remove(uint64_t key) {
    const std::lock_guard lock(mutex_);
    pes_.erase(key);
  }
  std::shared_ptr<ExposedPe> find(uint64_t key) {
    const std::lock_guard lock(mutex_);
    const auto found = pes_.find(key);
    return found == pes_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<ExposedPe>> pes_;
  uint64_t last_ = 0;
};

namespace {

Registry& registry() {
  return g_process.loopback_pes.get();
}

/// A host name follows, of any length, for the message when the peer is elsewhere.
struct DescriptorHead {
  uint64_t key;
  uint64_t machine;  ///< hash of the host's name: process ids of two hosts may be equal
  int32_t process;
  int32_t pe;
};

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

Fabric::Fabric(const NetworkConfig& config, const Options& options)
    : pe_(config.pe), npes_(config.npes), options_(options), rails_(ports_with(config.env->proxy_threads)) {}

Fabric::~Fabric() {
  if (key_ != 0) registry().remove(key_);
}

std::vector<std::byte> Fabric::attach(std::span<const Segment> segments) {
  mine_ = std::make_shared<ExposedPe>(rails_.size(), options_.rails, options_.depth);
  for (const Segment& segment : segments) mine_->segments[static_cast<size_t>(segment.id)] = segment;
  key_ = registry().add(mine_);
  const std::string host = host_name();
  const DescriptorHead head{key_, std::hash<std::string>{}(host), static_cast<int32_t>(getpid()), pe_};
  std::vector<std::byte> descriptor(sizeof head + host.size());
  std::memcpy(descriptor.data(), &head, sizeof head);
  std::memcpy(descriptor.data() + sizeof head, host.data(), host.size());
  return descriptor;
}

void Fabric::connect(std::span<const std::vector<std::byte>> descriptors) {
  const uint64_t here = std::hash<std::string>{}(host_name());
  for (size_t pe = 0; pe < descriptors.size(); ++pe) {
    DescriptorHead head{};
    if (descriptors[pe].size() < sizeof head)
      throw Error(text("PE %zu has no loopback descriptor; set SHMEM_TRANSPORT alike", pe));
    std::memcpy(&head, descriptors[pe].data(), sizeof head);
    const std::string host(reinterpret_cast<const char*>(descriptors[pe].data()) + sizeof head,
                           descriptors[pe].size() - sizeof head);
    std::shared_ptr<ExposedPe> exposed;
    if (head.process == getpid() && head.machine == here) exposed = registry().find(head.key);
    if (!exposed)
      throw Error(
          text("PE %d is in process %d on %s: loopback connects threads of one process only; set "
               "SHMEM_TRANSPORT to auto",
               head.pe, head.process, host.c_str()));
    pes_.push_back(std::move(exposed));
  }
  for (size_t pe = 0; pe < pes_.size(); ++pe) {
    const auto& boxes = pes_[pe]->boxes;
    if (boxes.size() != rails_.size())
      throw Error(text("PE %zu has %zu proxy threads where this PE has %zu: set SHMEM_PROXY_THREADS alike", pe,
                       boxes.size() - 1, rails_.size() - 1));
    if (boxes[0].size() != options_.rails)
      throw Error(text("PE %zu has %zu loopback rails where this PE has %zu: set SHMEM_OFI_RAILS_PER_NIC alike", pe,
                       boxes[0].size(), options_.rails));
  }
  for (size_t port = 0; port < rails_.size(); ++port)
    for (size_t r = 0; r < options_.rails; ++r)
      rails_[port].emplace_back(pes_, mine_->box(static_cast<Port>(port), r), r, options_);
}

std::string Fabric::describe() const {
  return text("loopback: %d PEs as threads of process %d, %zu rails, inject %zu bytes, writes of at most %zu bytes",
              npes_, static_cast<int>(getpid()), options_.rails, options_.inject, options_.max_write);
}

}  // namespace railshmem::loopback
