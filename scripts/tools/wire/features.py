"""A program that has veth(4) deliver by NAPI, as a network card does: features.py INTERFACE, within its namespace.

An interface of a pair has a NAPI while its GRO is on (Linux 5.13). What the other one sends takes that way if it cannot
do TSO (veth_skb_is_eligible_for_gro). By ioctl(2), since ethtool is not everywhere.
"""

import ctypes
import fcntl
import socket
import struct
import sys

# linux/sockios.h, linux/ethtool.h.
SIOCETHTOOL = 0x8946
ETHTOOL_STSO = 0x1F
ETHTOOL_SGRO = 0x2C


def main():
    (interface,) = sys.argv[1:]
    for request, value in [(ETHTOOL_SGRO, 1), (ETHTOOL_STSO, 0)]:
        change(interface, request, value)


def change(interface, request, value):
    """Sets a feature, by struct ethtool_value."""
    data = ctypes.create_string_buffer(struct.pack("II", request, value))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCETHTOOL, struct.pack("16sP", interface.encode(), ctypes.addressof(data)))


if __name__ == "__main__":
    main()
