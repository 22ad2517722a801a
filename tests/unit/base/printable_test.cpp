// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/printable.h"

#include <gtest/gtest.h>

#include "src/base/log.h"

namespace railshmem {
namespace {

TEST(Printable, PlainTextAndOtherScriptsStay) {
  for (const char* text : {"", "host node1, pid 4711", "J\xc3\xbcrgen \xe2\x82\xac \xf0\x9f\x9a\x82", "100 % \\x1b"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, NothingSteersATerminal) {
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
  EXPECT_EQ(printable("one\ntwo\rthree\ttab\x7f"), "one\\x0atwo\\x0dthree\\x09tab\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b"
            "31m")
      << "the control sequence introducer, as UTF-8";
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b"
            "31m")
      << "and as a byte";
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "evil"),
            "\\xe2\\x80\\xae"
            "evil")
      << "right to left override";
  EXPECT_EQ(printable("a\xe2\x80\xa8"
                      "b"),
            "a\\xe2\\x80\\xa8"
            "b")
      << "line separator";
}

TEST(Printable, OnlyLineEndsOfATextOfLinesStay) {
  EXPECT_EQ(printable_lines(""), "");
  EXPECT_EQ(printable_lines("one\n\x1b[2J\n\ntwo\r"), "one\n\\x1b[2J\n\ntwo\\x0d");
  EXPECT_EQ(printable_lines("one\n"), "one\n");
}

TEST(Printable, BrokenUtf8IsShownByteByByte) {
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "longer than needed";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past the last character";
  EXPECT_EQ(printable("\xe2\x82z"), "\\xe2\\x82z");
}

TEST(Printable, StopsBeforeWhatDoesNotFit) {
  char out[6];
  EXPECT_EQ(write_printable(out, 5, "ab\n\n"), 2u);
  EXPECT_EQ(write_printable(out, 6, "ab\n\n"), 6u);
  EXPECT_EQ(write_printable(out, 2, "\xe2\x82\xac"), 0u);
}

TEST(Log, AMessageIsOneLineWhateverItHolds) {
  testing::internal::CaptureStderr();
  log_error("PE 3 says: %s", "fine\nrailshmem: PE 0: error: forged\x1b[2J");
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  EXPECT_NE(line.find("fine\\x0arailshmem: PE 0: error: forged\\x1b[2J"), std::string::npos) << line;
  testing::internal::CaptureStderr();
  log_error("%s", std::string(10000, '\x1b').c_str());
  EXPECT_LE(testing::internal::GetCapturedStderr().size(), 2048u);
}

}  // namespace
}  // namespace railshmem
