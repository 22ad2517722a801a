# SPDX-License-Identifier: BSD-3-Clause
"""torch's own tests of torch.distributed, from its package, with the backend railshmem on CPU tensors.

torch starts processes for each test. Here the PEs of one job run all tests, each with a process group of its own.
"""
import fnmatch
import unittest

import pytest
import torch
import torch.distributed as dist
from torch.testing._internal import common_distributed

import railshmem
from applies import ALSO_OURS, DOES_NOT_APPLY
from conftest import stores

for feature in ("gpu", "cuda", "ddp", "subgroup", "plugin"):
    common_distributed.DistTestCases.backend_feature[feature].add("railshmem")
from torch.testing._internal.distributed import distributed_test  # noqa: E402

_SKIPS = {skip.exit_code: skip.message for skip in common_distributed.TEST_SKIPS.values()}


class TestC10d(distributed_test.TestDistBackend, distributed_test.DistributedTest._DistTestBase):
    """The tests of torch's base class; a PE is the rank of its number."""

    def setUp(self):
        common_distributed.TestCase.setUp(self)  # that of the class between would start processes
        self.rank = railshmem.my_pe()
        dist.init_process_group("railshmem", store=dist.PrefixStore(self.id(), stores[0]), rank=self.rank, world_size=railshmem.n_pes())

    def tearDown(self):
        railshmem.barrier_all()
        if dist.is_initialized():
            dist.destroy_process_group()
        common_distributed.TestCase.tearDown(self)

    def _barrier(self, *args, **kwargs):
        railshmem.barrier_all()


def _sorted(name, test):
    """Returns why a test is skipped, or None; and the test, without its decorators where it applies in spite of them."""
    why = next((DOES_NOT_APPLY[pattern] for pattern in DOES_NOT_APPLY if fnmatch.fnmatchcase(name, pattern)), None)
    if why or not name.startswith(ALSO_OURS):
        return why or getattr(test, "__unittest_skip_why__", None), test
    while hasattr(test, "__wrapped__"):
        test = test.__wrapped__
    return None, test


def _method(name, test):
    """Returns the test as a method; torch's tests say by the exit status of a process that they are skipped."""
    why, test = _sorted(name, test)

    def method(self):
        try:
            test(self)
        except SystemExit as left:
            raise unittest.SkipTest(_SKIPS[left.code]) from left

    method.__name__ = name
    return unittest.skip(why)(method) if why else method


for _name, _test in vars(distributed_test.DistributedTest._DistTestBase).items():
    if _name.startswith("test_"):
        setattr(TestC10d, _name, _method(_name, _test))


def test_what_torch_skips_has_a_reason_of_ours():
    """A newer torch may have tests that applies.py does not know yet."""
    if not torch.__version__.startswith("2.11."):
        pytest.skip(f"applies.py was written for torch 2.11; this is {torch.__version__}")
    reasons = {name: getattr(method, "__unittest_skip_why__", None) for name, method in vars(TestC10d).items()}
    assert {name: why for name, why in reasons.items() if why and why not in DOES_NOT_APPLY.values()} == {}
    assert {pattern for pattern in DOES_NOT_APPLY if not fnmatch.filter(reasons, pattern)} == set()
