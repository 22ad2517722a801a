# SPDX-License-Identifier: BSD-3-Clause
import os

import pytest

import railshmem


def test_numbers_are_those_of_the_launcher(me, npes):
    assert npes == int(os.environ["EXPECTED_PES"])
    assert 0 <= me < npes


def test_info_names_version_and_place(me, npes):
    info = railshmem.info()
    assert info["version"].startswith("RailSHMEM ")
    assert (info["initialized"], info["pe"], info["n_pes"]) == (True, me, npes)


def test_a_second_init_raises():
    with pytest.raises(RuntimeError, match=r"init: the library runs already"):
        railshmem.init()


def test_the_headers_are_there():
    assert os.path.exists(os.path.join(railshmem.get_include(), "shmem.h"))


def test_a_forked_child_is_no_pe():
    child = os.fork()
    if child == 0:
        try:
            railshmem.my_pe()
        except RuntimeError as error:
            os._exit(0 if "forked" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
