#!/bin/sh
# Waits until the agent in FOLDER has ended, which it does when its session has. After 10 s, or if it had none, ends it.
# Prints what it said.
#
#   sh -s FOLDER <end.sh
pid=$(cat "$1.pid" 2>/dev/null)
# After a reboot, the pid may be that of any program; only the agent works in the folder.
runs() {
    [ ! -e "$1.code" ] && [ -n "$pid" ] && [ "/proc/$pid/cwd" -ef "$1" ]
}
waited=0
while runs "$1" && [ "$waited" -lt 10 ] && grep -q "^session with " "$1.stderr"; do
    sleep 1
    waited=$((waited + 1))
done
if runs "$1"; then
    # Whoever leads the session that sweep.sh has made ends when the program has, and writes its exit code.
    for process in /proc/[0-9]*; do
        [ "$process/cwd" -ef "$1" ] || continue
        case $(cat "$process/comm" 2>/dev/null) in
            udpbench) kill "${process#/proc/}" ;;
        esac
    done
    echo "it was ended: no session, or one that did not end" >>"$1.stderr"
fi
while runs "$1" && [ "$waited" -lt 20 ]; do
    sleep 1
    waited=$((waited + 1))
done
cat "$1.stderr" 2>/dev/null
exit 0
