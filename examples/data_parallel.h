// SPDX-License-Identifier: BSD-3-Clause
//
// The model of data_parallel.cu, its kernels, and the checks of what was learned.
#ifndef EXAMPLES_DATA_PARALLEL_H
#define EXAMPLES_DATA_PARALLEL_H

#include "gpu_example.h"

#include <cmath>
#include <vector>

namespace data_parallel {

using example::blocks;
using example::noise;

constexpr int kInputs = 32;  // of the model: a thread keeps the weights of an output in registers
// With at least four samples for each input, the curvature of the loss is between 0.2 and 2.5. There this rate and
// momentum about halve the squared distance to the true weights in each step. Twice the rate would diverge, so that a
// sum in place of the average is found out.
constexpr float kRate = 0.9F, kMomentum = 0.5F;
constexpr int kFewestSamples = 4 * kInputs;
constexpr int kFewestSteps = 60;     // after which rounding is all that is left of the distance
constexpr double kLossFalls = 0.1;   // the last loss over the first one is less
constexpr float kNearTruth = 1e-5F;  // of a weight; the true weights lie between -1 and 1
constexpr uint32_t kInputKeys = 1U << 30, kErrorKeys = 2U << 30;  // where keys of noise begin; weights' begin at 0

/// Each output is the sum of the inputs times the output's weights. Weight i of output o is parameter i * outputs + o.
struct Model {
  int outputs;
  int samples;  ///< of each PE
  size_t parameters() const { return static_cast<size_t>(kInputs) * outputs; }
};

/// Parameters of a PE: all PEs have equally many, and each shard begins at a multiple of 16 bytes. Parameters beyond
/// the model's have no gradient and stay 0.
inline size_t shard_of(size_t parameters, int npes) {
  constexpr size_t kUnit = 16 / sizeof(float);
  return ((parameters + npes - 1) / npes + kUnit - 1) / kUnit * kUnit;
}

__host__ __device__ inline float true_weight(size_t parameter) {
  return noise(static_cast<uint32_t>(parameter));
}
/// Of variance 1; equal on all PEs.
__host__ __device__ inline float input(int sample, int i) {
  return 1.7320508F * noise(kInputKeys + static_cast<uint32_t>(sample) * kInputs + i);
}

/// Makes a PE's samples. All PEs measure the outputs at equal inputs, each with errors of its own, which cancel over
/// all PEs: only the average of all gradients leads to the true weights. Thread o computes target o of each sample.
__global__ void make_samples(Model model, int pe, int npes, float* inputs, float* targets) {
  const int o = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int i = o; i < model.samples * kInputs; i += threads) inputs[i] = input(i / kInputs, i % kInputs);
  if (o >= model.outputs) return;
  const float error = static_cast<float>(2 * pe - (npes - 1)) / static_cast<float>(npes);  // 0 in the sum over PEs
  for (int s = 0; s < model.samples; ++s) {
    const size_t at = static_cast<size_t>(s) * model.outputs + o;
    float target = error * noise(kErrorKeys + static_cast<uint32_t>(at));
    for (int i = 0; i < kInputs; ++i) target += input(s, i) * true_weight(static_cast<size_t>(i) * model.outputs + o);
    targets[at] = target;
  }
}

/// Thread o computes the gradients of output o's weights, the mean over the samples, and the sum of its squared errors.
__global__ void compute_gradients(Model model, const float* parameters, const float* inputs, const float* targets,
                                  float* gradients, float* squares) {
  const int o = blockIdx.x * blockDim.x + threadIdx.x, outputs = model.outputs;
  if (o >= outputs) return;
  float weight[kInputs], gradient[kInputs], square = 0;
  for (int i = 0; i < kInputs; ++i) {
    weight[i] = parameters[static_cast<size_t>(i) * outputs + o];
    gradient[i] = 0;
  }
  for (int s = 0; s < model.samples; ++s) {
    const float* const x = inputs + s * kInputs;
    float error = -targets[static_cast<size_t>(s) * outputs + o];
    for (int i = 0; i < kInputs; ++i) error += x[i] * weight[i];
    for (int i = 0; i < kInputs; ++i) gradient[i] += error * x[i];
    square += error * error;
  }
  for (int i = 0; i < kInputs; ++i)
    gradients[static_cast<size_t>(i) * outputs + o] = gradient[i] / static_cast<float>(model.samples);
  squares[o] = square;
}

/// Gradient descent with momentum, on n parameters of a shard.
__global__ void update(float* parameters, float* velocity, const float* gradients, size_t n) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  velocity[i] = kMomentum * velocity[i] + gradients[i];
  parameters[i] -= kRate * velocity[i];
}

/// How many weights were not learned.
inline long far_from_truth(const std::vector<float>& learned) {
  long far = 0;
  for (size_t i = 0; i < learned.size(); ++i) far += !(std::fabs(learned[i] - true_weight(i)) < kNearTruth);
  return far;
}

/// How many parameters differ from PE 0's in a bit. Collective.
inline long unlike_first_pe(const std::vector<float>& learned) {
  const size_t n = learned.size();
  auto* const first = static_cast<float*>(shmemx_malloc_host(n * sizeof(float)));
  if (first == nullptr) shmem_global_exit(2);  // a message has said why
  std::copy(learned.begin(), learned.end(), first);
  shmem_float_broadcast(SHMEM_TEAM_WORLD, first, first, n, 0);
  long unlike = 0;
  for (size_t i = 0; i < n; ++i) unlike += std::memcmp(first + i, learned.data() + i, sizeof(float)) != 0;
  shmem_free(first);
  return unlike;
}

/// FNV-1a of all bits: two runs with equal checksums have learned equal parameters.
inline unsigned long long checksum(const std::vector<float>& learned) {
  unsigned long long sum = 0xcbf29ce484222325ULL;
  for (const float value : learned) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (const unsigned char byte : bytes) sum = (sum ^ byte) * 0x100000001b3ULL;
  }
  return sum;
}

}  // namespace data_parallel

#endif
