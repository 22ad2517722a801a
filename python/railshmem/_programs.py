# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the package as console scripts."""
import os
import sys

from railshmem._places import PACKAGE


def oshrun() -> None:
    """Becomes the launcher oshrun, with the arguments of this process."""
    program = PACKAGE / "bin/oshrun"
    os.execv(program, [str(program), *sys.argv[1:]])
