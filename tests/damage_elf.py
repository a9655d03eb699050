#!/usr/bin/env python3
"""Makes damaged copies of a 64-bit little-endian ELF file.

Usage: damage_elf.py FILE FOLDER        one copy for every odd value of every field of the headers that lead
                                        to the code, and one for every place of a cut; prints a line each
       damage_elf.py far FILE COPY      moves the executable segment behind 2.5 GiB and the section headers
                                        behind 3 GiB, rightly; the copy is sparse
       damage_elf.py vast FILE COPY BYTES   makes the executable segment and section that much longer; sparse
       damage_elf.py crowd FILE COPY SEGMENTS SECTIONS   has the executable segment behind many others, and
                                        its section many times
"""
import pathlib
import sys

HEADER = {"e_type": (16, 2), "e_machine": (18, 2), "e_version": (20, 4), "e_entry": (24, 8),
          "e_phoff": (32, 8), "e_shoff": (40, 8), "e_ehsize": (52, 2), "e_phentsize": (54, 2),
          "e_phnum": (56, 2), "e_shentsize": (58, 2), "e_shnum": (60, 2), "e_shstrndx": (62, 2)}
SEGMENT = {"p_type": (0, 4), "p_flags": (4, 4), "p_offset": (8, 8), "p_vaddr": (16, 8),
           "p_filesz": (32, 8), "p_memsz": (40, 8), "p_align": (48, 8)}
SECTION = {"sh_name": (0, 4), "sh_type": (4, 4), "sh_flags": (8, 8), "sh_addr": (16, 8),
           "sh_offset": (24, 8), "sh_size": (32, 8), "sh_link": (40, 4), "sh_info": (44, 4),
           "sh_addralign": (48, 8), "sh_entsize": (56, 8)}
PT_LOAD, PT_DYNAMIC, PF_X, SHF_EXECINSTR, SHF_COMPRESSED = 1, 2, 1, 4, 0x800
SHT_SYMTAB, SHT_STRTAB, SHT_DYNSYM = 2, 3, 11


class Elf:
    def __init__(self, path):
        self.bytes = bytearray(pathlib.Path(path).read_bytes())

    def get(self, base, field):
        return int.from_bytes(self.bytes[base + field[0]:base + sum(field)], "little")

    def put(self, base, field, value):
        value &= (1 << 8 * field[1]) - 1
        self.bytes[base + field[0]:base + sum(field)] = value.to_bytes(field[1], "little")

    def header(self, name):
        return self.get(0, HEADER[name])

    def segments(self):
        return [self.header("e_phoff") + 56 * i for i in range(self.header("e_phnum"))]

    def sections(self):
        return [self.header("e_shoff") + 64 * i for i in range(self.header("e_shnum"))]

    def executable(self):
        """The only loaded segment that holds code."""
        return [at for at in self.segments() if self.get(at, SEGMENT["p_type"]) == PT_LOAD
                and self.get(at, SEGMENT["p_flags"]) & PF_X][0]

    def code_sections(self):
        return [at for at in self.sections() if self.get(at, SECTION["sh_flags"]) & SHF_EXECINSTR]


def odd_values(value, size, end):
    """What damage makes of a number: bounds, neighbours, what lies behind the file's end, a high bit."""
    top = (1 << 8 * size) - 1
    odd = [0, 1, value - 1, value + 1, value * 2, value // 2, end - 8, end, end + 4096, top >> 1, top,
           top - 7, value ^ 1 << 8 * size - 1]
    return sorted({number & top for number in odd} - {value})


def places(elf):
    """Fields that lead to the code: (label, base, field)."""
    for name, field in HEADER.items():
        yield name, 0, field
    for index, at in enumerate(elf.segments()):
        kind, flags = elf.get(at, SEGMENT["p_type"]), elf.get(at, SEGMENT["p_flags"])
        if kind == PT_DYNAMIC or (kind == PT_LOAD and flags & PF_X):
            for name, field in SEGMENT.items():
                yield f"{name}-{index}", at, field
    for index, at in enumerate(elf.sections()):
        code = elf.get(at, SECTION["sh_flags"]) & SHF_EXECINSTR
        if code or elf.get(at, SECTION["sh_type"]) in (SHT_SYMTAB, SHT_STRTAB, SHT_DYNSYM):
            for name, field in SECTION.items():
                yield f"{name}-{index}", at, field


def damage(elf, folder):
    whole, end = bytes(elf.bytes), len(elf.bytes)

    def write(label, data):
        (folder / label).write_bytes(data)
        print(label)

    for label, base, field in places(elf):
        for value in odd_values(elf.get(base, field), field[1], end):
            elf.put(base, field, value)
            write(f"{label}-{value:x}", elf.bytes)
            elf.bytes[:] = whole
    for index in (0, 1, 2, 3, 4, 5):
        for value in (0, 3, 0x7f, 0xff):
            if whole[index] != value:
                write(f"ident{index}-{value:x}", whole[:index] + bytes([value]) + whole[index + 1:])
    for at in elf.code_sections():
        flags = elf.get(at, SECTION["sh_flags"])
        elf.put(at, SECTION["sh_flags"], flags | SHF_COMPRESSED)
        write(f"compressed-{at:x}", elf.bytes)
        elf.bytes[:] = whole
    cuts = {0, 1, 4, 15, 16, 63, 64, 65, 119, 120, end - 1, end - 64}
    cuts |= {end * i // 24 for i in range(24)}
    for at in elf.code_sections():
        start = elf.get(at, SECTION["sh_offset"])
        cuts |= {start, start + 2, start + elf.get(at, SECTION["sh_size"]) // 2}
    for cut in sorted(cuts):
        write(f"cut-{cut}", whole[:cut])


def write_sparse(path, parts):
    with open(path, "wb") as copy:
        for offset, data in parts:
            copy.seek(offset)
            copy.write(data)


def move_far(elf, path):
    code, table = elf.executable(), elf.header("e_shoff")
    start, size = elf.get(code, SEGMENT["p_offset"]), elf.get(code, SEGMENT["p_filesz"])
    shift, far = 0xa0000000, 0xc0000000
    for at in elf.sections():
        offset = elf.get(at, SECTION["sh_offset"])
        if elf.get(at, SECTION["sh_addr"]) and start <= offset < start + size:
            elf.put(at, SECTION["sh_offset"], offset + shift)
    headers = bytes(elf.bytes[table:table + 64 * elf.header("e_shnum")])
    contents = bytes(elf.bytes[start:start + size])
    elf.put(code, SEGMENT["p_offset"], start + shift)
    elf.put(0, HEADER["e_shoff"], far)
    write_sparse(path, [(0, elf.bytes), (start + shift, contents), (far, headers)])


def make_vast(elf, path, more):
    """The executable segment's last section goes on behind everything else in the file."""
    code = elf.executable()
    last = max(elf.code_sections(), key=lambda at: elf.get(at, SECTION["sh_offset"]))
    start, size = elf.get(code, SEGMENT["p_offset"]), elf.get(code, SEGMENT["p_filesz"])
    contents = bytes(elf.bytes[start:start + size])
    shift = (len(elf.bytes) + 0xffff) & ~0xffff
    for at in elf.sections():
        offset = elf.get(at, SECTION["sh_offset"])
        if elf.get(at, SECTION["sh_addr"]) and start <= offset < start + size:
            elf.put(at, SECTION["sh_offset"], offset + shift)
    section_end = start + size - elf.get(last, SECTION["sh_offset"]) + shift
    elf.put(last, SECTION["sh_size"], section_end + more)
    for name in ("p_filesz", "p_memsz"):
        elf.put(code, SEGMENT[name], size + more)
    elf.put(code, SEGMENT["p_offset"], start + shift)
    end = start + shift + size + more
    write_sparse(path, [(0, elf.bytes), (start + shift, contents), (end - 1, b"\0")])


def crowd(elf, path, segment_count, section_count):
    code, section = elf.executable(), elf.code_sections()[0]
    real = bytes(elf.bytes[code:code + 56])
    segments = bytearray()
    elf.put(code, SEGMENT["p_filesz"], 1)
    for i in range(segment_count - 1):
        elf.put(code, SEGMENT["p_vaddr"], 0x40000000 + 16 * i)
        segments += elf.bytes[code:code + 56]
    segments += real
    sections = bytearray(64) + elf.bytes[section:section + 64] * section_count
    at = (len(elf.bytes) + 15) & ~15
    # Counts that do not fit their fields lie in the first section.
    elf.put(0, HEADER["e_phoff"], at)
    elf.put(0, HEADER["e_phnum"], segment_count)
    elf.put(0, HEADER["e_shoff"], at + len(segments))
    elf.put(0, HEADER["e_shnum"], 0)
    elf.put(0, HEADER["e_shstrndx"], 0)
    sections[32:40] = (section_count + 1).to_bytes(8, "little")
    write_sparse(path, [(0, elf.bytes), (at, segments), (at + len(segments), sections)])


def main():
    if sys.argv[1] == "far":
        move_far(Elf(sys.argv[2]), sys.argv[3])
    elif sys.argv[1] == "vast":
        make_vast(Elf(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    elif sys.argv[1] == "crowd":
        crowd(Elf(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        damage(Elf(sys.argv[1]), pathlib.Path(sys.argv[2]))


main()
