#!/usr/bin/env bash
# Expected: sendmmsg(3) makes one system call, sendmmsg(2), with 32 messages, as its manual page says.
# Happens: musl on 64 bits makes 32 calls of sendmsg(2). POSIX has msg_iovlen and msg_controllen as int and socklen_t,
#   the kernel as size_t, so musl would have to change the caller's headers. On 32 bits it makes one call.
# Version: musl of Zig 0.13.0 (musl 1.2.5), seen on 2026-11-29.
# Matters: a program that batches by sendmmsg measures single calls once it is linked statically, as for boards.
#
# Needs python3 with venv, strace, an x86-64 Linux, and PyPI.
set -euo pipefail

skip() { echo "skipped: $*"; exit 0; }
[ "$(uname -m)" = x86_64 ] || skip "not an x86-64 machine"
command -v strace >/dev/null || skip "no strace"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
{ python3 -m venv "$dir/venv" && "$dir/venv/bin/pip" install --quiet ziglang==0.13.0; } || skip "no ziglang 0.13.0"

cat >"$dir/send.c" <<'C'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

int main(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof to;
	struct iovec payload = {"payload", 7};
	struct mmsghdr messages[32] = {0};
	int receiver = socket(AF_INET, SOCK_DGRAM, 0), sender = socket(AF_INET, SOCK_DGRAM, 0);
	bind(receiver, (struct sockaddr *)&to, length);
	getsockname(receiver, (struct sockaddr *)&to, &length);
	connect(sender, (struct sockaddr *)&to, length);
	for (int n = 0; n < 32; n++)
		messages[n].msg_hdr = (struct msghdr){.msg_iov = &payload, .msg_iovlen = 1};
	printf("sendmmsg returned %d\n", sendmmsg(sender, messages, 32, 0));
}
C

# The calls of the program when it is linked with a C library.
calls() {
    "$dir/venv/bin/python" -m ziglang cc -target "$1" -o "$dir/send" "$dir/send.c"
    strace -f -qq -e trace=sendmsg,sendmmsg -o "$dir/trace" "$dir/send" >&2
    for call in sendmsg sendmmsg; do printf '%s %s ' "$(grep -c "\b$call(" "$dir/trace")" "$call"; done
}

echo "Zig $("$dir/venv/bin/python" -m ziglang version), Linux $(uname -r)"
gnu=$(calls x86_64-linux-gnu.2.28)
musl=$(calls x86_64-linux-musl)
echo "glibc: $gnu"
echo "musl:  $musl"
[ "$gnu" = "0 sendmsg 1 sendmmsg " ] && [ "$musl" = "32 sendmsg 0 sendmmsg " ]
