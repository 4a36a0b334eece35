#!/bin/sh
# Prints, in Markdown, what a machine shows of itself: the part of a run's circumstances that no row has and
# that nobody needs to type. Runs on the board, with any POSIX shell; what cannot be read is left out.
#
# usage: circumstances [before]     all of it
#        circumstances after        what a run may have changed
#        circumstances by-hand      what no machine can tell, for a person to fill in
# ROOT=DIR before it reads DIR/proc and DIR/sys instead.
#
# By hand: ssh board sh -s before <circumstances.sh

root=${ROOT:-}
cpufreq=$root/sys/devices/system/cpu/cpufreq

row() { # NAME VALUE
    [ -z "$2" ] || printf '| %s | %s |\n' "$1" "$(printf %s "$2" | tr '\n|' ' /')"
}

contents() { # FILE, of one line
    [ ! -r "$1" ] || tr '\0\n' '  ' <"$1" | sed 's/ *$//'
}

show() { # BEFORE FILE AFTER: nothing where there is nothing
    text=$(contents "$2")
    [ -z "$text" ] || printf '%s' "$1$text$3"
}

join() {
    awk '{ printf "%s%s", (NR > 1 ? "; " : ""), $0 }'
}

# What each policy or zone says, in one cell.
each() { # FUNCTION FILE...
    say=$1
    shift
    for file in "$@"; do
        [ ! -r "$file" ] || "$say" "${file%/*}"
    done | join
}

governor() { # POLICY
    echo "$(show '' "$1/scaling_governor" '')$(show ' (' "$1/scaling_driver" ')')$(show ' on CPUs ' \
        "$1/related_cpus" '')"
}

frequency() { # POLICY
    echo "$(show '' "$1/scaling_cur_freq" ' kHz now')$(show ', from ' "$1/scaling_min_freq" '')$(show ' to ' \
        "$1/scaling_max_freq" ' kHz')"
}

temperature() {
    echo "$(show '' "$1/type" ' ')$(awk '{ printf "%.1f °C", $1 / 1000 }' "$1/temp" 2>/dev/null)"
}

heading() {
    printf '| what | seen |\n|---|---|\n'
}

model() {
    if [ -r "$root/proc/device-tree/model" ]; then
        contents "$root/proc/device-tree/model"
    else
        contents "$root/sys/class/dmi/id/product_name"
    fi
}

cpus() {
    names=$(lscpu 2>/dev/null | sed -n 's/^Model name: *//p' | join)
    [ -n "$names" ] || names=$(sed -n 's/^model name[^:]*: //p' "$root/proc/cpuinfo" | sort -u | join)
    echo "$(grep -c '^processor' "$root/proc/cpuinfo")${names:+: $names}"
}

unchanging() {
    row model "$(model)"
    row revision "$(sed -n 's/^Revision[^:]*: //p' "$root/proc/cpuinfo")"
    row system "$(sed -n 's/^PRETTY_NAME="*\([^"]*\)"*$/\1/p' /etc/os-release 2>/dev/null)"
    row image "$(contents /etc/rpi-issue)"
    row kernel "$(uname -srvm)"
    row CPUs "$(cpus)"
    row memory "$(awk '/^MemTotal/ { printf "%.0f MiB", $2 / 1024 }' /proc/meminfo)"
    row "\`net.core.rmem_max\`" "$(contents "$root/proc/sys/net/core/rmem_max")"
    ! command -v vcgencmd >/dev/null || row firmware "$(vcgencmd version 2>/dev/null | tail -n 1)"
}

changing() {
    row time "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    row "up for" "$(awk '{ printf "%.0f min", $1 / 60 }' /proc/uptime)"
    row load "$(cut -d ' ' -f 1-3 /proc/loadavg)"
    row "memory available" "$(awk '/^MemAvailable/ { printf "%.0f MiB", $2 / 1024 }' /proc/meminfo)"
    row governor "$(each governor "$cpufreq"/policy*/scaling_governor)"
    row frequency "$(each frequency "$cpufreq"/policy*/scaling_cur_freq)"
    row temperature "$(each temperature "$root"/sys/class/thermal/thermal_zone*/temp)"
    ! command -v vcgencmd >/dev/null || row "\`vcgencmd get_throttled\`" "$(vcgencmd get_throttled 2>/dev/null)"
}

by_hand() {
    cat <<'END'
- **TO FILL IN** power supply (make, volts, amperes, cable):
- **TO FILL IN** cooling (heat sink, fan) and enclosure:
- **TO FILL IN** room temperature, and where the board stood:
- **TO FILL IN** what else ran on it, and what was attached to it:
- **TO FILL IN** what was changed for the run (governor, `net.core.rmem_max`, firewall, overclocking):
- **TO FILL IN** whether anybody touched it meanwhile:
END
}

case ${1:-before} in
before) heading; unchanging; changing ;;
after) heading; changing ;;
by-hand) by_hand ;;
-h | --help) sed -n '2,/^$/s/^# \{0,1\}//p' "$0" ;;
*) echo "error: $1: there are before, after and by-hand" >&2; exit 2 ;;
esac
