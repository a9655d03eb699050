"""Asks the name server at 127.0.0.1 PORT for the addresses of the NAMEs that it reads, one a line, and
prints each answer's bytes. Exits 1 when one does not come."""

import socket
import struct
import sys

ADDRESS = 1
INTERNET = 1
RECURSION_DESIRED = 0x0100


def query(number, name):
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    header = struct.pack(">6H", number, RECURSION_DESIRED, 1, 0, 0, 0)
    return header + labels + b"\0" + struct.pack(">2H", ADDRESS, INTERNET)


def main():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.settimeout(30)
        server.connect(("127.0.0.1", int(sys.argv[1])))
        for number, line in enumerate(sys.stdin):
            name = line.split()[0]
            server.send(query(number, name))
            print(name, server.recv(512).hex())


try:
    main()
except OSError as error:
    sys.exit(f"dns.py: {error}")
