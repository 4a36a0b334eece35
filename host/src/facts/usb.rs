//! Finds the interrupts of USB adapters: those of the controller that they are behind.

use std::fs;
use std::path::{Path, PathBuf};

use super::interrupts::irqs_with;
use crate::sys::files::Root;

/// Names of the interrupts of USB controllers, of Linux 6.18 (2026-11), without the number of their bus: `drivers/usb`
/// (`hcd->driver->description`, `xhci_try_enable_msi`, dwc_otg of Raspberry Pi's kernels).
const CONTROLLERS: &[&str] = &[
    "dwc2_hsotg",
    "dwc_otg_hcd",
    "ehci_hcd",
    "ehci-platform",
    "musb-hdrc",
    "ohci_hcd",
    "xhci-hcd",
    "xhci_hcd",
];

/// Returns the interrupts of the controller of a USB adapter. Empty: the interface is no such adapter, or it is not
/// certain which ones they are.
pub(super) fn irqs(root: &Root, interface: &str, device: &str, interrupts: &str) -> Vec<u32> {
    let bus = root.link_name(format!("sys/class/net/{interface}/device/subsystem"));
    if bus.as_deref() != Some("usb") {
        return Vec::new();
    }
    let controller = controller(root, interface);
    let msi = controller
        .as_deref()
        .map_or_else(Vec::new, |it| message_irqs(root, it));
    if !msi.is_empty() {
        return msi;
    }
    // A controller has a bus for each generation of USB, and one of them in the name of its interrupt.
    let mut buses = controller
        .as_deref()
        .map_or_else(Vec::new, |it| buses(root, it));
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
    let alone = irqs_with(interrupts, |action| CONTROLLERS.contains(&action));
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
        irqs(&root, "eth1", &device, table)
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
