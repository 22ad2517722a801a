// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <signal.h>

#include "bootstrap/local/oshrun/line_tagger.h"
#include "bootstrap/local/oshrun/options.h"
#include "bootstrap/local/oshrun/rendezvous.h"
#include "bootstrap/local/oshrun/verdict.h"

namespace railshmem::oshrun {
namespace {

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), "oshrun");
  return parse_options(static_cast<int>(words.size()), words.data());
}

using Words = std::vector<std::string>;

TEST(OshrunOptions, StopAtTheProgramName) {
  const Parsed parsed = parse({"-n", "4", "--tag-output", "prog", "-n", "5", "--timeout", "3", "--", "x"});
  ASSERT_EQ(parsed.message, "");
  EXPECT_EQ(parsed.options.npes, 4);
  EXPECT_TRUE(parsed.options.tag_output);
  EXPECT_EQ(parsed.options.timeout_s, 0);
  EXPECT_EQ(parsed.options.command, (Words{"prog", "-n", "5", "--timeout", "3", "--", "x"}));
}

TEST(OshrunOptions, DoubleDashEndsOptions) {
  EXPECT_EQ(parse({"-n", "2", "--", "-odd", "a"}).options.command, (Words{"-odd", "a"}));
}

TEST(OshrunOptions, EnvironmentKeepsEqualSigns) {
  const Parsed parsed = parse({"-n", "1", "-x", "A=b=c", "--env", "B=", "prog"});
  ASSERT_EQ(parsed.message, "");
  ASSERT_EQ(parsed.options.environment.size(), 2u);
  EXPECT_EQ(parsed.options.environment[0], (std::pair<std::string, std::string>("A", "b=c")));
  EXPECT_EQ(parsed.options.environment[1], (std::pair<std::string, std::string>("B", "")));
}

TEST(OshrunOptions, MistakesAreExplained) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{},
                                                {"prog"},
                                                {"-n", "0", "prog"},
                                                {"-n", "x", "prog"},
                                                {"-n", "2"},
                                                {"-n", "2", "--bogus", "prog"},
                                                {"-n", "2", "-x", "=1", "prog"},
                                                {"-n", "2", "-x", "NAME", "prog"},
                                                {"-n", "2", "--timeout", "-1", "prog"}}) {
    const Parsed parsed = parse(words);
    EXPECT_NE(parsed.message, "");
    EXPECT_EQ(parsed.exit_status, 2) << parsed.message;
  }
  EXPECT_EQ(parse({"--help"}).exit_status, 0);
  EXPECT_NE(parse({"--help"}).message, "");
}

TEST(LineTagger, TagsWholeLinesOnly) {
  LineTagger tagger(3);
  EXPECT_EQ(tagger.feed("ab"), "");
  EXPECT_EQ(tagger.feed("c\nd\n\ne"), "[3] abc\n[3] d\n[3] \n");
  EXPECT_EQ(tagger.finish(), "[3] e\n");
  EXPECT_EQ(tagger.finish(), "");
}

TEST(LineTagger, EndlessLineIsCut) {
  LineTagger tagger(0);
  const std::string piece(1 << 19, 'x');
  EXPECT_EQ(tagger.feed(piece), "");
  EXPECT_GT(tagger.feed(piece).size(), piece.size());
}

TEST(Rendezvous, GivesEverythingInPeOrderToTheLast) {
  Rendezvous rendezvous(3);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(rendezvous.contribute(2, Bytes(2, std::byte{2})), nullptr);
    EXPECT_EQ(rendezvous.missing(), "PEs 0 and 1");
    EXPECT_EQ(rendezvous.contribute(0, Bytes(2, std::byte{0})), nullptr);
    const auto all = rendezvous.contribute(1, Bytes(2, std::byte{1}));
    ASSERT_NE(all, nullptr);
    EXPECT_EQ(*all, (Bytes{std::byte{0}, std::byte{0}, std::byte{1}, std::byte{1}, std::byte{2}, std::byte{2}}));
  }
}

TEST(Rendezvous, DifferentSizesAreAnError) {
  Rendezvous rendezvous(2);
  rendezvous.contribute(0, Bytes(2));
  EXPECT_THROW(rendezvous.contribute(1, Bytes(3)), Error);
}

TEST(Rendezvous, WaitingForOneThatLeftIsStuck) {
  Rendezvous rendezvous(2);
  rendezvous.leave(1);
  EXPECT_FALSE(rendezvous.stuck());
  rendezvous.contribute(0, {});
  ASSERT_TRUE(rendezvous.stuck());
  EXPECT_NE(rendezvous.stuck()->find("PE 1 finished"), std::string::npos);
}

TEST(Verdict, IsTheShells) {
  EXPECT_EQ(exit_status_of(3 << 8), 3);
  EXPECT_EQ(exit_status_of(SIGKILL), 137);
  EXPECT_EQ(describe(3 << 8), "exited with status 3");
  EXPECT_EQ(describe(SIGKILL), "was killed by signal 9 (Killed)");
}

}  // namespace
}  // namespace railshmem::oshrun
