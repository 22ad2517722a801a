#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Asks clangd, as an editor does, what it shows for names of the API: a declaration and its sentence.

usage: editor_hover.py INCLUDE        exit 77 without clangd

The names of kernels are asked for as the emulation sees them, so that neither a CUDA toolkit nor its age matters.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

# (file, options beside the include folders, header, name with the arguments of a call, words that the hover must show)
PATIENCE = 60  # seconds until clangd has indexed the headers
KERNELS = ["-std=c++20", "-DRAILSHMEM_EMULATION=1"]
CASES = [
    ("host.c", ["-std=c11"], "#include <shmem.h>", "shmem_long_put(0, 0, 0, 0)",
     "Copies nelems elements (long) from source on this PE"),
    ("kernel.cpp", KERNELS, "#include <shmem.h>", "shmemx_putmem_block(0, 0, 0, 0)", "all threads of the block call together"),
    ("stream.cpp", ["-std=c++20"], "#include <shmemx.h>", "shmemx_fcollectmem_on_stream(0, 0, 0, 0, 0)", "Joins the sources of all PEs of the team"),
    ("compat.cpp", ["-std=c++20"], "#include <nvshmem.h>", "nvshmem_float_p(0, 0, 0)", "Stores value (float) in *dest on PE pe"),
]


class Clangd:
    """A language server that answers one request at a time."""

    def __init__(self, program, folder):
        self.process = subprocess.Popen([program, f"--compile-commands-dir={folder}", "--background-index=false", "--log=error"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        self.number = 0
        self.ask("initialize", {"processId": None, "rootUri": pathlib.Path(folder).as_uri(), "capabilities": {}})
        self.tell("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self.process.stdin.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)
        if length == 0:
            sys.exit("editor_hover: clangd has ended")
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while (message := self.receive()).get("id") != self.number or "method" in message:
            pass
        return message.get("result")


    def hover(self, uri, column):
        """What is shown at that column of the second line."""
        answer = self.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 1, "character": column}})
        return " ".join(((answer or {}).get("contents") or {}).get("value", "nothing").split())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = next((tool for tool in ("clangd", "clangd-19", "clangd-16", "clangd-14") if shutil.which(tool)), None)
    if program is None:
        print("SKIPPED: no clangd (the package clangd)")
        return 77
    include = pathlib.Path(sys.argv[1]).resolve()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        commands, codes = [], {}
        for name, options, header, call, _ in CASES:
            path = pathlib.Path(folder, name)
            codes[name] = f"{header}\nvoid use(void) {{ {call}; }}\n"
            path.write_text(codes[name], encoding="utf-8")
            compiler = "clang" if name.endswith(".c") else "clang++"
            commands.append({"directory": folder, "file": str(path),
                             "arguments": [compiler, *options, f"-I{include}/compat", f"-I{include}", "-c", str(path)]})
        pathlib.Path(folder, "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
        server = Clangd(program, folder)
        for name, _, _, call, wanted in CASES:
            uri = pathlib.Path(folder, name).as_uri()
            language = "c" if name.endswith(".c") else "cpp"
            server.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": codes[name]}})
            column = codes[name].splitlines()[1].index(call)
            deadline = time.monotonic() + PATIENCE
            while wanted not in (shown := server.hover(uri, column + 1)) and time.monotonic() < deadline:
                time.sleep(0.5)
            if wanted not in shown:
                wrong += 1
                print(f"{call}: the editor shows {shown!r}, without {wanted!r}")
        server.process.kill()
    print(f"editor_hover: {len(CASES)} names, {wrong} without their sentence")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
