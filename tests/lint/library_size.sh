#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fails where the library, stripped, is larger than users are promised: 8 MiB.
#   library_size.sh STRIP LIBRARY
set -eu
most=$((8 * 1024 * 1024))
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
"$1" -o "$stripped" "$2"
size=$(wc -c <"$stripped")
echo "$2 has $size bytes when stripped; the limit is $most"
[ "$size" -le $most ]
