#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# oshrun -H over two hosts on one machine: a command that enters a network namespace stands in for ssh, as in
# docs/two-hosts.md. PEs of one host reach each other by load and store, PEs of different ones by libfabric.
#
# oshrun_hosts_test.sh <oshrun> <folder of the conformance programs> [program...]
set -u
oshrun=$1 programs_at=$2
shift 2
programs=("$@")
[ ${#programs[@]} -gt 0 ] || programs=(load_store put_get)
# shellcheck source=../rails/net.sh
. "$(dirname "$0")/../rails/net.sh"

net_begin 1
cat >"$scratch/enter" <<END
#!/bin/sh
host=\$1
shift
exec ip netns exec "$net-\$host" sh -c "\$*"
END
chmod +x "$scratch/enter"
export CONFORMANCE_QUICK=1 CONFORMANCE_NODE=2 SHMEM_OFI_PROVIDER='tcp;ofi_rxm' SHMEM_OFI_NICS=rail0
export SHMEM_SYMMETRIC_SIZE=48M SHMEM_TIMEOUT=20
failed=0
for program in "${programs[@]}"; do
  status=0
  "$oshrun" --ssh "$scratch/enter" -H a:2,b:2 --timeout 60 "$programs_at/$program" >"$scratch/said" 2>&1 || status=$?
  cat "$scratch/said"
  if [ "$status" -ne 0 ] || ! grep -q "$program: passed, 4 PEs" "$scratch/said"; then
    echo "$program: FAILED with status $status"
    failed=1
  fi
done
moved=$(rail_bytes a 0 tx)
echo "bytes from the first host: $moved"
if [ "$moved" -lt 100000 ]; then
  echo "FAILED: the PEs hardly used the cable between the hosts"
  failed=1
fi
exit $failed
