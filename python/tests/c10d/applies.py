# SPDX-License-Identifier: BSD-3-Clause
"""Which of torch's tests apply to this backend on CPU tensors, where torch's own decorators say something else."""

#: Beginnings of names. torch reserves these tests for gloo or MPI, for GPUs that they do not use, or for 8 ranks. They run here.
ALSO_OURS = (
    "test_all_gather_coalesced", "test_all_gather_group", "test_all_reduce_coalesced", "test_all_reduce_group_", "test_all_to_all",
    "test_barrier_group", "test_batch_isend_irecv_gloo", "test_batch_isend_irecv_op_list_err", "test_broadcast_group", "test_gather_group",
    "test_gather_object", "test_grads_same_across_ranks_with_no_sync", "test_new_subgroups_by_enumeration_input_rank_exceeds_world_size",
    "test_new_subgroups_by_enumeration_negative_input_rank", "test_new_subgroups_group_size_exceeds_world_size",
    "test_reduce_group_", "test_scatter_group", "test_scatter_object_list",
)

#: Patterns of names -> why torch's decorators skip these tests rightly. Tests that need GPUs by another decorator say so themselves.
DOES_NOT_APPLY = {
    "*_cuda": "needs a GPU",
    "*_cuda_*": "needs a GPU",
    "*_nccl": "tests NCCL",
    "*_nccl_*": "tests NCCL",
    "test_nccl_*": "tests NCCL",
    "test_3_level_hierarchical_model_averager": "needs 4 GPUs",
    "test_SyncBatchNorm_process_group": "needs torchvision and GPUs",
    "test_accumulate_gradients_no_sync*": "needs 2 GPUs",
    "test_barrier_timeout_*": "a barrier that takes longer than the timeout ends the job here, with a message",
    "test_batch_isend_irecv_mixed_backend_err": "makes a group of NCCL",
    "test_batch_isend_irecv_op_err": "needs a GPU",
    "test_broadcast_object_list": "torch skips it everywhere, as failing",
    "test_coalescing_manager*": "needs a GPU; python/tests/distributed tests the manager on CPU tensors",
    "test_ddp_has_finalized": "torch skips it everywhere, as failing",
    "test_ddp_hook_pickling_powerSGD": "torch skips it everywhere, as flaky",
    "test_ddp_profiling_*": "asks for the names of NCCL's calls in a profile",
    "test_ddp_sync_bn_training_vs_eval": "torch skips it everywhere, as failing",
    "test_get_future": "needs a GPU",
    "test_monitored_barrier_*": "monitored_barrier() is gloo's alone",
    "test_new_subgroups": "needs 4 GPUs",
    "test_new_subgroups_by_enumeration": "needs 4 GPUs",
    "test_new_subgroups_overlap_not_allowed": "needs 4 ranks, and there are 3",
    "test_new_subgroups_with_group_param": "needs 4 GPUs",
    "test_new_subgroups_world_size_not_divisible_by_group_size": "needs 4 ranks, and there are 3",
    "test_sparse_all_reduce_sum": "sparse tensors are not supported",
    "test_static_graph_multi_forward": "needs 2 GPUs",
    "test_sync_bn_logged": "needs 2 GPUs",
}
