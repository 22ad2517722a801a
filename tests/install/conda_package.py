# SPDX-License-Identifier: BSD-3-Clause
"""Builds the conda package of a folder of sources by rattler-build and runs its test: conda_package.py SOURCES OUT CHANNEL [MPI ...]

CHANNEL gives what the recipe needs. `stand-ins`: empty packages made here do, and the compilers and libraries of this machine are used.
MPI: nompi, openmpi or mpich, one package for each; default: nompi."""
import sys
import tempfile
from pathlib import Path

import rattler_build

# What the recipe names, with any version that it takes.
STAND_INS = {
    "cli11": "2.4.2", "cmake": "3.30.0", "gcc_linux-64": "13.3.0", "gxx_linux-64": "13.3.0", "libfabric-devel": "1.22.0", "libhwloc": "2.11.2",
    "libpmix-devel": "5.0.3", "mpich": "4.2.3", "ninja": "1.12.1", "nlohmann_json": "3.11.3", "openmpi": "5.0.5", "pkg-config": "0.29.2",
    "python": "3.12.1", "sysroot_linux-64": "2.28",
}


def stand_ins(channel):
    """Makes the empty packages; returns the address of their channel."""
    with tempfile.TemporaryDirectory() as recipes:
        paths = []
        for name, version in STAND_INS.items():
            paths.append(Path(recipes) / name / "recipe.yaml")
            paths[-1].parent.mkdir()
            paths[-1].write_text(f'schema_version: 1\npackage: {{name: {name}, version: "{version}"}}\nbuild: {{number: 0, noarch: generic, script: "true"}}\n', encoding="utf-8")
        rattler_build.build_recipes(paths, output_dir=channel, channel=[], test="skip")
    return channel.as_uri()


def main(sources, out, channel, *mpis):
    sources, out = Path(sources).resolve(), Path(out).resolve()
    address = stand_ins(out / "stand-ins") if channel == "stand-ins" else channel
    for mpi in mpis or ["nompi"]:
        rattler_build.build_recipes([sources / "share/conda/recipe.yaml"], output_dir=out / mpi, channel=[address], variant_overrides={"mpi": [mpi]},
                                    variant_config=[str(sources / "share/conda/variants.yaml")])
        for package in sorted((out / mpi).glob("linux-*/railshmem-*")):
            print(f"conda_package.py: {package}: built, and its test passed")


if len(sys.argv) < 4:
    sys.exit(__doc__)
main(*sys.argv[1:])
