#!/usr/bin/env bash
# Runs the WebSocket of examples/message-io against a peer of another language, Python's `websockets`, as client and as server:
# fragments, masks, and how a connection ends.
#
#   scripts/ci/test_websocket.sh
#
# Needs Python's venv and what pip finds; the library goes to target/websocket/. Exit code 77 if it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
case ${1:-} in
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' scripts/ci/test_websocket.sh; exit ;;
    ?*) echo "error: $1: this script takes no arguments" >&2; exit 2 ;;
esac

venv=target/websocket
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet 'websockets>=14' || { echo "SKIPPED: websockets cannot be had" >&2; exit 77; }
UDPBENCH_PYTHON=$PWD/$venv/bin/python cargo test --locked --target-dir target \
    --manifest-path examples/message-io/Cargo.toml --lib -- --ignored of_another_language
