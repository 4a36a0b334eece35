//! Interrupts of interfaces by their names in `/proc/interrupts`, and the CPUs that take them. Those of USB adapters
//! are those of the controller that they are behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::sys::files::Root;

/// Names of the interrupts of USB controllers, of Linux 6.18 (2026-11), without the number of their bus: `drivers/usb`
/// (`hcd->driver->description`, `xhci_try_enable_msi`, dwc_otg of Raspberry Pi's kernels).
const USB_CONTROLLERS: &str =
    "dwc2_hsotg dwc_otg_hcd ehci_hcd ehci-platform musb-hdrc ohci_hcd xhci-hcd xhci_hcd";

/// Returns the interrupts of an interface: its own, or those of the USB controller that it is behind. Empty: unknown.
pub(super) fn irqs(root: &Root, interface: &str) -> Vec<u32> {
    let interrupts = root.text("proc/interrupts").unwrap_or_default();
    let Some(device) = root.link_name(format!("sys/class/net/{interface}/device")) else {
        return Vec::new();
    };
    let own = irqs_of(&interrupts, interface, &device);
    if own.is_empty() {
        return irqs_of_usb(root, interface, &device, &interrupts);
    }
    own
}

/// Returns the CPUs that take these interrupts.
pub(super) fn cpus_of_irqs(root: &Root, irqs: &[u32]) -> Vec<usize> {
    let interrupts = root.text("proc/interrupts").unwrap_or_default();
    let cpus = irqs
        .iter()
        .flat_map(|irq| irq_cpus(root, &interrupts, *irq));
    let cpus: BTreeSet<usize> = cpus.collect();
    cpus.into_iter().collect()
}

/// Returns the interrupts that are named after the interface (`eth0`, `eth0-rx-0`) or, as with virtio, after its
/// device (`virtio2-input.0`). An interrupt of its PHY is none of them: it says that the link came or went
/// (raspberrypi/linux #6942).
fn irqs_of(interrupts: &str, name: &str, device: &str) -> Vec<u32> {
    let belongs = |action: &str| {
        [name, device].iter().any(|owner| {
            let rest = action.strip_prefix(owner);
            rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
        })
    };
    irqs_with(interrupts, |action| belongs(action) && !is_phy(action))
}

/// Returns whether an interrupt has the name of a PHY: bus and address, such as `1f00100000.ethernet-ffffffff:00`
/// (`PHY_ID_FMT`, linux/phy.h).
fn is_phy(action: &str) -> bool {
    let address = action.rsplit_once(':').map(|(_, address)| address);
    address.is_some_and(|it| it.len() == 2 && it.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Returns the interrupts that have such a name.
fn irqs_with(interrupts: &str, is_one: impl Fn(&str) -> bool) -> Vec<u32> {
    let number = |line: &str| {
        let (number, rest) = line.split_once(':')?;
        // Several devices may share a line: their names are separated by commas.
        let mut actions = rest.split([' ', ',']);
        let number = number.trim().parse().ok()?;
        actions.any(&is_one).then_some(number)
    };
    interrupts.lines().filter_map(number).collect()
}

/// Returns the CPUs that an interrupt goes to. Kernels before 4.15 do not say, nor does the driver of a Raspberry Pi
/// 5's RP1 (raspberrypi/linux #7101). Then it is the allowed CPU that took the interrupt most often.
fn irq_cpus(root: &Root, interrupts: &str, irq: u32) -> Vec<usize> {
    let read = |file: &str| {
        let list = root.cpu_list(format!("proc/irq/{irq}/{file}"));
        list.filter(|cpus| !cpus.is_empty())
    };
    let allowed = || {
        let allowed = read("smp_affinity_list").unwrap_or_default();
        let taken = taken(interrupts, irq).into_iter();
        let taken = taken.filter(|(cpu, count)| *count > 0 && allowed.contains(cpu));
        // With equal counts the first CPU wins.
        let most = taken.rev().max_by_key(|(_, count)| *count);
        most.map_or(allowed, |(cpu, _)| vec![cpu])
    };
    read("effective_affinity_list").unwrap_or_else(allowed)
}

/// Returns the number of times that each CPU took an interrupt, from `/proc/interrupts` (proc_interrupts(5)): a
/// column for each online CPU.
fn taken(interrupts: &str, irq: u32) -> Vec<(usize, u64)> {
    let mut lines = interrupts.lines();
    let heading = lines.next().unwrap_or_default().split_whitespace();
    let cpus = heading.filter_map(|word| word.strip_prefix("CPU")?.parse().ok());
    let counts = lines.find_map(|line| {
        let (number, counts) = line.split_once(':')?;
        (number.trim().parse() == Ok(irq)).then_some(counts)
    });
    let counts = counts.unwrap_or_default().split_whitespace();
    cpus.zip(counts.map_while(|count| count.parse().ok()))
        .collect()
}

/// Returns the interrupts of the controller of a USB adapter. Empty: the interface is no such adapter, or it is not
/// certain which ones they are.
fn irqs_of_usb(root: &Root, interface: &str, device: &str, interrupts: &str) -> Vec<u32> {
    let bus = root.link_name(format!("sys/class/net/{interface}/device/subsystem"));
    if bus.as_deref() != Some("usb") {
        return Vec::new();
    }
    let controller = controller(root, interface).unwrap_or_default();
    let msi = message_irqs(root, &controller);
    if !msi.is_empty() {
        return msi;
    }
    // A controller has a bus for each generation of USB, and one of them in the name of its interrupt.
    let mut buses = buses(root, &controller);
    buses.extend(device.split_once('-').map(|(bus, _)| format!("usb{bus}")));
    let is_of_bus = |action: &str| {
        let bus = action.rsplit_once(':').map(|(_, bus)| bus);
        bus.is_some_and(|bus| buses.iter().any(|known| known == bus))
    };
    let by_bus = irqs_with(interrupts, is_of_bus);
    if !by_bus.is_empty() {
        return by_bus;
    }
    // Without a number, the name is certain only if there is one such interrupt.
    let is_one = |action: &str| USB_CONTROLLERS.split(' ').any(|name| name == action);
    let alone = irqs_with(interrupts, is_one);
    if alone.len() == 1 { alone } else { Vec::new() }
}

/// Returns the directory of the controller: its buses, such as `usb2`, are in it.
fn controller(root: &Root, interface: &str) -> Option<PathBuf> {
    let device = fs::canonicalize(root.path(format!("sys/class/net/{interface}/device"))).ok()?;
    let mut above = device.ancestors();
    let bus = above.find(|path| is_bus(path))?;
    Some(bus.parent()?.to_owned())
}

fn is_bus(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let number = name.and_then(|name| name.strip_prefix("usb"));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Returns the buses of a controller.
fn buses(root: &Root, controller: &Path) -> Vec<String> {
    let mut buses = root.names(controller, "usb");
    buses.retain(|name| is_bus(Path::new(name)));
    buses
}

/// Returns the interrupts of a controller on PCI that sends them as messages (kernel doc PCI/msi-howto).
fn message_irqs(root: &Root, controller: &Path) -> Vec<u32> {
    let names = root.names(controller.join("msi_irqs"), "").into_iter();
    let mut irqs: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
    irqs.sort_unstable();
    irqs
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn interrupts_are_found_by_the_name_of_interface_or_device() {
        let table = "           CPU0       CPU1\n\
                     \x20 31:       3      0     GICv2 189 Level     eth0\n\
                     \x20 32:       3      0     GICv2 190 Level     eth0\n\
                     \x20 33:       3      0     GICv2 191 Level     eth01, mmc0\n\
                     \x20 34:       3      0     GICv2 192 Level     usb, eth0-rx-0\n\
                     \x20 38:       0  18399  PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n\
                     \x20 41:       0  18399  PCI-MSIX-0000:00:04.0   1-edge      virtio20-input.0\n\
                     \x20 51:       3      0     GICv2 193 Level     fd580000.ethernet-ffffffff:01\n\
                     \x20 52:       3      0     GICv2 194 Level     eth0:mac\n\
                     IPI0:       1      2       Rescheduling interrupts\n";
        assert_eq!(
            irqs_of(table, "eth0", "fd580000.ethernet"),
            [31, 32, 34, 52]
        );
        assert_eq!(irqs_of(table, "eth1", "virtio2"), [38]);
        assert_eq!(irqs_of("", "eth0", "x"), Vec::<u32>::new());
    }

    /// Returns the CPUs of interrupt 106 with these files.
    fn cpus_of_106(interrupts: &str, allowed: &str, effective: Option<&str>) -> Vec<usize> {
        let place = tempfile::TempDir::new().expect("a temporary directory");
        let directory = place.path().join("proc/irq/106");
        fs::create_dir_all(&directory).expect("writable");
        let write = |path: std::path::PathBuf, text: &str| fs::write(path, text).expect("writable");
        write(directory.join("../../interrupts"), interrupts);
        write(directory.join("smp_affinity_list"), allowed);
        if let Some(effective) = effective {
            write(directory.join("effective_affinity_list"), effective);
        }
        cpus_of_irqs(&Root::new(place.path()), &[106])
    }

    #[test]
    fn an_interrupt_is_where_it_is_taken_if_the_kernel_does_not_say() {
        let table = |heading: &str, counts: &str| {
            format!("{heading}\n105: 9 9 9 9 x\n106: {counts} rp1_irq_chip 6 Edge eth0\n")
        };
        let four = "           CPU0       CPU1       CPU2       CPU3";
        let cases: [(String, &str, Option<&str>, &[usize]); 10] = [
            // A Pi 5.
            (table(four, "44535 0 0 0"), "0-3\n", Some("\n"), &[0]),
            (table(four, "0 0 12 0"), "0-3\n", Some("\n"), &[2]),
            // Moved to CPU 2: the other counts are from before.
            (table(four, "44535 0 12 0"), "2\n", Some("\n"), &[2]),
            (table(four, "44535 0 12 0"), "1-3\n", Some(""), &[2]),
            (table(four, "44535 0 0 0"), "3\n", Some(""), &[3]),
            // The kernel shows the effective CPU.
            (table(four, "44535 0 0 0"), "0-3\n", Some("1\n"), &[1]),
            // The kernel is too old to show it.
            (table(four, "0 70 70 3"), "0-3\n", None, &[1]),
            // CPU 1 is offline.
            (table("  CPU0 CPU2 CPU3", "0 0 7"), "0-3\n", None, &[3]),
            // The interrupt was never taken.
            (table(four, "0 0 0 0"), "0-1\n", None, &[0, 1]),
            (String::new(), "0-1\n", Some(""), &[0, 1]),
        ];
        for (interrupts, allowed, effective, expected) in cases {
            let found = cpus_of_106(&interrupts, allowed, effective);
            assert_eq!(found, expected, "{interrupts} {allowed:?} {effective:?}");
        }
    }

    /// Returns the interrupts of an adapter at this place, on a machine with this table.
    fn found(place: &str, table: &str) -> Vec<u32> {
        let directory = tempfile::TempDir::new().expect("a temporary directory");
        let at = |path: &str| directory.path().join(path);
        for path in [place, "sys/class/net/eth1", "sys/bus/usb/drivers"] {
            fs::create_dir_all(at(path)).expect("writable");
        }
        for link in [at("sys/class/net/eth1/device"), at("sys/class/net/eth1/x")] {
            symlink(at(place), link).expect("writable");
        }
        symlink("../../../bus/usb", at(place).join("subsystem")).expect("writable");
        let root = Root::new(directory.path());
        let device = root.link_name("sys/class/net/eth1/device").expect("a link");
        irqs_of_usb(&root, "eth1", &device, table)
    }

    #[test]
    fn an_adapters_interrupt_is_the_one_of_its_controller_or_unknown() {
        let pi_3 = " 17: 9 0 ARMCTRL-level 1 Edge 3f980000.usb, dwc2_hsotg:usb1\n";
        let two =
            " 60: 9 0 GICv3 252 Level xhci-hcd:usb1\n 61: 9 0 GICv3 253 Level xhci-hcd:usb3\n";
        let pi_4 = " 33: 9 0 BRCM STB PCIe MSI 524288 Edge xhci_hcd\n";
        let both = " 33: 9 0 MSI 1 Edge xhci_hcd\n 34: 9 0 MSI 2 Edge xhci_hcd\n";
        let platform = "sys/devices/platform";
        for (place, table, expected) in [
            ("usb1/1-1/1-1:1.0", pi_3, vec![17]),
            ("xhci.2/usb3/3-1/3-1:1.0", two, vec![61]),
            // The bus has no directory of its own here.
            ("1-1:1.0", two, vec![60]),
            ("2-1:1.0", pi_4, vec![33]),
            ("2-1:1.0", both, vec![]),
            ("2-1:1.0", "", vec![]),
            ("9-1:1.0", two, vec![]),
        ] {
            assert_eq!(
                found(&format!("{platform}/{place}"), table),
                expected,
                "{place} {table}"
            );
        }
    }

    #[test]
    fn a_controller_has_several_buses_or_interrupts_of_its_own() {
        let directory = tempfile::TempDir::new().expect("a temporary directory");
        let controller = directory.path().join("0000:01:00.0");
        for name in ["usb1", "usb2/2-1", "msi_irqs/33", "msi_irqs/34", "usbmisc"] {
            fs::create_dir_all(controller.join(name)).expect("writable");
        }
        let root = Root::default();
        let found = buses(&root, &controller);
        assert_eq!(found, ["usb1", "usb2"]);
        assert_eq!(message_irqs(&root, &controller), [33, 34]);
    }
}
