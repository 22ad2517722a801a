#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs quickstart and tests of the commit that is checked out in a bare Debian of another release:
#   scripts/test_in_root.sh SUITE [OPTION]...     SUITE: bookworm, trixie, sid, ...
#     --only quickstart|test    one of the two
#     --user                    the tests run as an ordinary user, after root has installed the packages
#     --quick, --label LABEL, --build-all    for scripts/test.sh
#     --cached DIR              keeps compiler cache and packages there, for the next run
#     --keep DIR                makes the root in DIR, or goes on with the one that is there, and leaves it
#     --logs DIR                where the logs go (build/logs/SUITE)
#     --shell                   with --keep: neither of both but a shell in the root; commands may come on standard input
# Needs root and debootstrap. Package sources, proxy and keys are those of this machine's apt. The root has mounts and
# processes of its own, which end with the run. The last line is the verdict; exit status 1: something failed there, 2: no run.
set -euo pipefail
cd "$(dirname "$0")/.."
source_dir=$PWD

say() { printf 'test_in_root: %s\n' "$*"; }
refuse() {
  say "$*" >&2
  exit 2
}
usage() {
  sed -n '4,12p' "$0" >&2
  exit 2
}

suite='' only='' user='' cached='' root='' logs='' keep='' shell=''
test_options=()
while [ $# -gt 0 ]; do
  case $1 in
    --only)
      only=${2:-}
      [ "$only" = quickstart ] || [ "$only" = test ] || usage
      shift
      ;;
    --user) user=yes ;;
    --quick | --build-all) test_options+=("$1") ;;
    --label)
      test_options+=(--label "'${2:?--label needs a label}'") # a shell inside reads it
      shift
      ;;
    --cached)
      cached=$(realpath -m "${2:?--cached needs a directory}")
      shift
      ;;
    --keep)
      root=$(realpath -m "${2:?--keep needs a directory}")
      keep=yes
      shift
      ;;
    --logs)
      logs=$(realpath -m "${2:?--logs needs a directory}")
      shift
      ;;
    --shell) shell=yes ;;
    -*) usage ;;
    *)
      [ -z "$suite" ] || usage
      suite=$1
      ;;
  esac
  shift
done
[[ $suite =~ ^[a-z][a-z0-9-]*$ ]] || usage
[ -z "$shell" ] || [ -n "$keep" ] || usage
logs=${logs:-$source_dir/build/logs/$suite}

[ "$(id -u)" -eq 0 ] || refuse "a root of its own needs mounts: run it as root (sudo scripts/test_in_root.sh $suite)"
for tool in debootstrap unshare pivot_root git apt-get; do
  command -v "$tool" >/dev/null || refuse "no $tool: apt-get install debootstrap util-linux git"
done

# ---- where this machine gets its packages ---------------------------------------------------------------------------
# Lines "URI SUITE COMPONENT" of what apt reads from Debian.
# shellcheck disable=SC2016
ours=$(apt-get indextargets --format '$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)' | sed -n 's/^Packages //p' | sort -u)
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
mirror=$(awk -v suite="$codename" '$2 == suite && $3 == "main" { print $1; exit }' <<<"$ours")
[ -n "$mirror" ] || refuse "apt's sources (/etc/apt/sources.list*) name no 'main' of '${codename:-this release}' to take $suite from"
# Those of the archive's other suites (-updates, -security) that this machine uses, by the same names.
sources=$(awk -v ours="$codename" -v suite="$suite" '
  $3 == "main" && index($2, ours) == 1 { print "deb " $1 " " suite substr($2, length(ours) + 1) " main" }' <<<"$ours")
[ "$suite" != sid ] || sources="deb $mirror sid main"
keyring=$(grep -rhoiE '(^Signed-By: *|signed-by=)/[^] ]+' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null |
  grep -o '/.*' | grep -i -m 1 -E 'debian|ubuntu' || true)

# ---- the root -------------------------------------------------------------------------------------------------------
[ -n "$root" ] || root=$(mktemp -d "${TMPDIR:-/var/tmp}/railshmem-$suite.XXXXXX")
marker=$root/.railshmem-root  # what may be removed, or used again, is only what has this file
mounted_below() { awk -v root="$1" '$5 == root || index($5, root "/") == 1 { print $5 }' /proc/self/mountinfo; }
remove_root() {
  if [ -n "$keep" ] || [ ! -e "$root" ]; then return; fi
  local mounts
  mounts=$(mounted_below "$root")
  if [ -n "$mounts" ]; then # cannot be: they are made in another namespace
    say "$root stays: something is mounted there: $mounts" >&2
    return
  fi
  rm -rf --one-file-system "$root"
}
trap remove_root EXIT
trap 'exit 2' INT TERM HUP

acquire_settings() { apt-config dump | grep -E '^Acquire::.*"[^"]+";$' | grep -v 'IndexTargets' || true; }

make_root() {
  mkdir -p "$root"
  chmod 755 "$root" # mktemp lets nobody else in; tests take other users' places
  local options=(--variant=minbase)
  [ -z "$keyring" ] || options+=("--keyring=$keyring")
  if [ -n "$cached" ]; then
    mkdir -p "$cached/debootstrap-$suite"
    options+=("--cache-dir=$cached/debootstrap-$suite")
  fi
  case $mirror in https:*) options+=(--include=ca-certificates) ;; esac
  local proxy='' https_proxy=''
  eval "$(apt-config shell proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
  http_proxy=${proxy:-${http_proxy:-}} https_proxy=${https_proxy:-} \
    debootstrap "${options[@]}" "$suite" "$root" "$mirror" >"$logs/debootstrap.log" 2>&1 || {
    tail -n 20 "$logs/debootstrap.log" >&2
    refuse "debootstrap failed: $logs/debootstrap.log"
  }
  echo "$sources" >"$root/etc/apt/sources.list"
  acquire_settings >"$root/etc/apt/apt.conf.d/00as-outside"
  if [ -e /etc/ssl/certs/ca-certificates.crt ] && [ -d "$root/etc/ssl/certs" ]; then
    cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  fi
  [ -e "$root/etc/hosts" ] || printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts" # an installer would
  echo "$suite" >"$marker"
}

mkdir -p "$logs"
if [ -e "$marker" ]; then
  [ "$(cat "$marker")" = "$suite" ] || refuse "$root holds a $(cat "$marker")"
else
  if [ -e "$root" ] && [ -n "$(ls -A "$root")" ]; then refuse "$root is neither empty nor a root that this script made"; fi
  say "making a root of $suite in $root"
  make_root
  say "made in $SECONDS s"
fi

# The tree as it is committed, without a path back to this one.
tree=$root/railshmem
[ ! -d "$tree" ] || chown -R 0:0 "$tree" # git refuses a tree of another user, which --user leaves
[ -d "$tree/.git" ] || git init --quiet "$tree"
commit=$(git rev-parse HEAD)
git -C "$tree" fetch --quiet "$source_dir" "$commit" 2>/dev/null ||
  git -C "$tree" fetch --quiet "$source_dir" HEAD
git -C "$tree" checkout --quiet --force --detach "$commit"
git diff --quiet HEAD || say "what is not committed is not tested"
[ -z "$cached" ] || mkdir -p "$cached/ccache-$suite" "$cached/archives-$suite"

# ---- within ---------------------------------------------------------------------------------------------------------
# Mounts are private to a namespace, processes to another: both are gone when the first of them ends.
# shellcheck disable=SC2016
inside() {
  unshare --mount --propagation private --pid --fork --kill-child --uts --ipc \
    bash -euc '
      root=$1 cached=$2 suite=$3
      shift 3
      mount --bind "$root" "$root"
      cd "$root"
      mount -t proc proc proc
      mount --rbind /sys sys
      mount --rbind /dev dev
      mount -t tmpfs -o mode=1777 tmpfs dev/shm
      mount -t tmpfs -o mode=755 tmpfs run
      mount -t tmpfs -o mode=1777 tmpfs tmp
      cp --dereference /etc/resolv.conf etc/resolv.conf
      if [ -n "$cached" ]; then
        mkdir -p var/cache/ccache
        mount --bind "$cached/ccache-$suite" var/cache/ccache
        mount --bind "$cached/archives-$suite" var/cache/apt/archives
      fi
      hostname "railshmem-$suite" # which no name service knows
      mkdir -p .outside
      pivot_root . .outside
      cd /
      umount --lazy /.outside
      exec env -i HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 CCACHE_DIR=/var/cache/ccache CCACHE_MAXSIZE=10G \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -c "cd /railshmem && $*"
    ' inside "$root" "$cached" "$suite" "$@"
}

inside true </dev/null >"$logs/enter.log" 2>&1 || {
  tail -n 5 "$logs/enter.log" >&2
  refuse "$root cannot be entered: mounts or namespaces are not allowed here"
}
if [ -n "$shell" ]; then
  inside exec bash
  exit
fi

verdict='' failed=''
# part NAME COMMAND...
part() {
  local name=$1 before=$SECONDS
  shift
  say "$name: $*"
  if inside "$@" </dev/null 2>&1 | tee "$logs/$name.log"; then
    verdict+="; $name passed ($((SECONDS - before)) s)"
  else
    failed=yes
    verdict+="; $name FAILED ($((SECONDS - before)) s)"
  fi
}
[ "$only" = test ] || part quickstart scripts/quickstart.sh
if [ "$only" != quickstart ]; then
  rm -rf "$tree/build/logs"
  if [ -n "$user" ]; then
    part packages "scripts/install_packages.sh test && { id tester || useradd --create-home tester; } &&
      mkdir -p /var/cache/ccache && chown -R tester: /railshmem /var/cache/ccache"
    part test "exec runuser -u tester -- env HOME=/home/tester USER=tester scripts/test.sh" "${test_options[@]}"
  else
    part test scripts/test.sh "${test_options[@]}"
  fi
  cp "$tree"/build/logs/* "$logs/" 2>/dev/null || true
  names=$(awk '/^The following tests FAILED:/ { failed = 1; next } /^Errors|^$/ { failed = 0 }
    failed { sub(/^[ \t]*[0-9]+ - /, ""); print }' "$tree"/build/logs/*.ctest 2>/dev/null | sort -u) || true # none exist where packages could not be installed
  [ -z "$names" ] || {
    say "failed there:"
    echo "$names"
    verdict+=": $(wc -l <<<"$names") tests"
  }
fi
say "logs: $logs"
say "$suite at ${commit:0:12}: ${verdict#; }"
[ -z "$failed" ]
