// SPDX-License-Identifier: BSD-3-Clause
// Modules, libraries and kernels of the fake driver.
#include <atomic>
#include <cstring>

#include "tests/gpu/fake_driver/driver/calls.h"
#include "tests/gpu/fake_driver/driver/state.h"
#include "tests/support/fake_program_calls.h"

namespace railshmem::cuda {
namespace {

constexpr Result kInvalidImage = 200;

Result global_of(const FakeModule& module, const char* name, Address* address, size_t* nbytes) {
  const auto found = module.globals.find(name);
  if (found == module.globals.end()) return kNotFound;
  if (address != nullptr) *address = address_of(found->second.data());
  if (nbytes != nullptr) *nbytes = found->second.size();
  return kSuccess;
}

/// As nvcc makes them: the library's own.
bool is_fat_binary(const void* image) {
  if (image == nullptr) return false;
  constexpr uint32_t kMagic = 0xba55ed50;
  uint32_t begin = 0;
  std::memcpy(&begin, image, sizeof begin);
  return begin == kMagic;
}

/// A launch takes the values of its parameters at once, and runs later.
struct KernelArguments {
  KernelArguments(const FakeKernel& kernel, void** parameters) {
    for (size_t i = 0; i < kernel.parameter_nbytes.size(); ++i) {
      const auto* const bytes = static_cast<const std::byte*>(parameters[i]);
      values.emplace_back(bytes, bytes + kernel.parameter_nbytes[i]);
    }
    for (std::vector<std::byte>& value : values) pointers.push_back(value.data());
  }
  KernelArguments(const KernelArguments&) = delete;
  std::vector<std::vector<std::byte>> values;
  std::vector<void*> pointers;
};

/// A kernel or a function of the host, in a thread of its own. Its end changes the driver's state.
class Running {
 public:
  Running(FakeState& state, std::function<void()> body) : state_(state), body_(std::move(body)) {}
  ~Running() {
    if (thread_.joinable()) thread_.join();
  }
  Running(const Running&) = delete;
  /// Starts it, or says whether it is over.
  bool step() {
    if (!thread_.joinable()) {
      thread_ = std::thread([this] {
        body_();
        over_.store(true, std::memory_order_release);
        state_.changed.notify_all();
      });
    }
    return over_.load(std::memory_order_acquire);
  }

 private:
  FakeState& state_;
  const std::function<void()> body_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// Each launch of a graph runs it anew.
FakeNode node_of(FakeState& s, std::function<void()> body) {
  return [&s, body = std::move(body)] {
    const auto running = std::make_shared<Running>(s, body);
    return [running] { return running->step(); };
  };
}

/// A kernel, which begins when a place for it is free.
FakeNode kernel_node(FakeState& s, std::function<void()> body) {
  return [&s, node = node_of(s, std::move(body))] {
    return [&s, step = node(), begun = false]() mutable {
      if (!begun && s.kernels_running >= s.options.kernels_at_once) return false;
      if (!begun) ++s.kernels_running;
      begun = true;
      if (!step()) return false;
      --s.kernels_running;
      return true;
    };
  };
}

}  // namespace

extern "C" {

Result cuModuleLoadData(Module* module, const void* image) {
  FAKE_CALL(undisturbed);
  const auto found = s.images.find(image);
  if (found == s.images.end() && !is_fat_binary(image)) return kInvalidImage;
  *module = new ModuleObject{found == s.images.end() ? &library_kernels() : &found->second, {}};
  s.modules.insert(*module);
  return kSuccess;
}
Result cuModuleUnload(Module module) {
  FAKE_CALL(undisturbed);
  if (s.modules.erase(module) == 0) return kInvalidHandle;
  delete module;
  return kSuccess;
}
Result cuModuleGetFunction(Function* function, Module module, const char* name) {
  FAKE_CALL(context);
  if (s.modules.count(module) == 0) return kInvalidHandle;
  const auto found = module->module->kernels.find(name);
  if (found == module->module->kernels.end()) return kNotFound;
  std::unique_ptr<FunctionObject>& kept = module->functions[name];
  if (kept == nullptr) kept = std::make_unique<FunctionObject>(FunctionObject{&found->second});
  *function = kept.get();
  return kSuccess;
}
Result cuFuncGetAttribute(int* value, FunctionAttribute, Function function) {
  FAKE_CALL(context);
  *value = 0;  // no clusters here
  return function == nullptr ? kInvalidHandle : kSuccess;
}
Result cuModuleGetGlobal_v2(Address* address, size_t* nbytes, Module module, const char* name) {
  FAKE_CALL(context);
  return s.modules.count(module) == 0 ? kInvalidHandle : global_of(*module->module, name, address, nbytes);
}
Result cuLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned, Stream handle, void** parameters, void** extra) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr || function == nullptr || extra != nullptr || grid_x * grid_y * grid_z == 0 ||
      block_x * block_y * block_z == 0 || block_x * block_y * block_z > 1024)
    return kInvalidValue;
  fake_enter(call, stream->context);
  const auto values = std::make_shared<KernelArguments>(*function->kernel, parameters);
  const FakeLaunch launch{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, values->pointers.data()};
  fake_give_node(s, stream, kernel_node(s, [kernel = function->kernel, launch, values] { kernel->body(launch); }));
  return kSuccess;
}
/// Kernels run in order, whatever attributes say.
Result cuLaunchKernelEx(const LaunchConfig* config, Function function, void** parameters, void** extra) {
  const auto& [gx, gy, gz] = config->grid;
  const auto& [bx, by, bz] = config->block;
  return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, config->shared_nbytes, config->stream, parameters, extra);
}
/// Programs call this.
Result cuLaunchHostFunc(Stream handle, void (*function)(void*), void* argument) {
  FAKE_CALL(context);
  const FakeStream stream = fake_stream(s, handle);
  if (stream == nullptr) return kInvalidHandle;
  if (function == nullptr) return kInvalidValue;
  fake_give_node(s, stream, node_of(s, [function, argument] { function(argument); }));
  return kSuccess;
}

Result cuLibraryLoadData(Library* library, const void* code, int*, void**, unsigned, int*, void**, unsigned) {
  FAKE_CALL(start);
  const auto found = s.images.find(code);
  if (found == s.images.end()) return kInvalidImage;
  *library = new LibraryObject{{&found->second, {}}};
  s.libraries.insert(*library);
  return kSuccess;
}
Result cuLibraryUnload(Library library) {
  FAKE_CALL(start);
  if (s.libraries.erase(library) == 0) return kInvalidHandle;
  delete library;
  return kSuccess;
}
Result cuLibraryGetKernel(Kernel* kernel, Library library, const char* name) {
  FAKE_CALL(start);
  if (s.libraries.count(library) == 0) return kInvalidHandle;
  const auto found = library->module->kernels.find(name);
  if (found == library->module->kernels.end()) return kNotFound;
  s.kernels.push_back(std::make_unique<KernelObject>(KernelObject{{&found->second}}));
  *kernel = s.kernels.back().get();
  return kSuccess;
}
Result cuLibraryGetGlobal(Address* address, size_t* nbytes, Library library, const char* name) {
  FAKE_CALL(context);
  return s.libraries.count(library) == 0 ? kInvalidHandle : global_of(*library->module, name, address, nbytes);
}
Result cuKernelGetFunction(Function* function, Kernel kernel) {
  FAKE_CALL(context);
  *function = kernel;
  return kSuccess;
}

}  // extern "C"
}  // namespace railshmem::cuda
