//! Detects emulators and hypervisors.

use crate::sys::files::Root;

/// Returns the emulator or hypervisor, by traces that systemd-detect-virt uses as well. An emulated Raspberry Pi (`-M
/// raspi3b`) shows none.
pub(super) fn read(root: &Root, compatible: &[String]) -> Option<String> {
    hypervisor(root)
        .or_else(|| device_tree(root, compatible))
        .or_else(|| firmware(root))
}

/// Returns the hypervisor's own name.
fn hypervisor(root: &Root) -> Option<String> {
    let named = root.text("sys/hypervisor/type");
    named.or_else(|| {
        let node = root.strings("proc/device-tree/hypervisor/compatible");
        node.into_iter().next()
    })
}

/// Detects QEMU in the device tree: its machine `virt` names itself, and its other ARM machines pass their files
/// through `fw-cfg`.
fn device_tree(root: &Root, compatible: &[String]) -> Option<String> {
    let is_virt = compatible.iter().any(|entry| entry == "linux,dummy-virt");
    let has_fw_cfg = !root.names("proc/device-tree", "fw-cfg@").is_empty();
    (is_virt || has_fw_cfg).then(|| "qemu".to_owned())
}

/// Detects hypervisors by their vendor in DMI (systemd `src/basic/virt.c`), and by the CPU flag of x86 hypervisors.
fn firmware(root: &Root) -> Option<String> {
    const VENDORS: &[(&str, &str)] = &[
        ("QEMU", "qemu"),
        ("KVM", "kvm"),
        ("VMware", "vmware"),
        ("innotek GmbH", "virtualbox"),
        ("VirtualBox", "virtualbox"),
        ("Xen", "xen"),
        ("Amazon EC2", "amazon"),
        ("Google Compute Engine", "google"),
        ("Parallels", "parallels"),
        ("Microsoft Corporation Virtual", "microsoft"),
    ];
    let dmi = |file: &str| {
        root.text(format!("sys/class/dmi/id/{file}"))
            .unwrap_or_default()
    };
    let (vendor, product) = (dmi("sys_vendor"), dmi("product_name"));
    let names = [format!("{vendor} {product}"), product];
    let known = VENDORS
        .iter()
        .find(|(begin, _)| names.iter().any(|name| name.starts_with(begin)));
    let announced = || {
        let info = root.text("proc/cpuinfo")?;
        let mut flags = info.lines().filter(|line| line.starts_with("flags"));
        let flagged = flags.any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
        flagged.then(|| "unnamed hypervisor".to_owned())
    };
    known.map(|(_, name)| (*name).to_owned()).or_else(announced)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn seen(path: &str, text: &str, compatible: &[&str]) -> Option<String> {
        let place = tempfile::TempDir::new().expect("a temporary directory");
        let file = place.path().join(path);
        fs::create_dir_all(file.parent().expect("it has one")).expect("writable");
        fs::write(file, text).expect("writable");
        let compatible: Vec<String> = compatible.iter().map(|&entry| entry.to_owned()).collect();
        read(&Root::new(place.path()), &compatible)
    }

    #[test]
    fn emulators_and_hypervisors_are_told_by_what_they_show() {
        let qemu = Some("qemu".to_owned());
        assert_eq!(seen("sys/class/dmi/id/sys_vendor", "QEMU\n", &[]), qemu);
        let edited = ["raspberrypi,4-model-b", "brcm,bcm2711", "linux,dummy-virt"];
        assert_eq!(seen("proc/version", "", &edited), qemu);
        assert_eq!(seen("proc/version", "", &edited[..2]), None);
        let xen = "xen,xen-4.17\0xen,xen\0";
        assert_eq!(
            seen("proc/device-tree/hypervisor/compatible", xen, &[]).as_deref(),
            Some("xen,xen-4.17")
        );
        let flags = "flags\t\t: fpu hypervisor lahf_lm\n";
        assert_eq!(
            seen("proc/cpuinfo", flags, &[]).as_deref(),
            Some("unnamed hypervisor")
        );
        assert_eq!(seen("sys/class/dmi/id/sys_vendor", "ASUS", &[]), None);
    }
}
