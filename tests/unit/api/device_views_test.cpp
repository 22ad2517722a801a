// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/device_views.h"

#include <gtest/gtest.h>

#include <cstring>

#include "include/shmem/device/view.h"
#include "src/base/error.h"

namespace railshmem {
namespace {

WorldView first_unit, second_unit;
int answer = 0;

int fill_first(const void* view, size_t nbytes) {
  std::memcpy(&first_unit, view, nbytes);
  return 0;
}
int fill_second(const void* view, size_t nbytes) {
  if (answer == 0) std::memcpy(&second_unit, view, nbytes);
  return answer;
}

DeviceViews::Key key(int (*fill)(const void*, size_t)) {
  return reinterpret_cast<const void*>(fill);
}

WorldView view_of(int pe) {
  WorldView view;
  view.pe = pe;
  view.npes = 8;
  return view;
}

class Views : public ::testing::Test {
 protected:
  Views() {
    first_unit = second_unit = WorldView{};
    answer = 0;
  }
  DeviceViews views_;
};

TEST_F(Views, EveryUnitGetsTheView) {
  EXPECT_FALSE(views_.any());
  views_.add(key(fill_first), fill_first, sizeof(WorldView), kWorldViewVersion);
  views_.add(key(fill_second), fill_second, sizeof(WorldView), kWorldViewVersion);
  EXPECT_TRUE(views_.any());
  EXPECT_EQ(first_unit.npes, 0);
  views_.set(view_of(3));
  EXPECT_EQ(first_unit.pe, 3);
  EXPECT_EQ(second_unit.pe, 3);
}

TEST_F(Views, ALateUnitGetsItAtOnceAndOneThatLeftNoMore) {
  views_.set(view_of(3));
  views_.add(key(fill_first), fill_first, sizeof(WorldView), kWorldViewVersion);
  EXPECT_EQ(first_unit.pe, 3);
  views_.remove(key(fill_first));
  views_.set(view_of(4));
  EXPECT_EQ(first_unit.pe, 3);
}

TEST_F(Views, AfterTheEndUnitsHaveNoJob) {
  views_.add(key(fill_first), fill_first, sizeof(WorldView), kWorldViewVersion);
  views_.set(view_of(3));
  views_.clear();
  EXPECT_EQ(first_unit.pe, -1);
  EXPECT_EQ(first_unit.npes, 0);
  views_.add(key(fill_second), fill_second, sizeof(WorldView), kWorldViewVersion);
  EXPECT_EQ(second_unit.npes, 0);
}

TEST_F(Views, OtherHeadersAreRefusedWithBothVersions) {
  views_.add(key(fill_first), fill_first, sizeof(WorldView), kWorldViewVersion + 7);
  try {
    views_.set(view_of(3));
    FAIL() << "a unit of another version was accepted";
  } catch (const Error& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("version " + std::to_string(kWorldViewVersion + 7)), std::string::npos) << message;
    EXPECT_NE(message.find("version " + std::to_string(kWorldViewVersion) + " of"), std::string::npos) << message;
  }
  EXPECT_EQ(first_unit.npes, 0);
}

TEST_F(Views, AFailedCopyIsNamed) {
  answer = 13;
  views_.add(key(fill_second), fill_second, sizeof(WorldView), kWorldViewVersion);
  try {
    views_.set(view_of(3));
    FAIL() << "the failure was lost";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("error 13"), std::string::npos) << e.what();
  }
}

TEST(ViewRegistration, TheExportedFunctionsReachTheProcessesList) {
  ASSERT_FALSE(DeviceViews::instance().any());
  shmemx_device_view_register(fill_first, sizeof(WorldView), kWorldViewVersion);
  EXPECT_TRUE(DeviceViews::instance().any());
  shmemx_device_view_unregister(fill_first);
  EXPECT_FALSE(DeviceViews::instance().any());
}

}  // namespace
}  // namespace railshmem
