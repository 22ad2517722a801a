#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A rail dies while long collectives go over it, and comes back: every word is right, and the collectives go on.
# collectives.sh <folder of rail_collectives> [OPTION of it...]     RATE of a rail (default 500mbit), PHASE (default 4 s)
set -u
program=$1/rail_collectives
shift
# shellcheck source=net.sh
. "$(dirname "$0")/net.sh"
# shellcheck source=death.sh
. "$(dirname "$0")/death.sh"

net_begin 2 "${RATE:-500mbit}"
all_right() { [ "$(grep -l ': right$' "$outputs"/* | wc -l)" -eq 4 ]; }

try_death "network of a receiver" b mute hear 2 2 "$program" "$@"
try_death "cable of a sender" a pull plug 2 2 "$program" "$@"
exit "$failed"
