// SPDX-License-Identifier: BSD-3-Clause
// Kernels of collectives among the members of a node, of any number of blocks. Their view of the job is
// railshmem_device_view. No block waits for another one of its grid, so a grid need not fit on the GPU at once.
#include "src/cuda/kernels/coll_engines.h"
#include "src/cuda/kernels/coll_pieces.h"

using namespace railshmem::cuda;

// Half of a multiprocessor's registers at most, to find a place beside kernels of the program.
// Of one unit a thread, and of kUnitsOfThread.
extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_move_even(const __grid_constant__ EvenMoveCall call) {
  kernels::run_move<1>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_move_even_long(const __grid_constant__ EvenMoveCall call) {
  kernels::run_move<kUnitsOfThread>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_move(const __grid_constant__ MoveCall call) {
  kernels::run_move<kUnitsOfThread>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_move_sizes(const __grid_constant__ MoveSizesCall call) {
  __shared__ uint64_t most;
  kernels::run_move_sizes(call, &most);
}

// Sums of one type: in one step, in one step of long vectors, and in two steps.
extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_sum_float(const __grid_constant__ EvenCombineCall call) {
  kernels::run_sum<1, float, false>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_sum_float_long(const __grid_constant__ EvenCombineCall call) {
  kernels::run_sum<kUnitsOfThread, float, false>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_sum_float_parts(const __grid_constant__ EvenCombineCall call) {
  kernels::run_sum<1, float, true>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_sum_half(const __grid_constant__ EvenCombineCall call) {
  kernels::run_sum<1, railshmem::Half, false>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_sum_half_long(const __grid_constant__ EvenCombineCall call) {
  kernels::run_sum<kUnitsOfThread, railshmem::Half, false>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_sum_half_parts(const __grid_constant__ EvenCombineCall call) {
  kernels::run_sum<1, railshmem::Half, true>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_sum_bfloat16(const __grid_constant__ EvenCombineCall call) {
  kernels::run_sum<1, railshmem::Bfloat16, false>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_sum_bfloat16_long(const __grid_constant__ EvenCombineCall call) {
  kernels::run_sum<kUnitsOfThread, railshmem::Bfloat16, false>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_sum_bfloat16_parts(const __grid_constant__ EvenCombineCall call) {
  kernels::run_sum<1, railshmem::Bfloat16, true>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_combine(const __grid_constant__ CombineCall call) {
  kernels::run_combine<kUnitsOfThread>(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_direct_move(const __grid_constant__ DirectMoveCall call) {
  __shared__ kernels::Found found;
  __shared__ kernels::Halves halves;
  kernels::run_direct_move(call, found, halves);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_begin(const __grid_constant__ EngineMoveCall call) {
  __shared__ Heard heard;
  kernels::run_begin(call, heard);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_own_block(const __grid_constant__ OwnBlockCall call) {
  kernels::run_own_block(call);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_end(const __grid_constant__ EngineMoveCall call) {
  __shared__ kernels::Halves halves;
  kernels::run_end(call, halves);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 2)
    railshmem_coll_staged_move(const __grid_constant__ MoveCall call) {
  __shared__ kernels::Halves halves;
  kernels::run_staged_move(call, -1, halves);
}

// Sums by chunks have all registers of a multiprocessor: half a block's threads keep as many loads under way as a whole
// block does elsewhere.
extern "C" __global__ void __launch_bounds__(kCollThreads, 1)
    railshmem_coll_staged_sum_float(const __grid_constant__ CombineCall call) {
  __shared__ kernels::Halves halves;
  kernels::run_staged_sum<float>(call, halves);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 1)
    railshmem_coll_staged_sum_half(const __grid_constant__ CombineCall call) {
  __shared__ kernels::Halves halves;
  kernels::run_staged_sum<railshmem::Half>(call, halves);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 1)
    railshmem_coll_staged_sum_bfloat16(const __grid_constant__ CombineCall call) {
  __shared__ kernels::Halves halves;
  kernels::run_staged_sum<railshmem::Bfloat16>(call, halves);
}

// As many registers as 640 threads would have: the last quarter is for kernels of the program.
extern "C" __global__ void __launch_bounds__(kCollThreads + 128, 1)
    railshmem_coll_direct_combine(const __grid_constant__ DirectCombineCall call) {
  __shared__ kernels::Found found;
  __shared__ kernels::Halves halves;
  kernels::run_direct_combine(call, found, halves);
}

extern "C" __global__ void __launch_bounds__(kCollThreads + 128, 1)
    railshmem_coll_staged_combine(const __grid_constant__ CombineCall call) {
  __shared__ kernels::Halves halves;
  kernels::run_staged_combine(call, halves);
}

extern "C" __global__ void __launch_bounds__(kCollThreads, 1)
    railshmem_coll_pieces(const __grid_constant__ PieceCombineCall call) {
  __shared__ railshmem::DeviceReduction part;
  __shared__ uint64_t number;
  kernels::run_pieces(call, part, &number);
}
