// SPDX-License-Identifier: BSD-3-Clause
// Signals between GPUs in the order of a CUDA stream. Needs no CUDA toolkit: the driver is opened while the program
// runs.
#pragma once

#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <torch/extension.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "_words.h"

namespace railshmem_symm_mem {

/// For each rank from first to last - 1 but skip: sets this rank's word at that rank from 0 to 1 (steps has bit 0),
/// then that rank's word here from 1 to 0 (bit 1). A thread waits for one rank at a time. acq_rel: pairs with the same
/// operation on the other GPU, so that what a stream wrote before a signal is seen behind the wait for it. A word that
/// does not change within limit_ns (0: no limit) is named in the report, and the kernel traps: nothing behind it in the
/// stream runs.
constexpr const char* kSignals = R"ptx(
.version 7.0
.target sm_70
.address_size 64
.visible .entry signals(.param .u64 p_pads, .param .u64 p_report, .param .u64 p_limit, .param .u32 p_rank, .param .u32 p_members,
                        .param .u32 p_channel, .param .u32 p_first, .param .u32 p_last, .param .u32 p_skip, .param .u32 p_steps)
{
  .reg .pred p, puts;
  .reg .b32 rank, members, channel, first, last, skip, steps, tid, ntid, step, other, at, from, want, set, found, t;
  .reg .b64 pads, report, limit, word, began, now, a, b;
  ld.param.u64 pads, [p_pads];
  ld.param.u64 report, [p_report];
  ld.param.u64 limit, [p_limit];
  ld.param.u32 rank, [p_rank];
  ld.param.u32 members, [p_members];
  ld.param.u32 channel, [p_channel];
  ld.param.u32 first, [p_first];
  ld.param.u32 last, [p_last];
  ld.param.u32 skip, [p_skip];
  ld.param.u32 steps, [p_steps];
  mov.u32 tid, %tid.x;
  mov.u32 ntid, %ntid.x;
  mov.u32 step, 1;
STEP:
  and.b32 t, steps, step;
  setp.eq.u32 p, t, 0;
  @p bra NEXT_STEP;
  add.s32 other, first, tid;
OTHER:
  setp.ge.s32 p, other, last;
  @p bra NEXT_STEP;
  setp.eq.s32 p, other, skip;
  @p bra NEXT_OTHER;
  setp.eq.u32 puts, step, 1;
  selp.b32 at, other, rank, puts;
  selp.b32 from, rank, other, puts;
  mul.wide.s32 a, at, 8;
  add.s64 a, pads, a;
  ld.global.u64 word, [a];
  mad.lo.s32 t, channel, members, from;
  mul.wide.s32 b, t, 4;
  add.s64 word, word, b;
  sub.u32 want, step, 1;
  sub.u32 set, 2, step;
  mov.u64 began, %globaltimer;
TRY:
  atom.acq_rel.sys.global.cas.b32 found, [word], want, set;
  setp.eq.u32 p, found, want;
  @p bra NEXT_OTHER;
  setp.eq.u64 p, limit, 0;
  @p bra TRY;
  mov.u64 now, %globaltimer;
  sub.u64 now, now, began;
  setp.le.u64 p, now, limit;
  @p bra TRY;
  cvt.u64.u32 a, step;
  shl.b64 a, a, 56;
  cvt.u64.u32 b, channel;
  shl.b64 b, b, 24;
  or.b64 a, a, b;
  cvt.u64.u32 b, other;
  or.b64 a, a, b;
  st.volatile.global.u64 [report + 8], limit;
  st.volatile.global.u64 [report], a;
  membar.sys;
  trap;
NEXT_OTHER:
  add.s32 other, other, ntid;
  bra OTHER;
NEXT_STEP:
  add.u32 step, step, 1;
  setp.le.u32 p, step, 2;
  @p bra STEP;
  ret;
}
)ptx";

/// The current stream of a GPU, as the driver takes it. Without CUDA's headers only Python tells it in every torch.
inline void* current_stream(c10::Device device) {
  const py::gil_scoped_acquire gil;
  const py::object stream = py::module_::import("torch._C").attr("_cuda_getCurrentRawStream")(int{device.index()});
  return reinterpret_cast<void*>(stream.cast<uintptr_t>());
}

/// The kernel above on one GPU, for the whole process: the driver is gone before static objects are.
class Signals {
 public:
  enum Steps : uint32_t { put = 1, wait = 2, both = 3 };

  explicit Signals(int device) : device_(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device)) {
    driver_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    TORCH_CHECK(driver_ != nullptr, joined("railshmem.symm_mem.enable: the CUDA driver cannot be opened: ", dlerror()));
    find(load_, "cuModuleLoadData");
    find(function_of_, "cuModuleGetFunction");
    find(launch_, "cuLaunchKernel");
    find(pin_, "cuMemHostAlloc");
    find(name_, "cuGetErrorString");
    const c10::DeviceGuard guard(device_);
    void* module = nullptr;
    void* pinned = nullptr;
    check(load_(&module, kSignals), "cuModuleLoadData");
    check(function_of_(&kernel_, module, "signals"), "cuModuleGetFunction");
    constexpr unsigned kPortableAndMapped = 3;
    check(pin_(&pinned, 2 * sizeof(uint64_t), kPortableAndMapped), "cuMemHostAlloc");
    report_ = static_cast<volatile uint64_t*>(pinned);
    report_[0] = 0;
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  c10::Device device() const { return device_; }

  /// On the current stream of the device. pads is an array on the GPU.
  void launch(void** pads, int rank, int members, int channel, int first, int last, int skip, Steps steps,
              double limit_s) {
    throw_report();
    const c10::DeviceGuard guard(device_);
    uint64_t report = reinterpret_cast<uintptr_t>(report_), limit_ns = static_cast<uint64_t>(limit_s * 1e9);
    uint32_t does = steps;
    void* parameters[] = {&pads, &report, &limit_ns, &rank, &members, &channel, &first, &last, &skip, &does};
    const unsigned threads = std::min(last - first, 1024);  // the most that a block may have
    check(launch_(kernel_, 1, 1, 1, threads, 1, 1, 0, current_stream(device_), parameters, nullptr), "cuLaunchKernel");
  }
  /// Throws what a kernel that trapped has left.
  void throw_report() {
    if (report_[0] == 0) return;
    told_ = true;
    TORCH_CHECK(false, report());
  }
  /// At the end of a process that has only met CUDA's own error.
  void print_report() const {
    if (report_[0] != 0 && !told_) std::fprintf(stderr, "%s\n", report().c_str());
  }
  /// Until everything that this process has given the GPU is done.
  void synchronize() const {
    const c10::DeviceGuard guard(device_);
    c10::impl::VirtualGuardImpl(c10::DeviceType::CUDA).synchronizeDevice(device_.index());
  }

 private:
  std::string report() const {
    const uint64_t word = report_[0];
    const bool puts = word >> 56 == put;
    return "railshmem.symm_mem: a kernel on the GPU gave up: rank " + std::to_string(word & 0xffffff) +
           (puts ? " has not taken the signal before on channel " : " has not signalled on channel ") +
           std::to_string(word >> 24 & 0xffffffff) + " within " + std::to_string(report_[1] / 1000000) + " ms" +
           (puts ? "" : "; does it make this call, too?");
  }
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(driver_, name));
    TORCH_CHECK(function != nullptr, joined("railshmem.symm_mem.enable: the CUDA driver has no ", name));
  }
  void check(int status, const char* call) {
    if (status == 0) return;
    throw_report();
    const char* text = nullptr;
    name_(status, &text);
    TORCH_CHECK(false, joined("railshmem.symm_mem: ", call, ": ", text ? text : "unknown error", " (", status, ")"));
  }

  const c10::Device device_;
  void* driver_ = nullptr;
  void* kernel_ = nullptr;
  volatile uint64_t* report_ =
      nullptr;  ///< pinned: step, channel and rank of a word that did not change; the limit in ns
  bool told_ = false;
  int (*load_)(void** module, const void* image) = nullptr;
  int (*function_of_)(void** function, void* module, const char* name) = nullptr;
  int (*launch_)(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared,
                 void* stream, void** parameters, void** extra) = nullptr;
  int (*pin_)(void** memory, size_t nbytes, unsigned flags) = nullptr;
  int (*name_)(int status, const char** text) = nullptr;
};

}  // namespace railshmem_symm_mem
