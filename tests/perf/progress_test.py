# SPDX-License-Identifier: BSD-3-Clause
"""How far a run of shmem_perf is, on a terminal of its own: progress_test.py OSHRUN SHMEM_PERF."""
import os
import pty
import subprocess
import sys

oshrun, perf = sys.argv[1:3]
ENV = {k: v for k, v in os.environ.items() if not k.startswith(("SHMEM_", "RAILSHMEM_"))}
ENV.update(SHMEM_TRANSPORT="p2p", SHMEM_SYMMETRIC_SIZE="48M")
# Two benches of four sizes, longer than the second in which nothing is shown.
BENCHES = [perf, "put_lat", "put_bw", "--sizes", "8,64,1K,4K", "--repetitions", "3", "--seconds", "0.6", "--iters", "100000000"]


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def on_terminal(command):
    """Standard error of the command, which is a terminal, and what it printed."""
    reader, writer = pty.openpty()
    with subprocess.Popen(command, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=writer) as process:
        os.close(writer)
        printed, shown = process.stdout.read(), b""
        try:
            while piece := os.read(reader, 65536):
                shown += piece
        except OSError:  # Linux says EIO when the last writer has gone
            pass
    os.close(reader)
    expect(process.returncode == 0, f"{command}: {process.returncode}, {shown!r}")
    return shown.decode(errors="replace"), printed.decode()


shown, printed = on_terminal([oshrun, "-n", "2", *BENCHES])
expect("bench 2 of 2, " in shown and " %  put_bw " in shown, repr(shown))
expect(shown.count("] ") >= 3, repr(shown))
expect(shown.endswith("\r\033[K"), f"the line stays: {shown[-80:]!r}")
expect(all(piece.endswith(" s\r") for piece in shown.split("\r\033[K")[1:-1]), f"a warning would follow on the line: {shown!r}")
expect("\033" not in printed and "put_bw" in printed, printed)

piped = subprocess.run([oshrun, "-n", "2", *BENCHES], env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       check=False)
expect(piped.returncode == 0 and piped.stderr == "", f"without a terminal nothing is shown: {piped.stderr!r}")
