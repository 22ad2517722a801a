// SPDX-License-Identifier: BSD-3-Clause
#include "soak_memory.h"

namespace rails {

Memory::Memory(uint64_t seed, Mistakes& mistakes)
    : seed_(seed), mistakes_(mistakes), me_(shmem_my_pe()), buffer_(kMost), source_(kMost) {
  book_ = symmetric<char>(kBook);
  scratch_ = symmetric<char>(static_cast<size_t>(shmem_n_pes()) * kScratch);
  fill(book_, kBook, stamp_of(seed_, static_cast<uint64_t>(me_), 0));
}

void Memory::expect(const char* what, int pe, const char* at, size_t bytes, uint64_t stamp) {
  const size_t broken = broken_at(at, bytes, stamp);
  if (broken != bytes) mistakes_.add("%s, PE %d: byte %zu of %zu is wrong", what, pe, broken, bytes);
}

void Memory::step(Random& random, int pe) {
  ++steps_;
  switch (random.below(4)) {
    case 0:
      return read(random, pe, true);
    case 1:
      return read(random, pe, false);
    case 2:
      return write_and_read(random, pe);
    default:
      return word(random, pe);
  }
}

void Memory::read(Random& random, int pe, bool blocking) {
  const size_t bytes = 1 + random.below(random.one_in(2) ? 512 : kMost);
  const size_t from = random.below((kBook - bytes) / 8 + 1) * 8;  // the pattern goes word by word
  memset(buffer_.data(), 0xee, bytes);
  if (blocking) {
    shmem_getmem(buffer_.data(), book_ + from, bytes, pe);
  } else {  // in two parts
    const size_t part = random.below(bytes + 1);
    shmem_getmem_nbi(buffer_.data(), book_ + from, part, pe);
    shmem_getmem_nbi(buffer_.data() + part, book_ + from + part, bytes - part, pe);
    shmem_quiet();
  }
  expect(blocking ? "get" : "get_nbi", pe, buffer_.data(), bytes,
         stamp_of(seed_, static_cast<uint64_t>(pe), 0) + from / 8 * kStride);
}

void Memory::write_and_read(Random& random, int pe) {
  const size_t bytes = 1 + random.below(random.one_in(2) ? 4096 : kMost);
  const uint64_t stamp = random.next();
  char* const there = scratch_ + static_cast<size_t>(me_) * kScratch;
  fill(source_.data(), bytes, stamp);
  size_t done = 0;
  for (int parts = 0; parts < 4; ++parts) {
    const size_t part = parts == 3 ? bytes - done : random.below(bytes - done + 1);
    shmem_putmem_nbi(there + done, source_.data() + done, part, pe);
    done += part;
  }
  shmem_quiet();
  memset(source_.data(), 0xdd, bytes);
  memset(buffer_.data(), 0xee, bytes);
  shmem_getmem(buffer_.data(), there, bytes, pe);
  expect("put_nbi, quiet, get", pe, buffer_.data(), bytes, stamp);
}

void Memory::word(Random& random, int pe) {
  const uint64_t value = random.next();
  auto* const there = reinterpret_cast<uint64_t*>(scratch_ + static_cast<size_t>(me_) * kScratch) + random.below(64);
  shmem_uint64_p(there, value, pe);
  shmem_quiet();
  if (shmem_uint64_g(there, pe) != value) mistakes_.add("p, quiet, g, PE %d: another value came back", pe);
}

}  // namespace rails
