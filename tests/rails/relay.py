#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Carries packets between two TUN devices, noisy-a and noisy-b, and does them harm. Prints "ready" when both exist.

The harm is random, by probability: packets are lost, come twice, come late (so that others pass them), or have one bit
flipped. A relay that is told to end says what it did.

A packet is lost once at most: when TCP sends it again, it passes. TCP doubles its timeout with each loss of the same
packet, so it would now and then be silent for longer than any deadline, and the test would fail without a fault.

--swap N: of the N-th packet that holds the text RAILDATA four times, two words of 16 bits inside it change places. TCP's
sum does not see that, because it only adds such words.
"""
import argparse
import fcntl
import heapq
import os
import random
import select
import signal
import struct
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000
LATE_S = 0.005
MARK = b"RAILDATA" * 4


def open_tun(name):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return fd


def name_of(packet):
    """What a packet and its repetition by TCP have in common: ports, sequence number, acknowledgment number."""
    tcp = 4 * (packet[0] & 15)
    return packet[tcp:tcp + 12]


class Relay:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.ends = [open_tun("noisy-a"), open_tun("noisy-b")]
        self.late = []  # heap of (time, number, end, packet)
        self.lost = set()  # packets that were lost once
        self.packets = self.marked = 0
        self.harm = dict.fromkeys(("loss", "twice", "late", "flip"), 0)
        signal.signal(signal.SIGTERM, self.end)

    def end(self, *_):
        print(f"{self.packets} packets:", ", ".join(f"{name} {n}" for name, n in self.harm.items()), flush=True)
        os._exit(0)

    def hits(self, name):
        probability = getattr(self.options, name)
        hit = probability > 0 and self.random.random() < probability
        self.harm[name] += hit
        return hit

    def harmed(self, packet):
        if self.hits("flip"):
            bit = self.random.randrange(8 * len(packet))
            changed = bytearray(packet)
            changed[bit // 8] ^= 1 << (bit % 8)
            return bytes(changed)
        if self.options.swap and (at := packet.find(MARK)) >= 0:
            self.marked += 1
            if self.marked == self.options.swap:
                at += at % 2  # words are counted from the packet's start
                return packet[:at] + packet[at + 2:at + 4] + packet[at:at + 2] + packet[at + 4:]
        return packet

    def send(self, end, packet):
        try:
            os.write(end, packet)
        except OSError:  # the interface is down, its queue is full, or the packet is longer than its MTU: it is lost
            pass

    def carry(self, end, packet):
        self.packets += 1
        name = name_of(packet)
        if name not in self.lost and self.hits("loss"):
            self.lost.add(name)
            return
        packet = self.harmed(packet)
        if self.hits("late"):
            heapq.heappush(self.late, (time.monotonic() + LATE_S, self.packets, end, packet))
            return
        self.send(end, packet)
        if self.hits("twice"):
            self.send(end, packet)

    def run(self):
        print("ready", flush=True)
        while True:
            wait = max(0, self.late[0][0] - time.monotonic()) if self.late else None
            for source in select.select(self.ends, [], [], wait)[0]:
                try:
                    packet = os.read(source, 65536)
                except OSError:  # no packet after all, or the interface is down
                    continue
                self.carry(self.ends[1 - self.ends.index(source)], packet)
            while self.late and self.late[0][0] <= time.monotonic():
                self.send(*heapq.heappop(self.late)[2:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    for harm in ("loss", "twice", "late", "flip"):
        parser.add_argument(f"--{harm}", type=float, default=0)
    parser.add_argument("--swap", type=int, default=0)
    Relay(parser.parse_args()).run()


if __name__ == "__main__":
    main()
