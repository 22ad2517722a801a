# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C in a wait of a PE that has no launcher."""
import os
import signal
import subprocess
import sys
import textwrap
import threading

START = """
    import sys, threading, time, numpy as np, railshmem, railshmem.numpy as rn
    railshmem.init()
    word = rn.zeros(1, np.int64)
"""


class Program:
    """A process that says "ready" on its standard output when it may be interrupted, and its lines of standard error."""

    def __init__(self, text, **environment):
        source = textwrap.dedent(START) + textwrap.dedent(text)
        without = {name: value for name, value in os.environ.items() if not name.startswith("RAILSHMEM_")}
        self.process = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**without, "SHMEM_WAIT_TIMEOUT": "60", **environment})
        self.guard = threading.Timer(50, self.process.kill)
        self.guard.daemon = True
        self.guard.start()
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()

    def interrupt(self):
        """A moment later: "ready" comes before the wait."""
        threading.Event().wait(1)
        self.process.send_signal(signal.SIGINT)

    def end(self):
        out, err = self.process.communicate()
        self.guard.cancel()
        return self.process.returncode, out, err


def test_the_second_one_ends_the_process():
    program = Program("""
        print("ready", flush=True)
        rn.wait_until(word, "==", 1)
    """)
    program.interrupt()
    line = program.process.stderr.readline()
    assert line.startswith("railshmem: PE 0: warn: Ctrl-C in railshmem.numpy.wait_until") and "again ends this process" in line
    program.interrupt()
    status, _, err = program.end()
    assert status == 130
    assert "railshmem: PE 0: error: Ctrl-C twice in railshmem.numpy.wait_until" in err


def test_the_first_one_is_an_exception_when_the_wait_is_over():
    program = Program("""
        def later():
            time.sleep(6)
            rn.put(word, np.array([1]), 0)
        threading.Thread(target=later).start()
        print("ready", flush=True)
        try:
            rn.wait_until(word, "==", 1)
            print("not interrupted")
        except KeyboardInterrupt:
            print("word", word[0])
        railshmem.finalize()
    """)
    program.interrupt()
    status, out, err = program.end()
    assert (status, out) == (0, "word 1\n"), err
    assert err.count("Ctrl-C in railshmem.numpy.wait_until") == 1


def test_outside_of_waits_python_has_it_alone():
    program = Program("""
        print("ready", flush=True)
        try:
            time.sleep(40)
        except KeyboardInterrupt:
            print("interrupted")
        rn.free(word)
        railshmem.finalize()
    """)
    program.interrupt()
    assert program.end() == (0, "interrupted\n", "")


def test_a_handler_of_the_program_has_it_alone():
    program = Program("""
        import signal
        signal.signal(signal.SIGINT, lambda *_: print("mine", flush=True))
        threading.Timer(6, lambda: rn.put(word, np.array([1]), 0)).start()
        print("ready", flush=True)
        rn.wait_until(word, "==", 1)
        rn.free(word)
        railshmem.finalize()
    """)
    program.interrupt()
    program.interrupt()
    status, out, err = program.end()
    assert (status, err) == (0, "") and out.startswith("mine\n")
