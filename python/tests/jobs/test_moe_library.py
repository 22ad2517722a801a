# SPDX-License-Identifier: BSD-3-Clause
"""An installation without librailshmem-moe.so: the package works, and says what is missing where experts are asked for."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import railshmem

PACKAGE = pathlib.Path(railshmem.__file__).parent
PROGRAM = """
import railshmem
from railshmem import _core
railshmem.init()
try:
    _core.moe_workspace("railshmem.moe.Exchange", None, 4, 2, 16, 4, False, False, False, 0)
except FileNotFoundError as error:
    print(error)
railshmem.finalize()
"""


def test_the_message_names_the_library_and_where_it_was_looked_for(tmp_path):
    shutil.copy(PACKAGE / "lib/librailshmem.so.0", tmp_path)
    done = subprocess.run([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    assert done.returncode == 0, done.stdout
    assert (f"railshmem.moe.Exchange: this installation has no librailshmem-moe.so.0 that can be opened, beside librailshmem.so in {tmp_path}/, "
            "or where the loader looks: ") in done.stdout, done.stdout


def test_a_library_that_others_may_write_is_not_opened(tmp_path):
    found = [path for path in (PACKAGE / "lib/librailshmem-moe.so.0", PACKAGE / "lib/moe/librailshmem-moe.so.0") if path.exists()]
    if not found:
        pytest.skip("this build has no librailshmem-moe.so.0")
    shutil.copy(PACKAGE / "lib/librailshmem.so.0", tmp_path)
    shutil.copy(found[0], tmp_path)
    (tmp_path / "librailshmem-moe.so.0").chmod(0o757)
    done = subprocess.run([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)})
    assert f"{tmp_path}/librailshmem-moe.so.0 is not loaded: another user than those of librailshmem.so can write to it" in done.stdout, done.stdout
