#!/bin/sh
# Waits until the sweep in FOLDER has ended, at most SECONDS, and prints its exit code and the last line of what
# it said. 137 if it was killed with all around it, as by a power cut; "runs" if it has not ended, or nobody knows.
#
#   wait.sh FOLDER SECONDS
if [ ! -s "$1.pid" ]; then
    echo runs
    exit
fi
waited=0
while [ ! -e "$1.code" ] && kill -0 "$(cat "$1.pid")" 2>/dev/null; do
    if [ "$waited" -ge "$2" ]; then
        echo runs
        exit
    fi
    sleep 2
    waited=$((waited + 2))
done
if [ -e "$1.code" ]; then cat "$1.code"; else echo 137; fi
tail -n 1 "$1.stderr"
