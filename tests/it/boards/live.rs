//! Facts about this machine in situations that root makes with namespaces and mounts: what a container, a label or an
//! interface on top of another one hides is found, or called unknown.

use std::process::{Command, Stdio};

use crate::common::{path_with_program, program};

/// A situation: what makes it, and what `check` says and does not say there.
struct Situation {
    name: &'static str,
    /// Shell script in mount and network namespaces of its own. Ends with 77 where this kernel cannot make it.
    script: &'static str,
    said: &'static [&'static str],
    unsaid: &'static [&'static str],
}

/// Commands for the scripts.
const PRELUDE: &str = r"set -e
ip link set lo up
own_sys() { mount -t sysfs none /sys; }
cover() { f=$(mktemp); echo $1 >$f; mount --bind $f $2; rm $f; }
pair() { ip link add va type veth peer name vb; ip link set va up; ip link set vb up; }
check() { udpbench check $@ || test $? = 1; }
elsewhere() { unshare --net sleep 60 & other=$!; trap 'kill $other' EXIT
    until [ $(readlink /proc/$other/ns/net) != $(readlink /proc/self/ns/net) ]; do :; done; }
";

const SITUATIONS: &[Situation] = &[
    Situation {
        name: "lxcfs shows another CPU than the kernel runs this process on",
        script: "cover 0 /sys/devices/system/cpu/online; taskset -c 1 udpbench plan
            taskset -c 1 udpbench check || test $? = 1",
        said: &["CPUs     1 thread: 1", "  CPUs      1:", "online is not the kernel's own"],
        unsaid: &["offline\n", "of 0 CPUs"],
    },
    Situation {
        name: "lxcfs shows the same number by chance",
        script: "cover 0 /sys/devices/system/cpu/online; taskset -c 0 udpbench check || test $? = 1",
        said: &["  CPUs      0:", "another file is mounted over it"],
        unsaid: &["CPU 1 is offline"],
    },
    Situation {
        name: "lxcfs in a cpuset",
        script: "g=/sys/fs/cgroup/cpuset/udpbench-live-$$; mkdir $g 2>/dev/null || exit 77
            trap 'rmdir $g' EXIT; echo 1 >$g/cpuset.cpus; echo 0 >$g/cpuset.mems
            cover 0 /sys/devices/system/cpu/online
            sh -c 'echo $$ >'$g'/tasks; exec udpbench check' || test $? = 1",
        said: &["  CPUs      1:", "online is not the kernel's own"],
        unsaid: &["offline\n", "affinity mask of this process has CPUs 1, and not 0"],
    },
    Situation {
        name: "an affinity mask alone",
        script: "taskset -c 1 udpbench check || test $? = 1",
        said: &["  CPUs      1:", "the affinity mask of this process has CPUs 1, and not 0"],
        unsaid: &["cpuset", "offline\n", "not the kernel's own"],
    },
    Situation {
        name: "a CPU-less /sys",
        script: "mount -t tmpfs none /sys; udpbench check || test $? = 1",
        said: &["  CPUs      0,1"],
        unsaid: &["offline\n", "of 0 CPUs"],
    },
    Situation {
        name: "a container without rmem_max",
        script: "mount -t tmpfs none /proc/sys/net/core
            setpriv --reuid 65534 --regid 65534 --clear-groups udpbench check --rcvbuf 67108864 || test $? = 1",
        said: &[
            "B of receive buffer, not the 67108864 asked for",
            "on the host of this container, not in it: sudo sysctl",
            "--network host",
        ],
        unsaid: &["rmem_max is not visible"],
    },
    Situation {
        name: "/sys of another network namespace",
        script: "pair; check --interface vb",
        said: &["  vb        veth 10000 Mb/s full, MTU 1500", "does not show the interfaces of this network namespace"],
        unsaid: &["there is no such network interface", "unknown driver"],
    },
    Situation {
        name: "a container's own /sys",
        script: "own_sys; pair; check --interface vb",
        said: &["  vb        veth 10000 Mb/s full, MTU 1500"],
        unsaid: &["another network namespace"],
    },
    Situation {
        name: "no /sys",
        script: "mount -t tmpfs none /sys; pair; check --interface vb",
        said: &["  vb        veth 10000 Mb/s full, MTU 1500", "does not show the interfaces of this network namespace"],
        unsaid: &["unknown driver"],
    },
    Situation {
        name: "the label of an address",
        script: "own_sys; pair; ip addr add 10.9.9.1/24 dev vb label vb:1; check --interface vb:1",
        said: &["  vb        veth 10000 Mb/s full"],
        unsaid: &["unknown driver", "vb:1"],
    },
    Situation {
        name: "an alternative name",
        script: "own_sys; pair; ip link property add dev vb altname lidar; check --interface lidar",
        said: &["  vb        veth 10000 Mb/s full"],
        unsaid: &["unknown driver", "lidar"],
    },
    Situation {
        name: "a macvlan",
        script: "own_sys; pair; ip link add top link vb type macvlan || exit 77; check --interface top",
        said: &["  top       macvlan", "  vb        veth", "what is below it is checked, too (vb)"],
        unsaid: &[],
    },
    Situation {
        name: "a macvlan whose parent is in another network namespace",
        script: "pair; ip link add top link vb type macvlan || exit 77; elsewhere; ip link set top netns $other
            nsenter --target $other --net udpbench check --interface top || test $? = 1",
        said: &["  top       macvlan", "what is below it is in another network namespace"],
        unsaid: &["checked, too"],
    },
    Situation {
        name: "a macvlan on a bridge of two ports",
        script: "own_sys; pair; ip link add br0 type bridge || exit 77; ip link set va master br0
            ip link set vb master br0; ip link add top link br0 type macvlan || exit 77; check --interface top",
        said: &["  top       macvlan", "  br0       bridge", "  va        veth", "  vb        veth"],
        unsaid: &[],
    },
    Situation {
        name: "a bridge with /sys of another network namespace",
        script: "pair; ip link add br0 type bridge || exit 77; ip link set vb master br0; check --interface br0",
        said: &["  br0       bridge", "  vb        veth", "what is below it is checked, too (vb)"],
        unsaid: &["  va  "],
    },
    Situation {
        name: "ports of a switch, made of a veth and VLANs",
        script: "own_sys; pair; ip link add link vb name lan1 type vlan id 5 || exit 77
            ip link add link vb name lan2 type vlan id 6; check --interface lan1,lan2",
        said: &["  lan1      VLAN", "  lan2      VLAN", "  vb        veth"],
        unsaid: &[],
    },
    Situation {
        name: "a bond of two",
        script: "own_sys; pair; ip link add b0 type bond || exit 77; ip link set va down; ip link set vb down
            ip link set va master b0; ip link set vb master b0; check --interface b0",
        said: &["  b0        ", "  va        veth", "  vb        veth"],
        unsaid: &[],
    },
    Situation {
        name: "a tunnel, whose way a route decides",
        script: "own_sys; pair; ip link add vx type vxlan id 5 dev vb dstport 4789 remote 10.9.9.2 || exit 77
            check --interface vx",
        said: &["  vx        vxlan software", "ip route get ADDRESS"],
        unsaid: &["checked, too"],
    },
    Situation {
        name: "one end of a pair, which the other end is not below",
        script: "own_sys; pair; check --interface va",
        said: &["  va        veth"],
        unsaid: &["  vb  ", "checked, too"],
    },
];

#[test]
fn what_a_situation_hides_is_found_or_called_unknown() {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let is_emulated = program().get_program() != path_of_program();
    let permitted = Command::new("unshare")
        .args(["--mount", "--net", "true"])
        .status();
    if !permitted.is_ok_and(|it| it.success()) || cpus != 2 || is_emulated {
        eprintln!("SKIPPED: only root of a machine with two CPUs makes these situations");
        return;
    }
    let (mut done, mut wrong) = (0, Vec::new());
    for situation in SITUATIONS {
        let Some(text) = seen(situation) else {
            eprintln!("SKIPPED: this kernel cannot make {}", situation.name);
            continue;
        };
        done += 1;
        let said = situation
            .said
            .iter()
            .filter(|words| !text.contains(**words));
        let unsaid = situation
            .unsaid
            .iter()
            .filter(|words| text.contains(**words));
        let lacks = said.map(|words| format!("{}: lacks {words:?}", situation.name));
        let has = unsaid.map(|words| format!("{}: has {words:?}", situation.name));
        let before = wrong.len();
        wrong.extend(lacks.chain(has));
        if wrong.len() > before {
            wrong.push(text);
        }
    }
    eprintln!("{done} situations");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn path_of_program() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin(crate::PROGRAM)
}

/// Returns what is said in a situation. `None`: it cannot be made here.
fn seen(situation: &Situation) -> Option<String> {
    const CANNOT: i32 = 77;
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--net", "sh", "-c"]);
    unshare.arg(format!("{PRELUDE}\n{}", situation.script));
    unshare
        .env("PATH", path_with_program())
        .stdin(Stdio::null());
    let output = unshare.output().expect("unshare starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Some(text.into_owned()),
        Some(CANNOT) => None,
        code => panic!("{}: {code:?}\n{text}", situation.name),
    }
}
