#!/bin/sh
# Starts a sweep on a board, apart from the connection: it goes on when that breaks, and nothing asks after it
# while it measures. At its time limit it is ended as by Ctrl-C, once.
#
#   sh -s FOLDER SECONDS [WORD]... <sweep.sh
#
# Beside FOLDER, where the program works: FOLDER.pid, .stdout, .stderr, and at the end .code.
folder=$1 limit=$2
shift 2
for tool in setsid timeout; do
    command -v "$tool" >/dev/null || {
        echo "$tool is missing on the board: install coreutils and util-linux, or BusyBox" >&2
        exit 1
    }
done
cd "$folder" || exit
# Else timeout (coreutils; not BusyBox) signals twice, and the second signal kills.
foreground=
if timeout --foreground 1 true 2>/dev/null; then foreground=--foreground; fi
# Takes its space now, and is overwritten in place: the disk may be full at the end.
echo "   " >"$folder.code.part" || exit
export folder limit
# shellcheck disable=SC2016,SC2086  # the inner shell expands that; no word at all if it is empty
setsid sh -c '
    uptime_s() { read -r now idle </proc/uptime && echo "${now%.*}"; }
    started=$(uptime_s)
    "$@" >"$folder.stdout" 2>"$folder.stderr"
    code=$?
    # The 124 of coreutils: the timeout of BusyBox has the exit code of the program.
    if [ "$code" = 130 ] && [ $(($(uptime_s) - started)) -ge "$limit" ]; then code=124; fi
    echo "$code" 1<>"$folder.code.part" && mv "$folder.code.part" "$folder.code"
' sh timeout $foreground -s INT "$limit" ../udpbench "$@" </dev/null >/dev/null 2>&1 &
echo $! >"$folder.pid"
