"""Logs of `udpbench`: lines with their checksums."""

import json
import zlib


def lines(objects):
    """The text of a log: each object as a line that ends with the CRC-32 of all lines so far without it."""
    crc, text = 0, []
    for one in objects:
        body = json.dumps(one)[:-1]
        crc = zlib.crc32(body.encode(), crc)
        text.append(f'{body},"crc":"{crc:08x}"}}\n')
    return "".join(text)


def objects(text):
    """The objects of a log without their checksums."""
    read = [json.loads(line) for line in text.splitlines()]
    for one in read:
        del one["crc"]
    return read
