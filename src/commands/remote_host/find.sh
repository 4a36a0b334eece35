name=$1 release=$2 copy=$3; shift 3
there() { command -v "$1" >/dev/null 2>&1; }
is_same() {
    case $("$1" --version 2>/dev/null </dev/null) in "udpbench $release" | "udpbench $release"-*) ;; *) false ;; esac
}
for wanted in is_same there; do
    for it in "$name" "$home/$copy" "$home/$name"; do
        there "$it" && $wanted "$it" && exec "$it" "$@"
    done
done
echo "there is no $name in its PATH, $home/${copy%/*} or $home" >&2
exit 127
