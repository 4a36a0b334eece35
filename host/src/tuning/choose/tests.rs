//! Tests of the choice of tunings, on a machine that is made of files.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

/// Returns a machine with four CPUs, the first of which has both interrupts of an interface with two queues each
/// way.
fn machine() -> TempDir {
    let location = TempDir::new().expect("a directory");
    let eth0 = "sys/class/net/eth0";
    for (file, text) in [
        ("sys/devices/system/cpu/online", "0-3"),
        ("sys/devices/eth/uevent", ""),
        (&format!("{eth0}/queues/rx-0/rps_cpus"), "0"),
        (&format!("{eth0}/queues/rx-1/rps_cpus"), "0"),
        (&format!("{eth0}/queues/tx-0/xps_cpus"), "1"),
        (&format!("{eth0}/queues/tx-1/xps_cpus"), "0"),
        ("proc/interrupts", " 24: 1 GIC eth0-0\n 25: 1 GIC eth0-1\n"),
        ("proc/irq/24/smp_affinity", "f"),
        ("proc/irq/24/effective_affinity_list", "0"),
        ("proc/irq/25/smp_affinity", "4"),
        ("proc/irq/25/effective_affinity_list", "0"),
    ] {
        let path = location.path().join(file);
        fs::create_dir_all(path.parent().expect("a directory")).expect("created");
        fs::write(path, format!("{text}\n")).expect("written");
    }
    let device = location.path().join(eth0).join("device");
    symlink(location.path().join("sys/devices/eth"), device).expect("a link");
    let vlan = location.path().join("sys/class/net/eth0.5");
    fs::create_dir_all(&vlan).expect("created");
    symlink("../eth0", vlan.join("lower_eth0")).expect("a link");
    location
}

fn chosen(names: &[Name]) -> Tunings {
    chosen_on(&Host::default(), names)
}

fn chosen_on(host: &Host, names: &[Name]) -> Tunings {
    chosen_for(&["eth0"], host, names)
}

fn chosen_for(interfaces: &[&str], host: &Host, names: &[Name]) -> Tunings {
    let location = machine();
    let root = Root::new(location.path());
    let wanted = Wanted {
        names: names.to_vec(),
        interfaces: interfaces.iter().map(|&name| name.to_owned()).collect(),
    };
    choose(&wanted, host, &root)
}

fn changes(tunings: &Tunings) -> Vec<(String, &str, &str)> {
    let settings = tunings.tried.iter().flat_map(|tuning| &tuning.settings);
    let change = |it| {
        let Setting {
            location,
            before,
            tried,
        }: &Setting = it;
        let location = location.to_string();
        let name = location.rsplit_once("/sys/class/net/eth0/queues/");
        let name = name.map_or(location.clone(), |(_, name)| name.to_owned());
        (name, &**before, &**tried)
    };
    settings.map(change).collect()
}

#[test]
fn packets_go_to_the_cpus_without_interrupts_and_interrupts_to_the_last_cpus() {
    let tunings = chosen(&[Name::Rps, Name::Xps, Name::Irq]);
    let expected = [
        ("rx-0/rps_cpus", "0", "e"),
        ("rx-1/rps_cpus", "0", "e"),
        // XPS is on in part, so it is tried off.
        ("tx-0/xps_cpus", "1", "0"),
        ("/proc/irq/24/smp_affinity", "f", "8"),
    ];
    let expected = expected.map(|(name, before, tried)| (name.to_owned(), before, tried));
    assert_eq!(changes(&tunings), expected, "the rest is so already");
    assert_eq!(tunings.left_out, []);
}

#[test]
fn of_an_interface_on_top_of_another_the_lower_one_is_tuned_once() {
    let names = [Name::Rps, Name::Xps, Name::Irq];
    let of = |interfaces: &[&str]| chosen_for(interfaces, &Host::default(), &names);
    assert_eq!(of(&["eth0.5"]), of(&["eth0"]));
    assert_eq!(of(&["eth0.5", "eth0"]), of(&["eth0"]));
    assert_eq!(of(&["eth9"]).tried, [], "there is none");
}

#[test]
fn files_of_another_network_namespace_are_never_written() {
    let host = Host {
        sys_is_foreign: true,
        ..Host::default()
    };
    let tunings = chosen_on(&host, &[Name::Rps, Name::Xps]);
    assert_eq!(tunings.tried, []);
    for left_out in tunings.left_out {
        assert!(
            left_out.reason.contains("this network namespace"),
            "{left_out:?}"
        );
    }
}

#[test]
fn what_a_machine_does_not_have_is_left_out_with_the_reason() {
    let tunings = chosen(&[Name::Governor, Name::Eee, Name::Pause, Name::Control]);
    let tried: Vec<Name> = tunings.tried.iter().map(|tuning| tuning.name).collect();
    assert_eq!(tried, [Name::Control]);
    let reasons: Vec<&str> = tunings.left_out.iter().map(|it| &*it.reason).collect();
    let no_eee = "ethtool --show-eee eth0: this driver has no such setting";
    let no_pause = "ethtool -a eth0: this driver has no such setting";
    let no_cpufreq = "this machine has no cpufreq";
    assert_eq!(reasons, [no_cpufreq, no_eee, no_pause]);
}
