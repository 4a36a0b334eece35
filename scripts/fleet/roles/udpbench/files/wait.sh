#!/bin/sh
# Waits until the sweep in FOLDER has ended, at most SECONDS, and prints its exit code and the last line of its
# messages. 137 if it was killed with all around it, as by a power cut; "runs" if it has not ended, or never began.
#
#   sh -s FOLDER SECONDS <wait.sh

# After a reboot, the pid may be that of any program; only the sweep works in the folder.
runs() {
    [ "/proc/$(cat "$1.pid")/cwd" -ef "$1" ]
}

if [ ! -s "$1.pid" ]; then
    echo runs
    exit
fi
waited=0
while [ ! -e "$1.code" ] && runs "$1"; do
    if [ "$waited" -ge "$2" ]; then
        echo runs
        exit
    fi
    sleep 2
    waited=$((waited + 2))
done
if [ -e "$1.code" ]; then head -n 1 "$1.code"; else echo 137; fi
tail -n 1 "$1.stderr" 2>/dev/null || true
