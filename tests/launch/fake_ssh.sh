#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In place of ssh in tests: runs the command on this host, in an environment like that of a login over there.
#   fake_ssh.sh HOST COMMAND...
# Hosts: "lost" cannot be reached, "rude" complains with control characters, "chatty" prints before it obeys, "silent"
# never answers, all others are this host.
host=$1
shift
case $host in
  lost)
    echo "ssh: Could not resolve hostname lost" >&2
    exit 255
    ;;
  rude)
    printf '\033[2Jgo away\r\n' >&2
    exit 255
    ;;
  chatty) echo "Welcome to chatty!" ;;
  silent) exec sleep 60 ;;
esac
cd / || exit 255
exec env -i HOME=/ PATH="$PATH" FAKE_HOST="$host" LSAN_OPTIONS="${LSAN_OPTIONS:-}" sh -c "$*"
