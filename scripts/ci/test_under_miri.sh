#!/usr/bin/env bash
# Runs the tests of the memory that the kernel is given pointers into under Miri, which checks that each pointer
# is still good by Rust's rules when it is used (Stacked Borrows). Miri makes no system calls such as sendmmsg(2)
# or io_uring_enter(2): the tests do the kernel's part, and follow or write through the pointers themselves.
#
#   scripts/ci/test_under_miri.sh            the tests below
#   scripts/ci/test_under_miri.sh FILTER...  others, by their names as for `cargo test`
#
# Needs a nightly Rust with Miri: rustup toolchain install nightly --component miri,rust-src
# Exit codes: 0 all passed, 1 one did not, or it does not compile, 77 skipped: no Miri.
set -euo pipefail
cd "$(dirname "$0")/../.."

case ${1:-} in
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' scripts/ci/test_under_miri.sh; exit ;;
esac

# No warning where the system library keeps pointers as integers, as the kernel does.
export MIRIFLAGS="-Zmiri-permissive-provenance ${MIRIFLAGS:-}"
in=engines
tests=("$in"::{linux::{tests,receive_batch,send_batch,coalesced,uring::pool,uring::receive},lent_future})
[ $# -eq 0 ] || tests=("$@")

# The first call of a toolchain builds a standard library for Miri.
if ! cargo +nightly miri setup --quiet; then
    echo "SKIPPED: no nightly Rust with Miri; rustup toolchain install nightly --component miri,rust-src" >&2
    exit 77
fi
cargo +nightly miri test --locked --package udpbench-datapath --lib --features uring,tokio \
    --target-dir target/miri -- "${tests[@]}" || exit 1
