#!/bin/sh
# Waits until the agent in FOLDER listens, at most 20 s. What it said instead is the reason of a failure.
#
#   sh -s FOLDER <listens.sh
waited=0
while ! grep -q "^listening at " "$1.stderr" 2>/dev/null; do
    if [ -e "$1.code" ] || [ "$waited" -ge 20 ]; then
        cat "$1.stderr" >&2
        exit 1
    fi
    sleep 1
    waited=$((waited + 1))
done
