// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/device_modules.h"

#include <gtest/gtest.h>

#include <cstring>

#include "src/base/error.h"
#include "tests/gpu/fake_driver/fake_driver.h"

namespace railshmem {
namespace {

/// A module and a library with room for a view each, in the device's primary context.
class Modules : public ::testing::Test {
 protected:
  Modules() {
    const cuda::Driver& driver = fake_.driver();
    cuda::Context primary = nullptr;
    driver.primary_retain(&primary, 0);
    driver.set_context(primary);
    fake_.add_module(&image_, {{}, {{"railshmem_device_view", std::as_writable_bytes(std::span(&view_, 1))}}});
    fake_.add_module(&other_image_, {{}, {{"railshmem_device_view", std::as_writable_bytes(std::span(&word_, 1))}}});
    fake_.add_module(&plain_image_, {});
    driver.module_load(&module_, &image_);
  }
  ~Modules() override {
    const cuda::Driver& driver = fake_.driver();
    driver.set_context(nullptr);
    driver.primary_release(0);
  }

  std::string refusal(const void* image) {
    cuda::Module module = nullptr;
    fake_.driver().module_load(&module, image);
    try {
      add_module(views_, fake_.driver(), module);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }
  static WorldView job(int pe) {
    WorldView view;
    view.pe = pe;
    view.npes = 8;
    return view;
  }

  cuda::FakeDriver fake_;
  WorldView view_;
  uint64_t word_ = 0;
  int image_ = 0, other_image_ = 0, plain_image_ = 0;
  cuda::Module module_ = nullptr;
  DeviceViews views_;
};

TEST_F(Modules, GetTheViewWhenTheyComeAndWhenItComes) {
  add_module(views_, fake_.driver(), module_);
  EXPECT_EQ(view_.npes, 0);
  views_.set(job(3));
  EXPECT_EQ(view_.pe, 3);
  EXPECT_TRUE(views_.remove(module_));
  view_ = {};
  add_module(views_, fake_.driver(), module_);
  EXPECT_EQ(view_.npes, 8);
  views_.clear();
  EXPECT_EQ(view_.npes, 0);
}

TEST_F(Modules, ATwiceGivenOneIsOne) {
  add_module(views_, fake_.driver(), module_);
  add_module(views_, fake_.driver(), module_);
  EXPECT_TRUE(views_.remove(module_));
  EXPECT_FALSE(views_.remove(module_));
}

TEST_F(Modules, LibrariesToo) {
  cuda::Library library = nullptr;
  fake_.driver().library_load(&library, &image_, nullptr, nullptr, 0, nullptr, nullptr, 0);
  views_.set(job(5));
  add_library(views_, fake_.driver(), library);
  EXPECT_EQ(view_.pe, 5);
}

TEST_F(Modules, AreFilledInTheirContextWhateverIsCurrent) {
  add_module(views_, fake_.driver(), module_);
  fake_.driver().set_context(nullptr);
  views_.set(job(2));
  EXPECT_EQ(view_.pe, 2);
}

TEST_F(Modules, DoNotBreakAGraphUnderWay) {
  views_.set(job(2));
  fake_.capture(true);
  add_module(views_, fake_.driver(), module_);
  EXPECT_FALSE(fake_.capture_broken());
  EXPECT_EQ(view_.pe, 2);
  fake_.capture(false);
}

TEST_F(Modules, WithoutOurHeaderOrWithAnotherOneAreRefused) {
  EXPECT_NE(refusal(&plain_image_).find("there is no railshmem_device_view in it"), std::string::npos);
  const std::string other = refusal(&other_image_);
  EXPECT_NE(other.find("has 8 bytes"), std::string::npos) << other;
  EXPECT_FALSE(views_.any()) << "what is refused stays away";
}

TEST_F(Modules, OfAnotherVersionAreRefusedBeforeAnythingIsWritten) {
  views_.set(job(3));
  view_.version = kWorldViewVersion - 1;
  const std::string wrong = refusal(&image_);
  EXPECT_NE(wrong.find("has version " + std::to_string(kWorldViewVersion - 1)), std::string::npos) << wrong;
  EXPECT_EQ(view_.pe, -1);
  EXPECT_FALSE(views_.any());
}

TEST_F(Modules, NeedTheirContext) {
  fake_.driver().set_context(nullptr);
  EXPECT_NE(refusal(&image_).find("no context is current"), std::string::npos);
}

TEST_F(Modules, AFailingCopyIsNamed) {
  views_.set(job(1));
  fake_.fail("cuMemcpyAsync", 1, cuda::kInvalidValue);
  EXPECT_NE(refusal(&image_).find("cannot be read (CUDA gives error 1)"), std::string::npos);
  fake_.fail("cuMemcpyAsync", 2, cuda::kInvalidValue);
  EXPECT_NE(refusal(&image_).find("cannot be copied to a CUDA unit or module of this program (CUDA gives error 1)"),
            std::string::npos);
  EXPECT_FALSE(views_.any());
}

}  // namespace
}  // namespace railshmem
