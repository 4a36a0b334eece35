#!/bin/sh
# Deletes the folder of a run on a board, and the files beside it, but no file in it. Exit code 1 if the folder is still
# there, because it holds a file or the sweep runs.
#
#   sh -s FOLDER <leave.sh
#
# The playbooks send it to the board.

# After a reboot, the pid may be that of any program; only the sweep works in the folder.
if [ ! -e "$1.code" ] && [ "/proc/$(cat "$1.pid" 2>/dev/null)/cwd" -ef "$1" ]; then exit 1; fi
rm -f "$1.pid" "$1.program" "$1.code" "$1.code.part"
find "$1" -depth -type d -exec rmdir {} \; 2>/dev/null
[ ! -e "$1" ] || exit 1
rm -f "$1.stdout" "$1.stderr"
# If the program was never installed there.
rmdir "${1%/*}" 2>/dev/null
exit 0
