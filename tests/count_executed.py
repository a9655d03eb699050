#!/usr/bin/env python3
"""Counts the atomic instructions that a program executed, by qemu's log (-d in_asm,exec,nochain).

Usage: count_executed.py LOG OUTPUT
LOG may be a FIFO. OUTPUT is what the program traced has printed by then: where files are loaded.
Prints for "marks" (from mark_begin to mark_end) and for "main" (from main to the end of the process)
a line WHICH LSE EXCLUSIVE, the instructions executed; then lines WHICH FAMILY COUNT FILE.
"""
import sys
from collections import Counter


def family_of(word):
    """By the tables "Loads and stores" of the Architecture Reference Manual (DDI 0487), C4.1."""
    if word & 0x3FA07C00 == 0x08A07C00:
        return "cas"
    if word & 0xBFA07C00 == 0x08207C00:
        return "casp"
    if word & 0x3F200C00 == 0x38200000:
        operation = word >> 12 & 15
        names = "ldadd ldclr ldeor ldset ldsmax ldsmin ldumax ldumin swp".split()
        return names[operation] if operation < len(names) else None
    if word & 0x3F800000 == 0x08000000 and (word & 0x00200000 == 0 or word & 0x80000000 != 0):
        return "load-exclusive" if word & 0x00400000 else "store-exclusive"
    return None


class Log:
    """The atomics in each block of code, as it was translated last, and how often they ran."""

    def __init__(self):
        self.blocks = {}  # of a block's address: [(address, family)]
        self.runs = {"marks": Counter(), "main": Counter()}
        self.active = []
        self.passed = set()
        self.block = None

    def instruction(self, line):
        address, _, rest = line.partition(":")
        if self.block is None:
            self.block = self.blocks[int(address, 16)] = []
        family = family_of(int(rest.split(None, 1)[0], 16))
        if family:
            self.block.append((int(address, 16), family))

    def pass_mark(self, symbol):
        if symbol not in self.passed:
            self.passed.add(symbol)
            if symbol == "mark_end":
                self.active.remove("marks")
            else:
                self.active.append("main" if symbol == "main" else "marks")

    def executed(self, line):
        address = int(line.split("/", 2)[1], 16)
        if address not in self.blocks:
            sys.exit(f"{address:#x} was executed and never translated")
        for atomic in self.blocks[address]:
            for which in self.active:
                self.runs[which][atomic] += 1

    def read(self, path):
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("Trace "):
                    if line.endswith((" main\n", " mark_begin\n", " mark_end\n")):
                        self.pass_mark(line.split()[-1])
                    if self.active:
                        self.executed(line)
                elif line.startswith("0x"):
                    self.instruction(line)
                elif line.startswith("IN:"):
                    self.block = None
        if len(self.passed) != 3:
            sys.exit("the marks were not all passed")


def read_objects(path):
    with open(path, encoding="utf-8") as lines:
        words = [line.rsplit(None, 2) for line in lines if line.startswith("object ")]
    return [(int(start, 16), int(end, 16), name.partition(" ")[2]) for name, start, end in words]


def name_of(objects, address):
    for start, end, name in objects:
        if start <= address < end:
            return name
    return "nowhere"


def main():
    log = Log()
    log.read(sys.argv[1])
    objects = read_objects(sys.argv[2])
    for which, runs in log.runs.items():
        exclusive = sum(n for (_, family), n in runs.items() if family.endswith("exclusive"))
        print(which, sum(runs.values()) - exclusive, exclusive)
        families = Counter()
        for (address, family), count in runs.items():
            families[family, name_of(objects, address)] += count
        for (family, name), count in sorted(families.items()):
            print(which, family, count, name)


main()
