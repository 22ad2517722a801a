// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/local/oshrun/allgather.h"

#include "src/base/pe_list.h"

namespace railshmem::oshrun {

std::shared_ptr<const Bytes> Allgather::contribute(int pe, Bytes bytes) {
  for (size_t other = 0; count_ > 0 && other < given_.size(); ++other) {
    if (!given_[other] || given_[other]->size() == bytes.size()) continue;
    throw Error(
        text("PE %d came to an exchange of %zu bytes, PE %zu to one of %zu bytes: the PEs do not make the same "
             "calls in the same order",
             pe, bytes.size(), other, given_[other]->size()));
  }
  std::optional<Bytes>& slot = given_[static_cast<size_t>(pe)];
  if (slot) throw Error(text("PE %d came twice to one exchange", pe));
  slot = std::move(bytes);
  if (++count_ < given_.size()) return nullptr;
  auto all = std::make_shared<Bytes>();
  all->reserve(given_.size() * slot->size());
  for (std::optional<Bytes>& one : given_) {
    all->insert(all->end(), one->begin(), one->end());
    one.reset();
  }
  count_ = 0;
  return all;
}

std::optional<std::string> Allgather::stuck() const {
  if (count_ == 0) return std::nullopt;
  std::vector<int> gone;
  for (size_t pe = 0; pe < given_.size(); ++pe)
    if (!given_[pe] && left_[pe] == Left::yes) gone.push_back(static_cast<int>(pe));
  if (gone.empty()) return std::nullopt;
  return text("%s finished while other PEs wait for it in an exchange", pe_list(gone).c_str());
}

std::string Allgather::missing() const {
  std::vector<int> pes;
  for (size_t pe = 0; pe < given_.size(); ++pe)
    if (!given_[pe]) pes.push_back(static_cast<int>(pe));
  return pe_list(pes);
}

}  // namespace railshmem::oshrun
