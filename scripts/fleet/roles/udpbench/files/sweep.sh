#!/bin/sh
# Starts a sweep on a board, apart from the connection: it goes on when that breaks, and nothing asks after it
# while it measures. At its time limit it is ended as by Ctrl-C, once.
#
#   sweep.sh FOLDER SECONDS [WORD]...
#
# Beside FOLDER, where the program works: FOLDER.pid, .stdout, .stderr, and at the end .code.
room=$1 limit=$2
shift 2
cd "$room" || exit
# Else timeout (coreutils; not BusyBox) signals twice, and the second signal kills.
foreground=
if timeout --foreground 1 true 2>/dev/null; then foreground=--foreground; fi
export room
# shellcheck disable=SC2016,SC2086  # the inner shell expands that; no word at all if it is empty
setsid sh -c '
    "$@" >"$room.stdout" 2>"$room.stderr"
    echo $? >"$room.code.part" && mv "$room.code.part" "$room.code"
' sh timeout $foreground -s INT "$limit" ../udpbench "$@" </dev/null >/dev/null 2>&1 &
echo $! >"$room.pid"
