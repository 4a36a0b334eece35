directory=${1%/*} new=$1.$$ cache=
[ -d "${directory%%/*}" ] || cache=${directory%%/*}
end() {
    code=$?
    rm -f "$new"
    for it in "$directory" "${directory%/*}" $cache; do rmdir "$it" 2>/dev/null; done
    exit $code
}
trap end EXIT
trap "exit 1" HUP INT TERM
fail() { echo "$1" >&2; exit 1; }
mkdir -p "$directory" || exit 1
cat >"$new" || exit 1
bytes=$(wc -c <"$new")
[ "$bytes" -eq "$2" ] || fail "$bytes of $2 bytes got there"
if sum=$(sha256sum <"$new" 2>/dev/null) && [ -n "$3" ]; then
    [ "${sum%% *}" = "$3" ] || fail "it got there with the SHA-256 ${sum%% *}, not $3"
fi
chmod 755 "$new" && "$new" --version >/dev/null && mv "$new" "$1" ||
    fail "it does not run there: not permitted in the home directory (noexec)? built for another system?"
