# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from ranks import gloo, in_step, job, me, npes, pytest_generate_tests  # noqa: E402,F401
