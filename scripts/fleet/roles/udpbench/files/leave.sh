#!/bin/sh
# Deletes what is ours beside FOLDER, and FOLDER, but no file in it: exit code 1 if there is one.
#
#   leave.sh FOLDER
if [ ! -e "$1.code" ] && kill -0 "$(cat "$1.pid" 2>/dev/null)" 2>/dev/null; then exit 1; fi
find "$1" -depth -type d -exec rmdir {} \; 2>/dev/null
[ ! -e "$1" ] || exit 1
rm -f "$1.pid" "$1.stdout" "$1.stderr" "$1.code" "$1.sweep" "$1.wait"
