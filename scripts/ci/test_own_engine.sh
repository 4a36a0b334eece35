#!/usr/bin/env bash
# Builds examples/own-engine against what `cargo package` makes of udpbench, not against this tree, and tries it: the
# contract, a table, the bench target, a comparison, a page, and a copy of the program on "another" host.
#
#   scripts/ci/test_own_engine.sh
#
# Everything is in target/own-engine/. Needs cargo 1.90 or newer, which packages several packages that need each other.
set -euo pipefail
cd "$(dirname "$0")/../.."
case ${1:-} in
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' scripts/ci/test_own_engine.sh; exit ;;
    ?*) echo "error: $1: this script takes no arguments" >&2; exit 2 ;;
esac

fail() { echo "FAILED: $*" >&2; exit 1; }
ok() { echo "ok: $*"; }

# Runs a command that judges: whatever its verdict is.
judged() {
    local code=0
    "$@" >judged.txt || code=$?
    case $code in 0 | 3 | 4) ;; *) fail "exit code $code: $*" ;; esac
}

scratch=$PWD/target/own-engine
rm -rf "$scratch/crates" "$scratch/example" "$scratch/run"
mkdir -p "$scratch/crates" "$scratch/run/home"

# --allow-dirty: what is to be committed is to be tested, too.
cargo package --quiet --no-verify --allow-dirty --target-dir "$scratch/target" -p udpbench-datapath -p udpbench-host -p udpbench-field -p udpbench
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
for package in udpbench-datapath udpbench-host udpbench-field udpbench; do
    tar -C "$scratch/crates" -xf "$scratch/target/package/$package-$version.crate"
done
ok "cargo package makes all crates"

cp -r examples/own-engine "$scratch/example"
cd "$scratch/example"
rm -rf target results
sed -i "s|path = \"../..\"|version = \"$version\"|" Cargo.toml
cat >>Cargo.toml <<PATCH

[patch.crates-io]
udpbench = { path = "$scratch/crates/udpbench-$version" }
udpbench-datapath = { path = "$scratch/crates/udpbench-datapath-$version" }
udpbench-host = { path = "$scratch/crates/udpbench-host-$version" }
udpbench-field = { path = "$scratch/crates/udpbench-field-$version" }
PATCH
export CARGO_TARGET_DIR=$scratch/target
cargo test --quiet
ok "the example builds against the crates, and keeps the contract"

cargo build --quiet
own=$scratch/target/debug/own-engine
cd "$scratch/run"
short=(--threads 2 --payload '300,600' --rounds 6 --duration 60ms)
"$own" engines | grep '^ *rustix ' >/dev/null || fail "engines lists rustix"
"$own" plan --engine all "${short[@]}" | grep 'rustix' >/dev/null || fail "--engine all has rustix"
"$own" plan "${short[@]}" | grep 'rustix' >/dev/null || fail "the default run has rustix"
"$own" --engine std,rustix "${short[@]}" -o one.csv
[ "$(grep -c ',rustix,' one.csv)" -ge 1 ] || fail "a row of rustix"
"$own" --engine std,rustix "${short[@]}" -o two.csv
"$own" rank one.csv | grep 'rustix' >/dev/null || fail "rank has rustix"
judged "$own" compare one.csv two.csv --details
grep 'rustix' judged.txt >/dev/null || fail "compare has rustix"
"$own" report one.csv -o one.html
grep 'rustix' one.html >/dev/null || fail "the page has rustix"
ok "rows, ranks, comparison and page have the new engine"

judged "$own" ab --a '--engine std' --b '--engine rustix' --rounds 6 -- --threads 2 --payload 300 --duration 60ms
ok "ab compares it with std"

# ssh to a host that is this one, with another home.
# shellcheck disable=SC2016 # the script expands them
printf '#!/bin/sh\nshift\nexport HOME=%s\ncd "$HOME" && exec sh -c "$*"\n' "$PWD/home" >ssh
chmod +x ssh
"$own" --on board --rsh ./ssh --deploy --engine rustix "${short[@]}" -o on.csv
cmp "$own" "home/.cache/udpbench/$version/own-engine" || fail "--deploy copies this program"
[ "$(grep -c ',rustix,' on.csv)" -ge 1 ] || fail "a row of the other host"
ok "--deploy copies this program"

cd "$scratch/example"
cargo bench --quiet --profile dev -- --engine std,rustix "${short[@]}" -o - | grep 'rustix' >/dev/null || fail "cargo bench"
ok "cargo bench gives the table"
