// SPDX-License-Identifier: BSD-3-Clause
// What a provider is told about memory, and pages that must exist before.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "src/base/error.h"
#include "transports/ofi/page_range.h"
#include "transports/ofi/registration.h"

namespace railshmem::ofi {
namespace {

TEST(RegistrationAttributes, DescribeHostMemory) {
  std::byte bytes[100];
  const RegistrationAttributes attributes({bytes, sizeof bytes}, FI_READ | FI_WRITE, 42);
  const fi_mr_attr& attr = attributes.get();
  ASSERT_EQ(attr.iov_count, 1u);
  EXPECT_EQ(attr.mr_iov->iov_base, bytes);
  EXPECT_EQ(attr.mr_iov->iov_len, sizeof bytes);
  EXPECT_EQ(attr.access, FI_READ | FI_WRITE);
  EXPECT_EQ(attr.requested_key, 42u);
  EXPECT_EQ(attr.iface, FI_HMEM_SYSTEM);
  EXPECT_EQ(attr.device.reserved, 0u);
  EXPECT_EQ(attr.auth_key, nullptr);
  EXPECT_EQ(attributes.flags(), 0u);
}

TEST(RegistrationAttributes, DescribeADmabufOrSayThatThereIsNone) {
  std::byte bytes[100];
  Memory memory{bytes, sizeof bytes};
  memory.dmabuf_fd = 7;
  memory.dmabuf_offset = 16;
#ifdef FI_MR_DMABUF
  const RegistrationAttributes attributes(memory, FI_REMOTE_READ, 1);
  EXPECT_EQ(attributes.flags(), FI_MR_DMABUF);
  EXPECT_EQ(attributes.get().dmabuf->fd, 7);
  EXPECT_EQ(attributes.get().dmabuf->offset, 16u);
  EXPECT_EQ(attributes.get().dmabuf->len, sizeof bytes);
  EXPECT_EQ(static_cast<std::byte*>(attributes.get().dmabuf->base_addr) + 16, bytes);
#else
  EXPECT_THROW(RegistrationAttributes(memory, FI_REMOTE_READ, 1), Error);
#endif
}

size_t resident(const std::byte* p, size_t count) {
  std::vector<unsigned char> in(count);
  mincore(const_cast<std::byte*>(p), count * kPageBytes, in.data());
  size_t n = 0;
  for (const unsigned char page : in) n += page & 1;
  return n;
}

TEST(Populate, MakesPagesExistAndKeepsTheirBytes) {
  constexpr size_t kPages = 8;
  auto* p = static_cast<std::byte*>(
      mmap(nullptr, kPages * kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  p[3 * kPageBytes] = std::byte{9};
  ASSERT_EQ(resident(p, kPages), 1u);
  EXPECT_TRUE(populate({p + 10, 5 * kPageBytes}, true));
  EXPECT_EQ(resident(p, kPages), 6u) << "the pages of the bytes asked for, and no others";
  EXPECT_EQ(p[3 * kPageBytes], std::byte{9});
  mprotect(p, kPages * kPageBytes, PROT_READ);
  EXPECT_TRUE(populate({p, kPages * kPageBytes}, false));
  EXPECT_FALSE(populate({p, kPages * kPageBytes}, true)) << "may not be written to";
  munmap(p, kPages * kPageBytes);
  EXPECT_FALSE(populate({p, kPages * kPageBytes}, true)) << "is not mapped";
}

}  // namespace
}  // namespace railshmem::ofi
