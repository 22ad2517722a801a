# SPDX-License-Identifier: BSD-3-Clause
"""Connections of strangers to a job that forms over tcp: they neither end it nor join it."""
import os
import socket
import struct
import tempfile
import threading
import time

from launch_support import ID_PROBE, PROBE, Case, Job, environment, free_port, main, tcp, wait_all


class Strangers(Case):
    """Somebody who does not belong to the job talks to PE 0 while it waits for PE 1."""
    SECRET = "correct horse battery staple"
    JOIN = 0x54435201
    JOIN_OF_0_1 = 0x54435001
    PROOF = JOIN + 3
    HERE = JOIN + 6
    LARGEST = 1 << 62
    FLOOD_BEFORE_MEMBERS = 4000
    MOST_OF_A_FLOOD = 20000  # of one thread

    def start_root(self, prefix="", npes=2, **settings):
        """PE 0, once it listens."""
        self.npes = npes
        self.port = free_port()
        self.settings = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": self.port, "WORLD_SIZE": npes, "SHMEM_TIMEOUT": 30,
                         **settings}
        root = Job(["sh", "-c", f"{prefix} exec {PROBE}"], environment(RANK=0, **self.settings))
        for _ in range(200):
            try:
                self.connect().close()
                return root
            except OSError:
                time.sleep(0.05)
        self.fail(str(root.wait()))

    def member(self, rank=1, **settings):
        return Job([PROBE], environment(RANK=rank, **{**self.settings, **settings}))

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def frame(self, kind, payload, nbytes=None):
        return struct.pack("<IIQ", 0x4c494152, kind, len(payload) if nbytes is None else nbytes) + payload

    def claim(self, pe=1, npes=2, who=b"host node1, pid 4711", version=4):
        return (struct.pack("<H14xiiBH16xI", self.port, pe, npes, version, 4711, len(who)) + who)

    def join_message(self, **fields):
        return self.frame(self.JOIN, bytes(33) + self.claim(**fields))

    def answer(self, connection):
        """The kind of the next message; None when the connection ends."""
        head = connection.recv(16, socket.MSG_WAITALL)
        if len(head) < 16:
            return None
        _, kind, nbytes = struct.unpack("<IIQ", head)
        connection.recv(nbytes, socket.MSG_WAITALL)
        return kind

    def forms(self, root, **settings):
        results = wait_all([root, *(self.member(rank, **settings) for rank in range(1, self.npes))])
        for result in results:
            self.expect(result, 0, within=30)
        return results

    def test_junk_does_not_end_the_job(self):
        root = self.start_root()
        cut = struct.pack("<I", 4000)  # the length of a text that does not follow
        for junk in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 5000, self.join_message(version=9), self.join_message(npes=7),
                     self.frame(self.JOIN_OF_0_1, self.claim(version=9)), self.frame(self.JOIN, b"x" * 32),
                     self.frame(self.JOIN_OF_0_1, self.claim()[:-24] + cut), self.frame(self.JOIN, b"", self.LARGEST),
                     self.frame(self.JOIN, bytes(33) + self.claim()[:-24] + cut), self.frame(self.PROOF, bytes(32))):
            with self.connect() as stranger:
                stranger.sendall(junk)
                time.sleep(0.05)
        self.forms(root)

    def test_silent_connections(self):
        root = self.start_root("ulimit -n 256;")
        silent = []
        try:
            for _ in range(900):
                silent.append(self.connect())
            self.forms(root)
        finally:
            for connection in silent:
                connection.close()

    def flood(self, stop, counts, i):
        """Opens connections one after another, of every kind that a stranger can make, until told to stop."""
        messages = (b"", b"GET / HTTP/1.1\r\n\r\n", self.join_message()[:20], self.join_message(), self.frame(self.PROOF, bytes(32)))
        kept = []
        while not stop.is_set() and counts[i] < self.MOST_OF_A_FLOOD:
            try:
                # From an address of its own, and closed by a reset: no port of other tests stays occupied.
                connection = socket.create_connection(("127.0.0.1", self.port), timeout=10, source_address=(f"127.8.0.{i + 1}", 0))
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                kept.append(connection)
                connection.sendall(messages[counts[i] % len(messages)])
                counts[i] += 1
            except OSError:  # refused, reset, or PE 0 has what it needs and listens no more
                time.sleep(0.001)
            while len(kept) > 40:  # some stay open for a while
                kept.pop(0).close()
        for connection in kept:
            connection.close()

    def test_job_with_a_secret_forms_in_a_flood_of_connections(self):
        root = self.start_root(npes=3, SHMEM_TCP_SECRET=self.SECRET)
        stop, counts = threading.Event(), [0] * 4
        floods = [threading.Thread(target=self.flood, args=(stop, counts, i)) for i in range(len(counts))]
        for flood in floods:
            flood.start()
        try:
            deadline = time.monotonic() + 20
            while sum(counts) < self.FLOOD_BEFORE_MEMBERS and time.monotonic() < deadline:
                time.sleep(0.01)
            before = sum(counts)
            self.assertGreaterEqual(before, self.FLOOD_BEFORE_MEMBERS, "the flood did not come up")
            self.forms(root)
        finally:
            stop.set()
            for flood in floods:
                flood.join()
        self.assertGreater(sum(counts), before, "nobody knocked while the job formed")

    def test_rank_is_safe_behind_a_secret(self):
        root = self.start_root(SHMEM_TCP_SECRET=self.SECRET)
        with self.connect() as quiet, self.connect() as liar:
            for stranger in (quiet, liar):
                stranger.sendall(self.join_message())
                self.assertEqual(self.answer(stranger), self.JOIN + 2, "a challenge")
            liar.sendall(self.frame(self.PROOF, bytes(32)))
            self.assertEqual(self.answer(liar), self.JOIN + 4, "denied")
            results = self.forms(root)
        self.assertIn("does not know the secret of this job", results[0].err, str(results[0]))

    def test_taken_rank_is_refused_without_a_secret(self):
        root = self.start_root(npes=3)
        with self.connect() as stranger:
            stranger.sendall(self.join_message(npes=3))
            self.assertEqual(self.answer(stranger), self.JOIN + 5, "noticed")
            stranger.sendall(self.frame(self.HERE, b""))
            time.sleep(0.05)
            self.expect(self.member().wait(), 4, "RANK 1 was given twice")
        # The stranger has left, and its place is free.
        self.forms(root)

    def test_who_leaves_before_it_was_noticed_is_no_member(self):
        # A PE that PE 0 keeps waiting, on a busy machine, begins anew; PE 0 may read its first greeting after that.
        root = self.start_root()
        with self.connect() as impatient:
            impatient.sendall(self.join_message())
            self.answer(impatient)
        self.forms(root)

    def test_jobs_with_neighbouring_ports_form(self):
        # The first port of this job is in use, and PE 0 of another job listens at the second one.
        other = self.start_root()
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", self.port - 1))
            silent.listen()
            for result in tcp(2, port=self.port - 1):
                self.expect(result, 0)
                self.assertEqual(result.err, "", str(result))
        for result in self.forms(other):
            self.assertEqual(result.err, "", str(result))

    def test_wrong_master_port_is_named(self):
        root = self.start_root(SHMEM_TIMEOUT=3)
        results = wait_all([root, self.member(MASTER_PORT=self.port - 1)])
        self.expect(results[0], 4, "PE 1 of 2 did not connect", "Turned away was: PE 1 (", "another MASTER_PORT", within=15)
        self.expect(results[1], 4, "PE 1 could not reach PE 0", within=15)

    def test_who_does_not_say_that_it_is_here_takes_no_place(self):
        root = self.start_root()
        with self.connect() as quiet:
            quiet.sendall(self.join_message())
            self.answer(quiet)
            self.forms(root)

    def test_two_who_greet_at_once_are_both_told(self):
        root = self.start_root()
        with self.connect() as first, self.connect() as second:
            for guest in (first, second):
                guest.sendall(self.join_message())
                self.assertEqual(self.answer(guest), self.JOIN + 5, "noticed")
            first.sendall(self.frame(self.HERE, b""))
            time.sleep(0.05)
            second.sendall(self.frame(self.HERE, b""))
            self.assertEqual(self.answer(second), self.JOIN + 7, "refused")
            self.assertEqual(self.answer(first), self.JOIN + 8, "a seat")
        self.assertNotIn("PE 1 of 2 did not connect", root.wait().err)

    def test_names_do_not_reach_the_terminal_raw(self):
        root = self.start_root()
        with self.connect() as stranger:
            stranger.sendall(self.join_message(npes=7, who=b"\x1b]0;owned\x07\nrailshmem: PE 0: error: forged"))
            self.answer(stranger)
        results = self.forms(root)
        self.assertIn("\\x1b]0;owned\\x07\\x0arailshmem: PE 0: error: forged", results[0].err, str(results[0]))
        self.assertNotIn("\x1b", results[0].err, str(results[0]))

    def test_different_secrets(self):
        root = self.start_root(SHMEM_TCP_SECRET=self.SECRET, SHMEM_TIMEOUT=3)
        results = wait_all([root, self.member(SHMEM_TCP_SECRET=self.SECRET + "s")])
        self.expect(results[0], 4, "does not know the secret of this job", "PE 1 of 2 did not connect", within=15)
        self.expect(results[1], 4, "warn: PE 1 has not found PE 0 yet", within=15)
        error = results[1].err.splitlines()[-1]
        self.assertIn("PE 1 could not reach PE 0", error, str(results[1]))
        self.assertIn("it has another secret than this PE; set SHMEM_TCP_SECRET", error, str(results[1]))
        for result in results:
            self.assertNotIn("horse", result.err + result.out)

    def test_secret_at_one_end_only(self):
        root = self.start_root(SHMEM_TCP_SECRET=self.SECRET, SHMEM_TIMEOUT=2)
        results = wait_all([root, self.member(SHMEM_TCP_SECRET="")])
        self.expect(results[0], 4, "was asked to prove that it knows the secret", within=15)
        self.expect(results[1], 4, "it asks for a secret", "SHMEM_TCP_SECRET_FILE on all PEs", within=15)
        root = self.start_root(SHMEM_TIMEOUT=2)
        results = wait_all([root, self.member(SHMEM_TCP_SECRET=self.SECRET)])
        self.expect(results[0], 4, "it asks for a secret, and this PE has none", "PE 1 of 2 did not connect", within=15)
        self.expect(results[1], 4, "it does not know this PE's secret", within=15)

    def test_short_secret(self):
        for result in tcp(2, ranks=[0], SHMEM_TCP_SECRET="sesame"):
            self.expect(result, 4, "SHMEM_TCP_SECRET cannot be used", "needs 16 or more")
            self.assertNotIn("sesame", result.err)

    def test_secret_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "secret")
            with open(path, "w", encoding="ascii") as file:
                file.write(self.SECRET + "\n")
            os.chmod(path, 0o600)
            self.forms(self.start_root(SHMEM_TCP_SECRET_FILE=path))
            # The file's line end is no part of the secret.
            self.forms(self.start_root(SHMEM_TCP_SECRET_FILE=path), SHMEM_TCP_SECRET_FILE="", SHMEM_TCP_SECRET=self.SECRET)
            os.chmod(path, 0o644)
            for result in tcp(2, ranks=[0], SHMEM_TCP_SECRET_FILE=path):
                self.expect(result, 4, f"SHMEM_TCP_SECRET_FILE is '{path}'", "mode is 0644", "chmod 600")

    def test_secret_without_a_library_that_proves_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("libcrypto.so.3", "libcrypto.so.1.1"):
                with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                    file.write("no library")
            for result in tcp(2, ranks=[0], SHMEM_TCP_SECRET=self.SECRET, LD_LIBRARY_PATH=folder):
                self.expect(result, 4, "libcrypto.so.3 or libcrypto.so.1.1, and neither can be opened", "libssl3")
            # A unique id is proven where that can be, and works where it cannot.
            jobs = [Job([ID_PROBE, str(pe), "2", f"{folder}/id"], environment(SHMEM_TIMEOUT=30, LD_LIBRARY_PATH=folder))
                    for pe in range(2)]
            for result in wait_all(jobs):
                self.expect(result, 0)


if __name__ == "__main__":
    main()
