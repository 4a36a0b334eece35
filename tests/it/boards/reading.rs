//! Host facts read from `/proc` and `/sys`.

use udpbench::sys::files::Root;
use udpbench::sys::{sensors, temperature};

use crate::common::hosts;

use super::host;

#[test]
fn big_and_little_cores_are_told_apart() {
    let cpus = host("rock-5b").cpus;
    let capacities: Vec<u32> = cpus.iter().map(|cpu| cpu.capacity).collect();
    assert_eq!(capacities, [397, 397, 397, 397, 1024, 1024, 1024, 1024]);
    assert!(cpus.iter().all(|cpu| cpu.core == cpu.id));
    assert!(
        cpus.iter().all(|cpu| cpu.cache == 0),
        "one L3 for all eight"
    );
}

#[test]
fn cores_of_both_architectures_have_their_names() {
    let core = |name| host(name).cpu_model.expect("is shown");
    assert_eq!(core("rpi-zero-w"), "ARM1176");
    assert_eq!(core("beaglebone-black"), "Cortex-A8");
    assert_eq!(core("odroid-n2-plus"), "Cortex-A53+Cortex-A73");
    assert_eq!(core("jetson-orin-nano"), "Cortex-A78AE");
}

#[test]
fn only_the_cpus_of_the_cpuset_that_are_online_are_usable() {
    assert_eq!(host("rpi-4b").cpu_list(), "0,1,2,3");
    assert_eq!(host("rpi-4b-two-cpus").cpu_list(), "0,1");
    assert_eq!(host("jetson-orin-nano-super").cpu_list(), "0,1,2,3");
}

#[test]
fn governors_are_read_where_there_is_cpufreq() {
    let governor = |name| host(name).governor;
    assert_eq!(governor("rpi-4b").as_deref(), Some("ondemand"));
    assert_eq!(
        governor("rock-5b").as_deref(),
        Some("schedutil"),
        "three policies, one governor"
    );
    assert_eq!(governor("x86-vm"), None);
}

#[test]
fn the_kernel_and_its_receive_buffer_limit_are_read_everywhere() {
    for name in hosts::names() {
        let host = host(&name);
        let (kernel, version) = (host.kernel.expect(&name), host.kernel_version.expect(&name));
        assert!(
            version.starts_with(&format!("Linux version {kernel} ")),
            "{version}"
        );
        // Containers of kernels before 6.12 do not see it.
        let is_hidden = name == "rpi-4b-netns-no-rmem";
        assert_eq!(host.rmem_max.is_none(), is_hidden, "{name}");
    }
}

#[test]
fn the_hottest_zone_and_the_throttle_bits_are_read_where_there_are_any() {
    let sensors = |name| {
        let root = Root::new(hosts::root(name));
        (
            temperature::hottest_millic(&root),
            sensors::throttle_bits(&root),
        )
    };
    assert_eq!(sensors("rpi-4b"), (Some(48_686), Some(0)));
    // Hexadecimal without 0x, below a `soc` with an address: under-voltage and throttling in the past.
    assert_eq!(sensors("rpi-5"), (Some(51_250), Some(0x5_0000)));
    assert_eq!(
        sensors("rock-5b"),
        (Some(46_230), None),
        "the big cores are hottest"
    );
    assert_eq!(
        sensors("jetson-nano"),
        (Some(27_500), None),
        "neither the always-on domain's 38 C nor the PMIC's constant 100 C is the CPUs'"
    );
    assert_eq!(sensors("x86-vm"), (None, None));
}

#[test]
fn the_clock_of_a_cpu_is_that_of_its_policy() {
    let root = Root::new(hosts::root("rock-5b"));
    assert_eq!(lowest_khz(&root, [0, 7]), Some(408_000));
    assert_eq!(host("rock-5b").cpufreq.len(), 3);
    let fast = Root::new(hosts::root("odroid-n2-plus"));
    assert_eq!(lowest_khz(&fast, [4, 5]), Some(2_208_000));
}

#[test]
fn an_interrupt_that_armbian_moved_is_found_where_it_is() {
    for name in ["pine64-plus", "rockpro64-armbian"] {
        let nics = host(name).nics;
        let [nic] = nics.as_slice() else {
            panic!("{name}: {nics:?}");
        };
        assert_eq!(
            (nic.name.as_str(), &nic.irq_cpus),
            ("eth0", &vec![3]),
            "{name}"
        );
        assert_eq!(nic.rps_cpus, [0, 1, 2], "{name}");
    }
}

#[test]
fn an_interrupt_whose_place_the_kernel_keeps_back_is_where_it_is_taken() {
    // raspberrypi/linux #7101: of the RP1's interrupts `effective_affinity_list` is empty.
    let nics = host("rpi-cm5").nics;
    let [nic] = nics.as_slice() else {
        panic!("{nics:?}");
    };
    assert_eq!((&nic.irqs, &nic.irq_cpus), (&vec![106], &vec![0]));
}

#[test]
fn a_container_leaves_the_model_in_cpuinfo() {
    let docker = host("rpi-4b-docker");
    assert!(docker.hides_device_tree);
    assert_eq!(
        docker.model.as_deref(),
        Some("Raspberry Pi 4 Model B Rev 1.4")
    );
    assert_eq!(super::board_of(&docker), "rpi-4b");
    for name in ["rpi-4b", "rpi-4b-model-only", "x86-vm", "beaglebone-green"] {
        assert!(!host(name).hides_device_tree, "{name}");
    }
}

#[test]
fn the_architecture_of_the_kernel_is_read_where_it_is_shown() {
    let machine = |name| host(name).machine;
    assert_eq!(machine("rpi-zero-w").as_deref(), Some("armv6l"));
    assert_eq!(machine("rpi-4b").as_deref(), Some("aarch64"));
    assert_eq!(machine("jetson-nano"), None, "Linux 4.9");
}

fn lowest_khz(root: &Root, cpus: [usize; 2]) -> Option<u64> {
    let mut watch = sensors::Watch::start(root);
    watch.look_at_clocks(cpus);
    watch.climate.lowest_khz
}
