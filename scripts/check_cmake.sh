#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Says what to do when there is no cmake, or one that is too old.
set -eu
needed=3.25
found=$(cmake --version 2>/dev/null | sed -n '1s/.* \([0-9][0-9.]*\).*/\1/p')
if [ -n "$found" ] && [ "$(printf '%s\n%s\n' "$needed" "$found" | sort -V | head -n 1)" = "$needed" ]; then exit 0; fi
echo "RailSHMEM needs cmake $needed or newer; ${found:-none} was found." >&2
echo "Where the distribution's is too old (Ubuntu 22.04 has 3.22), one of these brings a newer one:" >&2
echo "  sudo snap install cmake --classic" >&2
echo "  python3 -m pip install --user cmake    (then put ~/.local/bin first in PATH)" >&2
exit 1
