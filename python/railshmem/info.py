# SPDX-License-Identifier: BSD-3-Clause
"""`python -m railshmem.info` prints what railshmem.info() returns."""
from railshmem._info import info

if __name__ == "__main__":
    for key, value in info().items():
        print(f"{key + ':':13} {value}")
