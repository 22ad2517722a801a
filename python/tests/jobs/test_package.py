# SPDX-License-Identifier: BSD-3-Clause
"""What belongs to a package beside its functions."""
import inspect
import pathlib
import re
import subprocess
import sys

import pytest

import railshmem
import railshmem.numpy
from railshmem import _core

SOURCES = pathlib.Path(__file__).parents[3]
MODULES = [railshmem, railshmem.numpy]
try:
    import railshmem.torch
    MODULES.append(railshmem.torch)
except ImportError:
    pass  # test_torch_is_optional looks at that
PUBLIC = [getattr(module, name) for module in MODULES for name in module.__all__]


def test_the_version_is_that_of_the_library():
    version = re.search(r'^version = "(.*?)"', (SOURCES / "pyproject.toml").read_text(), re.M)[1]
    assert railshmem.info()["version"] == f"RailSHMEM {version}"
    assert f"\nversion: {version}\n" in (SOURCES / "CITATION.cff").read_text()
    assert f'\n  version: "{version}"' in (SOURCES / "share/conda/recipe.yaml").read_text()
    assert f'\n    version("{version}")\n' in (SOURCES / "share/spack/packages/railshmem/package.py").read_text()
    assert f"\nproject(RailSHMEM VERSION {version} " in (SOURCES / "CMakeLists.txt").read_text()


def test_both_pyproject_files_require_equal_packages_to_build():
    def requires(file):
        return re.search(r"^requires = (\[.*?\])", file.read_text(), re.M)[1]

    assert requires(SOURCES / "python/pyproject.toml") == requires(SOURCES / "pyproject.toml")


def test_the_page_for_pypi_has_the_first_program_of_the_documentation():
    def program(file):
        return re.search(r"^```python\n(.*?)^```", file.read_text(), re.M | re.S)[1]

    assert program(SOURCES / "python/README.md") == program(SOURCES / "docs/python.md")


def test_types_are_declared():
    package = pathlib.Path(railshmem.__file__).parent
    assert (package / "py.typed").exists()
    stubs = (package / "_core.pyi").read_text()
    for name in vars(_core):
        assert name.startswith("__") or re.search(rf"^(def|class) {name}\b", stubs, re.M), f"{name} has no stub"


@pytest.mark.parametrize("thing", PUBLIC, ids=lambda thing: thing.__name__)
def test_what_is_public_is_documented(thing):
    assert len(inspect.getdoc(thing)) > 20
    if inspect.isfunction(thing):
        assert "return" in thing.__annotations__


def test_methods_of_teams_are_documented():
    for name in ("world", "shared", "from_group", "split_strided", "split_2d", "my_pe", "n_pes", "translate", "sync", "destroy"):
        assert len(inspect.getdoc(getattr(railshmem.Team, name))) > 20


def test_torch_is_optional():
    program = """
import sys
import railshmem, railshmem.numpy
assert "torch" not in sys.modules
sys.modules["torch"] = None
try:
    import railshmem.torch
except ImportError as error:
    assert "railshmem.torch needs PyTorch" in str(error), error
else:
    sys.exit("no exception")
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
