"""Two generators, resumed in turn. `bench/generator.py CPU SWITCHES_PER_BATCH BATCHES`, pinned from outside.

Each compares the token with its own count of laps: that is part of what coroutine/python-generator says a unit is, and 17 of 45 ns.
"""

import sys
import time

FOREVER = 1 << 62


def first():
    token = yield
    before = 0
    for lap in range(1, FOREVER):
        if token != before:
            return
        before = lap
        token = yield lap


def second():
    token = yield
    for lap in range(1, FOREVER):
        if token != lap:
            return
        token = yield token


def main():
    switches, batches = int(sys.argv[2]), int(sys.argv[3])
    sends = []
    for generator in (first(), second()):
        next(generator)
        sends.append(generator.send)
    block = sends * 512
    token = 0
    for _ in range(batches):
        begin = time.perf_counter_ns()
        for _ in range(switches // len(block)):
            for send in block:
                token = send(token)
        print((time.perf_counter_ns() - begin) / (switches // len(block) * len(block)))


main()
