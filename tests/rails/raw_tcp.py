#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What plain sockets move by each of several addresses at once: the ceiling that rails are held against.

raw_tcp.py receive SECONDS ADDRESS...            prints MB/s, all addresses together
raw_tcp.py send SECONDS SOURCE>DESTINATION...    one connection each, until SECONDS are over
"""
import socket
import sys
import threading
import time

PORT = 5001


def receive(address, counts):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, PORT))
    listener.listen()
    connection, _ = listener.accept()
    buffer = bytearray(1 << 20)
    start, moved = time.time(), 0
    while count := connection.recv_into(buffer):
        moved += count
    counts.append(moved / (time.time() - start))


def send(pair, seconds):
    source, destination = pair.split(">")
    connection = socket.create_connection((destination, PORT), source_address=(source, 0))
    data = bytes(1 << 18)
    end = time.time() + seconds
    while time.time() < end:
        connection.sendall(data)


def main():
    mode, seconds, targets = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    counts = []
    work = {"receive": lambda t: receive(t, counts), "send": lambda t: send(t, seconds)}[mode]
    threads = [threading.Thread(target=work, args=(t,), daemon=True) for t in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 20)
    if mode == "receive":
        print(f"{sum(counts) / 1e6:.1f}")


main()
