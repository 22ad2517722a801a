// SPDX-License-Identifier: BSD-3-Clause
// NCCL starts from a unique id in the file that SHMEM_PERF_RENDEZVOUS names. A process of no launcher is a job of one.
#include "perftest/device/job_nccl.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "perftest/device/check.h"
#include "perftest/device/job.h"
#include "perftest/device/rendezvous.h"

namespace railshmem::perf::gpu::job {
namespace {

constexpr std::chrono::seconds kPatience{60};

struct Job {
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;  ///< of barriers and gets
  int* word = nullptr;            ///< in GPU memory
  int pe = 0;
  int npes = 1;
};
Job job;

/// Ends the process when its owner has not gone in time: NCCL's start waits for the others without a limit.
class Deadline {
 public:
  explicit Deadline(const char* what)
      : watch_([this, what] {
          std::unique_lock lock(mutex_);
          if (gone_.wait_for(lock, kPatience, [this] { return done_; })) return;
          fprintf(stderr, "shmem_gpu_perf: PE %d: %s has not ended after 60 s; did all %d PEs start?\n", job.pe, what,
                  job.npes);
          std::_Exit(EXIT_FAILURE);
        }) {}
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    gone_.notify_one();
    watch_.join();
  }
  Deadline(const Deadline&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable gone_;
  bool done_ = false;
  std::thread watch_;  ///< last: it uses the others
};

/// Waits for the job's stream, on which other PEs take part.
void settle(const char* what) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const cudaError_t state = cudaStreamQuery(job.stream);
    if (state == cudaSuccess) return;
    if (state != cudaErrorNotReady) CUDA_CHECK(state);
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error(std::string(what) + " of " + std::to_string(job.npes) + " PEs has not ended after 60 s");
    std::this_thread::yield();
  }
}

}  // namespace

ncclComm_t communicator() {
  return job.communicator;
}

void start(int device) {
  CUDA_CHECK(cudaSetDevice(device));
  ncclUniqueId id{};
  if (const char* const path = std::getenv("SHMEM_PERF_RENDEZVOUS")) {
    const Launched process = numbered();
    job.pe = *process.rank;
    job.npes = *process.size;
    if (job.pe == 0) NCCL_CHECK(ncclGetUniqueId(&id));
    share_id(path, job.pe, id);
  } else if (launched().size.value_or(1) > 1) {
    throw std::runtime_error("set SHMEM_PERF_RENDEZVOUS to a file that does not exist yet, in a folder of all PEs");
  } else {
    NCCL_CHECK(ncclGetUniqueId(&id));
  }
  const Deadline deadline("ncclCommInitRank");
  NCCL_CHECK(ncclCommInitRank(&job.communicator, job.npes, id, job.pe));
  CUDA_CHECK(cudaStreamCreateWithFlags(&job.stream, cudaStreamNonBlocking));
  CUDA_CHECK(cudaMalloc(&job.word, sizeof *job.word));
  CUDA_CHECK(cudaMemset(job.word, 0, sizeof *job.word));
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
}
void stop() {
  const Deadline deadline("ncclCommDestroy");
  CUDA_CHECK(cudaFree(job.word));
  CUDA_CHECK(cudaStreamDestroy(job.stream));
  NCCL_CHECK(ncclCommDestroy(job.communicator));
  job = Job();
}
int pe() {
  return job.pe;
}
int npes() {
  return job.npes;
}
void barrier() {
  NCCL_CHECK(ncclAllReduce(job.word, job.word, 1, ncclInt, ncclMax, job.communicator, job.stream));
  settle("a barrier");
}
void* allocate(size_t nbytes) {
  void* at = nullptr;
  CUDA_CHECK(cudaMalloc(&at, nbytes));
  return at;
}
void release(void* block) {
  cudaFree(block);
}
void* mapped(const void*, int) {
  return nullptr;
}
const char* way(bool) {
  return "nccl";  // NCCL chooses, and tells under NCCL_DEBUG=INFO alone
}
void get(void* dest, const void* source, size_t nbytes, int pe) {
  NCCL_CHECK(ncclBroadcast(source, dest, nbytes, ncclChar, pe, job.communicator, job.stream));
  settle("a broadcast");
}
std::string library() {
  int version = 0;
  NCCL_CHECK(ncclGetVersion(&version));
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}
const char* heap_variable() {
  return "nothing: cudaMalloc failed";  // allocate() throws before
}

}  // namespace railshmem::perf::gpu::job
