#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tries the images of the Containerfile with buildah, which needs no cgroups. scripts/package.sh runs it.
#   try_container.sh RUN BUILD     RUN, BUILD: the images of the stages run and build
set -euo pipefail
cd "$(dirname "$0")/../.."
containers=()
trap '[ "${#containers[@]}" -eq 0 ] || buildah rm "${containers[@]}" >/dev/null' EXIT
# start IMAGE: makes a container of it, whose name is in $container.
start() {
  container=$(buildah from --pull-never "$1")
  containers+=("$container")
}
inside() { buildah run --isolation chroot "$container" -- "$@"; }

printf '== the default command of %s\n' "$1"
start "$1"
read -ra command <<<"$(buildah inspect --type image --format '{{range .OCIv1.Config.Cmd}}{{.}} {{end}}' "$1")"
inside "${command[@]}" | tee /dev/stderr | grep -q 'RailSHMEM works' || { echo "FAILED: ${command[*]}" >&2; exit 1; }

printf '== a program in %s\n' "$2"
start "$2"
buildah copy --quiet "$container" examples/01_hello.c /src/hello.c >/dev/null
inside sh -c 'oshcc hello.c -o hello && oshrun -n 2 --timeout 60 ./hello'
echo "containers: $1 and $2 work"
