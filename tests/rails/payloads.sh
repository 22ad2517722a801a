#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A rail dies while kernels put from slots and get into slots, and comes back: every byte is right, and no slot is lost.
# payloads.sh <program payloads_between_pes>     RATE of a rail (default 500mbit), PHASE (default 4 s)
set -u
program=$1
# shellcheck source=net.sh
. "$(dirname "$0")/net.sh"
# shellcheck source=death.sh
. "$(dirname "$0")/death.sh"

export RAILSHMEM_FAKE_GPUS=2 SHMEM_WAIT_TIMEOUT=60
net_begin 2 "${RATE:-500mbit}"
all_right() { grep -q 'payloads_between_pes: passed' "$outputs/0"; }

try_death "network of one PE" b mute hear 1 1 "$program" slots
try_death "cable of the other" a pull plug 1 1 "$program" slots
exit "$failed"
