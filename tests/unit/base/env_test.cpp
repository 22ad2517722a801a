// SPDX-License-Identifier: BSD-3-Clause
#include "src/base/env.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <regex>
#include <sstream>

#include "src/base/error.h"

namespace railshmem {
namespace {

using Settings = std::map<std::string, std::string>;

Env::Lookup from(const Settings& settings) {
  return [&settings](const char* name) -> const char* {
    const auto found = settings.find(name);
    return found == settings.end() ? nullptr : found->second.c_str();
  };
}

TEST(Env, DefaultsParse) {
  const Env env = Env::parse(from({}));
  EXPECT_EQ(env.symmetric_size, kAutomaticSize);
  EXPECT_TRUE(env.transport.empty());
  EXPECT_FALSE(env.info);
}

TEST(Env, SizesFollowTheStandardsGrammar) {
  EXPECT_EQ(parse_size("20kk"), 20u << 10);
  EXPECT_EQ(parse_size(".5m"), 1u << 19);
  EXPECT_EQ(parse_size("1.5G"), 3ull << 29);
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("0.1"), 1u);
  EXPECT_EQ(parse_size("2T"), 2ull << 40);
  for (const char* bad : {"", "k", "-1", "nan", "inf", "1x", "1e3", "99999999999999999999", "-0.5"})
    EXPECT_THROW(parse_size(bad), Error) << bad;
}

TEST(Env, MalformedValueNamesVariableAndForm) {
  const Settings settings{{"SHMEM_TIMEOUT", "soon"}};
  try {
    Env::parse(from(settings));
    FAIL() << "accepted 'soon'";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("SHMEM_TIMEOUT is 'soon'"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("seconds"), std::string::npos) << e.what();
  }
}

TEST(Env, DeprecatedTwinIsHonouredAndLoses) {
  const Settings twin{{"SMA_SYMMETRIC_SIZE", "1M"}};
  EXPECT_EQ(Env::parse(from(twin)).symmetric_size, 1u << 20);
  const Settings both{{"SMA_SYMMETRIC_SIZE", "1M"}, {"SHMEM_SYMMETRIC_SIZE", "2M"}};
  EXPECT_EQ(Env::parse(from(both)).symmetric_size, 2u << 20);
  const Settings unrelated{{"SMA_TIMEOUT", "nonsense"}};
  EXPECT_NO_THROW(Env::parse(from(unrelated)));
}

TEST(Env, AnEmptyVariableIsNotSet) {
  Settings settings;
  for (const EnvRow& row : env_rows()) settings[row.name] = "";
  const Env env = Env::parse(from(settings));
  EXPECT_EQ(env.symmetric_size, kAutomaticSize);
  EXPECT_EQ(env.timeout_s, 60);
  EXPECT_FALSE(env.info);
  EXPECT_EQ(describe_env(from(settings)), describe_env(from({})));
  const Settings twin{{"SHMEM_SYMMETRIC_SIZE", ""}, {"SMA_SYMMETRIC_SIZE", "1M"}};
  EXPECT_EQ(Env::parse(from(twin)).symmetric_size, 1u << 20);
  EXPECT_TRUE(unknown_names({"SHMEM_TRANSPROT="}).empty());
  ASSERT_EQ(setenv("RAILSHMEM_EMPTY_FOR_A_TEST", "", 1), 0);
  EXPECT_EQ(launcher_variable("RAILSHMEM_EMPTY_FOR_A_TEST"), nullptr);
}

TEST(Env, ASecretIsNeverShown) {
  const Settings good{{"SHMEM_TCP_SECRET", "sesame-sesame-sesame"}};
  EXPECT_EQ(Env::parse(from(good)).tcp_secret, "sesame-sesame-sesame");
  const std::string table = describe_env(from(good));
  EXPECT_EQ(table.find("sesame"), std::string::npos) << table;
  EXPECT_TRUE(std::regex_search(table, std::regex("SHMEM_TCP_SECRET +set +\\(set\\)"))) << table;
  EXPECT_TRUE(std::regex_search(describe_env(from({})), std::regex("SHMEM_TCP_SECRET +not set +\\(default\\)")));
  const Settings bad{{"SHMEM_TCP_SECRET", "sesame"}};
  try {
    Env::parse(from(bad));
    FAIL() << "accepted 6 characters";
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find("sesame"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("SHMEM_TCP_SECRET"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("needs 16"), std::string::npos) << e.what();
  }
}

/// No character of it moves the cursor or begins a line, but the ends of its own lines do.
bool is_printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f); });
}

TEST(Env, ValuesAreShownWithoutControlCharacters) {
  const std::string hostile = "a\x1b]0;title\a\nSHMEM_INFO fake\r\x9b\x7f\xff";
  Settings all;
  for (const EnvRow& row : env_rows()) {
    all[row.name] = hostile;
    try {
      Env::parse(from(Settings{{row.name, hostile}}));
    } catch (const Error& e) {
      EXPECT_TRUE(is_printable(e.what())) << row.name;
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << row.name;
    }
  }
  const std::string table = describe_env(from(all));
  EXPECT_TRUE(is_printable(table));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), static_cast<long>(env_rows().size()));
  EXPECT_NE(table.find("a\\x1b]0;title\\x07\\x0aSHMEM_INFO fake\\x0d\\x9b\\x7f\\xff"), std::string::npos) << table;
}

TEST(Env, UnknownNameGetsTheNearestKnown) {
  const auto warnings = unknown_names({"SHMEM_TRANSPROT=p2p", "SHMEM_INFO=1", "PATH=/bin", "SHMEM_OFI_PROVIDER"});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("SHMEM_TRANSPORT"), std::string::npos) << warnings[0];
}

TEST(Env, TransportListKeepsOrderAndRefusesRepeats) {
  const Settings list{{"SHMEM_TRANSPORT", "p2p,ofi"}};
  EXPECT_EQ(Env::parse(from(list)).transport, (std::vector{TransportKind::p2p, TransportKind::ofi}));
  const Settings repeated{{"SHMEM_TRANSPORT", "p2p,p2p"}};
  EXPECT_THROW(Env::parse(from(repeated)), Error);
  const Settings empty_item{{"SHMEM_TRANSPORT", "p2p,"}};
  EXPECT_THROW(Env::parse(from(empty_item)), Error);
}

TEST(Env, DescriptionShowsEveryVariable) {
  const std::string table = describe_env(from({}));
  for (const EnvRow& row : env_rows()) EXPECT_NE(table.find(row.name), std::string::npos) << row.name;
}

TEST(Env, DescriptionHasStraightColumns) {
  const Settings settings{{"SHMEM_OFI_PROVIDER", "tcp;ofi_rxm"}, {"SHMEM_TRACE", std::string(60, 'x')}};
  const std::string table = describe_env(from(settings));
  std::istringstream lines(table);
  std::string line;
  size_t column = 0;
  for (const EnvRow& row : env_rows()) {
    ASSERT_TRUE(std::getline(lines, line));
    const size_t help = line.find(row.help);
    ASSERT_NE(help, std::string::npos) << line;
    if (column == 0) column = help;
    // Only a value that is too long for any table stands out.
    if (std::string(row.name) != "SHMEM_TRACE") {
      EXPECT_EQ(help, column) << line;
    }
    EXPECT_EQ(line.find(' '), strlen(row.name)) << line;
  }
}

TEST(Env, HeapSizeMayBeLeftToTheLibrary) {
  const Settings automatic{{"SHMEM_SYMMETRIC_SIZE", "auto"}}, number{{"SHMEM_SYMMETRIC_SIZE", "1G"}};
  EXPECT_EQ(Env::parse(from(automatic)).symmetric_size, kAutomaticSize);
  EXPECT_EQ(Env::parse(from(number)).symmetric_size, 1u << 30);
}

TEST(Env, TransportsThatAreAcceptedAreAllNamed) {
  for (const char* wrong : {"foo", "p2p,foo", "p2p,auto", "ofi,ofi"}) {
    const Settings settings{{"SHMEM_TRANSPORT", wrong}};
    try {
      Env::parse(from(settings));
      FAIL() << "accepted " << wrong;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("accepted: auto, or a list of p2p, ofi and loopback"), std::string::npos)
          << e.what();
    }
  }
}

TEST(Env, TenThousandRandomValuesParseOrThrow) {
  std::mt19937_64 random(20261121);
  const auto& rows = env_rows();
  size_t refused = 0;
  for (int round = 0; round < 10000; ++round) {
    std::string value(random() % 24, '\0');
    static constexpr char kAlphabet[] = "0123456789.-+eEkKmMgGtTxnaif,p2pofiloopbackuto ;\xff\x01";
    for (char& c : value) c = kAlphabet[random() % (sizeof kAlphabet - 1)];
    const Settings settings{{rows[random() % rows.size()].name, value}};
    try {
      Env::parse(from(settings));
    } catch (const Error& e) {
      ++refused;
      EXPECT_NE(std::string(e.what()).find(settings.begin()->first), std::string::npos) << e.what();
    }
  }
  EXPECT_GT(refused, 1000u);
}

}  // namespace
}  // namespace railshmem
