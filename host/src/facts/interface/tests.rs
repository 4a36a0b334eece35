//! Tests of the facts about interfaces.

use super::*;

#[test]
fn the_machines_own_loopback_is_known() {
    let loopback = Interface::read(&Root::default(), "lo").expect("it is there");
    assert_eq!(loopback.kind, InterfaceKind::Loopback);
    assert!(loopback.mtu.is_some_and(|mtu| mtu >= 1280), "{loopback:?}");
    // Emulators answer no ethtool.
    if let Some(offloads) = loopback.offloads {
        assert!(offloads.contains(&"rx-checksum".to_owned()), "{offloads:?}");
    }
    assert_eq!((loopback.rings, loopback.eee), (None, None));
}

#[test]
fn an_interface_below_another_root_is_what_its_files_show() {
    let place = tempfile::TempDir::new().expect("a temporary directory");
    let eth0 = place.path().join("sys/class/net/eth0");
    let write = |file: &str, text: &str| {
        let path = eth0.join(file);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
        std::fs::write(path, text).expect("writable");
    };
    for queue in 0..2 {
        write(&format!("queues/tx-{queue}/xps_cpus"), "3\n");
    }
    write("queues/rx-0/rps_cpus", "0\n");
    write("speed", "-1\n");
    write("duplex", "unknown\n");
    write("uevent", "DEVTYPE=wlan\nINTERFACE=eth0\n");
    write("statistics/rx_dropped", "12\n");
    write("statistics/rx_errors", "5\n");
    write("statistics/rx_missed_errors", "6\n");
    write("../bonding_masters", "bond0\n");
    let root = Root::new(place.path());
    assert_eq!(names(&root), ["eth0"]);
    assert_eq!(Interface::read(&root, "eth1"), None);
    let expected = Interface {
        name: "eth0".to_owned(),
        kind: InterfaceKind::Wireless,
        rx_queues: 1,
        tx_queues: 2,
        xps_cpus: Some(vec![0, 1]),
        rps_cpus: Some(Vec::new()),
        counted: Counted {
            rx_dropped: Some(12),
            rx_errors: Some(11),
            ..Counted::default()
        },
        ..Interface::default()
    };
    assert_eq!(Interface::read(&root, "eth0"), Some(expected));
}
