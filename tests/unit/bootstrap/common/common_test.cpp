// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "bootstrap/common/deadline.h"
#include "bootstrap/common/stream.h"
#include "src/base/pe_list.h"

namespace railshmem {
namespace {

struct Ends {
  Stream stream;
  UniqueFd raw;
};

Ends connected() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  return {Stream(UniqueFd(ends[0])), UniqueFd(ends[1])};
}

TEST(PeList, ReadsLikeASentence) {
  EXPECT_EQ(pe_list({3}), "PE 3");
  EXPECT_EQ(all_pes(1), "PE 0 only");
  EXPECT_EQ(all_pes(4), "PEs 0 to 3");
  EXPECT_EQ(pe_list({3, 7}), "PEs 3 and 7");
  EXPECT_EQ(pe_list({1, 2, 5}), "PEs 1, 2 and 5");
  EXPECT_EQ(pe_list({1, 2, 3, 4, 62}), "PEs 1 to 4 and 62");
  std::vector<int> odd;
  for (int pe = 1; pe < 200; pe += 2) odd.push_back(pe);
  EXPECT_NE(pe_list(odd).find(" and 84 more"), std::string::npos) << pe_list(odd);
}

TEST(Pack, RoundTripsAndRefusesShortMessages) {
  const Bytes bytes = Packer().add(7).add_text("why").add(uint8_t{9}).take();
  Unpacker fields(bytes);
  EXPECT_EQ(fields.get<int>(), 7);
  EXPECT_EQ(fields.get_text(), "why");
  EXPECT_EQ(fields.get<uint8_t>(), 9);
  EXPECT_THROW(fields.get<uint8_t>(), Error);
  const Bytes cut(bytes.begin(), bytes.begin() + 6);
  Unpacker lie{cut};
  lie.get<int>();
  EXPECT_THROW(lie.get_text(), Error);
}

TEST(Stream, FramesSurviveByteByByteArrival) {
  auto [writer, raw] = connected();
  writer.push(5, Bytes(3, std::byte{1}));
  writer.push(6);
  writer.pump();
  char bytes[64];
  const ssize_t n = read(raw.get(), bytes, sizeof bytes);
  ASSERT_EQ(n, 2 * 16 + 3);
  auto [reader, feed] = connected();
  std::vector<Frame> frames;
  for (ssize_t i = 0; i < n; ++i) {
    ASSERT_EQ(write(feed.get(), bytes + i, 1), 1);
    reader.pump();
    while (auto frame = reader.pop()) frames.push_back(std::move(*frame));
  }
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].kind, 5u);
  EXPECT_EQ(frames[0].payload, Bytes(3, std::byte{1}));
  EXPECT_EQ(frames[1].kind, 6u);
}

TEST(Stream, StrangersAndGiantsAreGarbled) {
  auto [reader, raw] = connected();
  ASSERT_EQ(write(raw.get(), "GET / HTTP/1.0\r\n\r\n", 18), 18);
  reader.pump();
  EXPECT_EQ(reader.state(), Stream::State::garbled);
  auto [small, big_raw] = connected();
  small.distrust(10);
  Stream big(std::move(big_raw));
  big.push(1, Bytes(11));
  big.pump();
  small.pump();
  EXPECT_EQ(small.state(), Stream::State::garbled);
}

TEST(Stream, WhoeverSendsWithoutEndIsReadFrameByFrame) {
  auto [reader, raw] = connected();
  reader.distrust(64);
  Stream talker(std::move(raw));
  for (int i = 0; i < 100; ++i) talker.push(1, Bytes(64));
  for (int i = 0; i < 100; ++i) {
    talker.pump();
    reader.pump();
    ASSERT_TRUE(reader.pop().has_value()) << i;
    ASSERT_FALSE(reader.has_input()) << i;
  }
}

TEST(Deadline, ALimitOfZeroIsNone) {
  EXPECT_TRUE(Deadline(0).passed());
  EXPECT_FALSE(Deadline::of_limit(0).passed());
  EXPECT_FALSE(Deadline::of_limit(0, 0.5).passed());
  EXPECT_LE(Deadline::of_limit(1, 0.5).slice_ms(1'000'000), 1500);
  EXPECT_GT(Deadline::of_limit(1, 0.5).slice_ms(1'000'000), 1000);
}

TEST(Stream, LastWordsAreReadBeforeTheEnd) {
  auto [reader, raw] = connected();
  {
    Stream writer(std::move(raw));
    writer.push(9);
    writer.flush(1);
  }
  reader.push(1, Bytes(100));  // to nobody: no SIGPIPE
  reader.pump();
  ASSERT_TRUE(reader.pop().has_value());
  EXPECT_EQ(reader.state(), Stream::State::closed);
}

TEST(Stream, DeliversForAsLongAsThePeerTakesSomething) {
  auto [writer, raw] = connected();
  for (int i = 0; i < 40; ++i) writer.push(1, Bytes(100000));
  constexpr double kPatienceSeconds = 1;
  const uint64_t start = now_ns();
  std::thread slow([&fd = raw] {
    Bytes some(1 << 18);
    for (int i = 0; i < 10; ++i) {
      usleep(150000);
      ASSERT_GT(read(fd.get(), some.data(), some.size()), 0);
    }
    while (read(fd.get(), some.data(), some.size()) > 0) {
    }
  });
  EXPECT_TRUE(writer.deliver(kPatienceSeconds));
  EXPECT_GT(static_cast<double>(now_ns() - start), 1e9 * kPatienceSeconds);
  writer.close();
  slow.join();
}

TEST(Stream, SaysThatThePeerTakesNothing) {
  auto [writer, raw] = connected();
  writer.push(1, Bytes(10000000));
  EXPECT_FALSE(writer.deliver(0.1));
}

}  // namespace
}  // namespace railshmem
