// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <random>
#include <string>
#include <thread>

#include "bootstrap/pmi/base64.h"
#include "bootstrap/pmi/pmi_wire.h"

namespace railshmem::pmi {
namespace {

std::string encode(std::string_view text) {
  return encode_base64(std::as_bytes(std::span(text.data(), text.size())));
}

TEST(Base64, FollowsTheRfcWithoutPadding) {
  EXPECT_EQ(encode(""), "");
  EXPECT_EQ(encode("f"), "Zg");
  EXPECT_EQ(encode("fo"), "Zm8");
  EXPECT_EQ(encode("foobar"), "Zm9vYmFy");
}

TEST(Base64, RandomBytesRoundTrip) {
  std::mt19937 random(7);
  for (size_t n = 0; n < 300; ++n) {
    Bytes bytes(n);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    ASSERT_EQ(decode_base64(encode_base64(bytes)), bytes);
  }
}

TEST(Base64, GarbageIsRefused) {
  EXPECT_THROW(decode_base64("Zg=="), Error);
  EXPECT_THROW(decode_base64("Zm9vY"), Error);
}

TEST(PmiWire, LineBecomesFields) {
  const Fields fields = parse_line("cmd=get_result rc=0 msg=success value=QUJD");
  EXPECT_EQ(fields.at("cmd"), "get_result");
  EXPECT_EQ(fields.at("value"), "QUJD");
  EXPECT_TRUE(parse_line("").empty());
  EXPECT_TRUE(parse_line("nonsense").empty());
}

TEST(PmiWire, AnswersAreChecked) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const UniqueFd server(ends[1]);
  Wire wire(UniqueFd(ends[0]), 0.1);
  EXPECT_THROW(wire.ask("cmd=barrier_in", "barrier_out"), Error);  // silence
  const std::string lines = "cmd=put_result rc=-1 msg=no\ncmd=other\ncmd=put_result rc=0\n";
  ASSERT_EQ(write(server.get(), lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
  EXPECT_THROW(wire.receive("put_result"), Error);
  EXPECT_THROW(wire.receive("put_result"), Error);
  EXPECT_NO_THROW(wire.receive("put_result"));
}

TEST(PmiWire, AServerThatSendsNoLinesIsAnError) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const UniqueFd server(ends[1]);
  std::string why = "no error";
  std::thread floods;
  {
    Wire wire(UniqueFd(ends[0]), 20);
    floods = std::thread([&] {  // until the wire closes its end
      const std::string bytes(size_t{64} << 10, 'x');
      for (int i = 0; i < 64 && send(server.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0; ++i) continue;
    });
    try {
      wire.receive("put_result");
    } catch (const Error& error) {
      why = error.what();
    }
  }
  floods.join();
  EXPECT_NE(why.find("without an end of line where 'put_result' was expected; PMI_FD or PMI_PORT must lead to the "
                     "launcher"),
            std::string::npos)
      << why;
}

}  // namespace
}  // namespace railshmem::pmi
