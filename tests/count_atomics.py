#!/usr/bin/env python3
"""Counts the atomic instructions of ELF files from objdump's text alone, by rules of its own.

Usage: count_atomics.py OBJDUMP READELF FILE | count_atomics.py assembly FILE
Prints a JSON object: families {MNEMONIC: {"inline": N, "outline": N}} as abshim audit has them;
helpers; literals: words not counted since an instruction loads them as data; unproved: words not
counted since no function of the unwind tables holds them, where there are unwind tables. Of a compiler's
assembly besides families: calls of helpers, helpers called, loops of exclusives.
"""
import bisect
import json
import re
import subprocess
import sys

LSE = re.compile(r"(casp?a?l?|swpa?l?|(?:ld|st)(?:add|clr|eor|set|[su]max|[su]min)a?l?)[bh]?$")
EXCLUSIVE = re.compile(r"(lda?xp|stl?xp|(?:lda?xr|stl?xr)[bh]?)$")
# What most lines hold can be told without a regular expression.
CANDIDATES = ("cas", "swp", "ldadd", "ldclr", "ldeor", "ldset", "ldsm", "ldum", "stadd", "stclr",
              "steor", "stset", "stsm", "stum", "ldx", "ldax", "stx", "stlx")
# Intel's manual, volume 2, "LOCK": anything else with the prefix, or without a destination in memory, is
# not valid.
LOCKABLE = ("adc", "add", "and", "btc", "btr", "bts", "cmpxchg", "cmpxchg8b", "cmpxchg16b", "dec",
            "inc", "neg", "not", "or", "sbb", "sub", "xadd", "xchg", "xor")
LITERAL_SIZES = {"w": 4, "x": 8, "s": 4, "d": 8, "q": 16}


def lines_of(objdump, path, *options):
    command = [objdump, "-d", "--no-show-raw-insn", *options, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as tool:
        for line in tool.stdout:
            address, colon, rest = line.partition(":\t")
            if colon:
                mnemonic, _, operands = rest.rstrip("\n").partition("\t")
                yield int(address, 16), mnemonic.rstrip(), operands
    if tool.returncode != 0:
        sys.exit(f"{command}: exit status {tool.returncode}")


def family_of(mnemonic):
    match = LSE.match(mnemonic)
    if match:
        return re.sub("^st", "ld", match[1])
    match = EXCLUSIVE.match(mnemonic)
    if match:
        return match[1].rstrip("bh")
    return None


class Helpers:
    """Finds bodies of the shape adrp x16; ldrb w16, [x16...]; cbz w16: up to the second ret."""

    def __init__(self):
        self.count = 0
        self.matched = 0
        self.rets = 0

    def step(self, mnemonic, operands):
        """Returns whether the instruction lies inside of a helper."""
        if self.rets > 0:
            self.rets -= mnemonic == "ret"
            return True
        if mnemonic == "adrp" and operands.startswith("x16,"):
            self.matched = 1
        elif self.matched == 1 and mnemonic == "ldrb" and operands.startswith("w16, [x16"):
            self.matched = 2
        elif self.matched == 2 and mnemonic == "cbz" and operands.startswith("w16,"):
            self.matched, self.rets = 0, 2
            self.count += 1
        else:
            self.matched = 0
        return False


def literal_words(mnemonic, operands):
    """The addresses of the words that a load of a literal reads."""
    match = re.match(r"([wxsdq])\d+, ([0-9a-f]+) ?(<|$)", operands)
    if not match or mnemonic not in ("ldr", "ldrsw"):
        return ()
    size = 4 if mnemonic == "ldrsw" else LITERAL_SIZES[match[1]]
    start = int(match[2], 16)
    return range(start, start + size, 4)


def functions_of(readelf, path):
    """The ranges of addresses of the unwind tables, sorted."""
    tool = subprocess.run([readelf, "--debug-dump=frames", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="replace", check=False)
    found = re.findall(r" pc=([0-9a-f]+)\.\.([0-9a-f]+)", tool.stdout)
    return sorted((int(start, 16), int(end, 16)) for start, end in found)


def is_inside(functions, address):
    index = bisect.bisect_right(functions, (address, 1 << 64))
    return index > 0 and address < functions[index - 1][1]


def tally(found, literals, functions, helpers):
    """found: (address, family, in a helper) of each instruction."""
    result = {"families": {}, "helpers": helpers, "literals": 0, "unproved": 0}
    for address, family, outline in found:
        if address in literals:
            result["literals"] += 1
        elif functions and not is_inside(functions, address):
            result["unproved"] += 1
        else:
            row = result["families"].setdefault(family, {"inline": 0, "outline": 0})
            row["outline" if outline else "inline"] += 1
    return result


def count_aarch64(objdump, readelf, path):
    helpers, found, literals = Helpers(), [], set()
    for address, mnemonic, operands in lines_of(objdump, path):
        outline = helpers.step(mnemonic, operands)
        if mnemonic.startswith("ldr"):
            literals.update(literal_words(mnemonic, operands))
        elif mnemonic.startswith(CANDIDATES):
            family = family_of(mnemonic)
            if family:
                found.append((address, family, outline))
    return tally(found, literals, functions_of(readelf, path), helpers.count)


def count_x86(objdump, readelf, path):
    found = []
    for address, mnemonic, operands in lines_of(objdump, path, "-M", "intel"):
        text = f"{mnemonic} {operands}"
        words = text.split()
        lock = "lock" in words[:3] and " PTR " in text.split(",")[0]
        name = words[words.index("lock") + 1] if lock else words[0]
        if lock and name in LOCKABLE:
            found.append((address, f"lock {name}", False))
        elif name == "xchg" and " PTR " in text:
            found.append((address, "xchg", False))
    return tally(found, (), functions_of(readelf, path), 0)


def count_assembly(path):
    result = {"families": {}, "calls": 0, "loops": 0}
    called = set()
    with open(path, encoding="utf-8") as text:
        for line in text:
            words = re.split(r"[\s;]+", line.strip())
            lock = words[0] == "lock"
            family = f"lock {words[1]}" if lock else family_of(words[0])
            if words[0] == "xchg" and "[" in line:
                family = "xchg"
            if words[0] in ("b", "bl") and words[1].startswith("__aarch64_"):
                called.add(words[1])
                result["calls"] += 1
            elif family:
                result["loops"] += family.startswith(("ldx", "ldax"))
                row = result["families"].setdefault(family, {"inline": 0, "outline": 0})
                row["inline"] += 1
    result["helpers"] = len(called)
    return result


def main():
    if sys.argv[1] == "assembly":
        result = count_assembly(sys.argv[2])
    else:
        objdump, readelf, path = sys.argv[1:]
        counter = count_aarch64 if "aarch64" in objdump else count_x86
        result = counter(objdump, readelf, path)
    print(json.dumps(result, sort_keys=True))


main()
