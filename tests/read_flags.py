#!/usr/bin/env python3
"""Reads the flags of outline atomics out of a running AArch64 process's memory.

Usage: read_flags.py PID
Prints a line FILE HELPERS FLAGS VALUES for each mapped file that has code: the outline helpers in it
as it lies on disk, the addresses in the file of the bytes that they read, and what these hold in the
process. Under an emulator PID is the emulator's.
"""
import os
import re
import struct
import sys

PT_LOAD, PF_X, EM_AARCH64 = 1, 1, 183


def segments_of(data):
    """(flags, offset, address, size in the file) of each loaded segment; none of other machines'."""
    if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", data, 18)[0] != EM_AARCH64:
        return
    table, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, flags, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, table + i * size)
        if kind == PT_LOAD:
            yield flags, offset, address, length


def flags_of(data):
    """The bytes that helpers read, one for each: adrp x16; ldrb w16, [x16, #n]; cbz w16."""
    for flags, offset, address, length in segments_of(data):
        if flags & PF_X == 0:
            continue
        words = memoryview(data)[offset:offset + length // 4 * 4].cast("I")
        for i, page in enumerate(words[:-2]):
            if page & 0x9F00001F == 0x90000010 and words[i + 1] & 0xFFC003FF == 0x39400210 \
                    and words[i + 2] & 0xFF00001F == 0x34000010:
                load = words[i + 1]
                pages = (page >> 5 & 0x7FFFF) << 2 | page >> 29 & 3
                pages -= (pages & 1 << 20) << 1
                here = address + i * 4
                yield (here & ~4095) + pages * 4096 + (load >> 10 & 4095)


def mapped_files(process):
    """Where the first byte of each mapped file lies in memory."""
    starts = {}
    with open(f"/proc/{process}/maps", encoding="utf-8") as maps:
        for line in maps:
            match = re.match(r"([0-9a-f]+)-\S+ \S+ 0+ \S+ \d+ +(/.*)", line)
            if match and os.path.isfile(match[2]):
                starts.setdefault(match[2], int(match[1], 16))
    return starts


def main():
    process = sys.argv[1]
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for path, start in mapped_files(process).items():
            with open(path, "rb") as file:
                data = file.read(64)
                data += file.read() if data.startswith(b"\x7fELF") else b""
            segments = list(segments_of(data))
            if not any(flags & PF_X for flags, *_ in segments):
                continue
            first = next(address - offset for _, offset, address, _ in segments)
            helpers = list(flags_of(data))
            values = []
            for flag in sorted(set(helpers)):
                memory.seek(start - first + flag)
                values.append(str(memory.read(1)[0]))
            places = ",".join(hex(flag) for flag in sorted(set(helpers)))
            print(path, len(helpers), places or "none", ",".join(values) or "none")


main()
