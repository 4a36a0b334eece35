"""Sends two messages in fragments, looks at what comes back, and says goodbye."""

import sys

from websockets.sync.client import connect

with connect(sys.argv[1]) as peer:
    for size in [7, 70000]:
        message = b"\xa5" * size
        peer.send([message[:3], message[3:]])
        assert peer.recv() == message
assert peer.close_code == 1000, peer.close_code
print("all is well")
