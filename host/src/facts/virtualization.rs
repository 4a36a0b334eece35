//! Detects emulators and hypervisors.

use crate::sys::files::Root;

/// Returns the emulator or hypervisor, by traces that systemd-detect-virt uses as well. `None`: none is visible, which
/// does not prove that there is none: an emulated Raspberry Pi (`-M raspi3b`) shows nothing.
pub(super) fn read(root: &Root, compatible: &[String]) -> Option<String> {
    hypervisor(root)
        .or_else(|| device_tree(root, compatible))
        .or_else(|| firmware(root))
        .or_else(|| kernel(root))
        .or_else(|| cpu_flag(root))
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

/// Hypervisors, and after each the beginning of a text that it writes into DMI: systemd `src/basic/virt.c` (`dmi_vendor_table`,
/// 2026-11), and KubeVirt, OpenStack and Apple from its issues #24419, #25298 and #37204.
const DMI: &str = include_str!("hypervisors.txt");

/// Detects hypervisors by what the firmware says of the machine in DMI.
fn firmware(root: &Root) -> Option<String> {
    let dmi = |file: &str| {
        root.text(format!("sys/class/dmi/id/{file}"))
            .unwrap_or_default()
    };
    let (vendor, product) = (dmi("sys_vendor"), dmi("product_name"));
    // Amazon's machines without a hypervisor say so in their product, such as c6g.metal.
    if product.contains(".metal") {
        return None;
    }
    let both = format!("{vendor} {product}");
    let others = ["product_version", "board_vendor", "bios_vendor"].map(dmi);
    let names = [both, product].into_iter().chain(others);
    let known = names.filter_map(|name| {
        let mut known = DMI.lines().filter_map(|line| line.split_once(' '));
        let (hypervisor, _) = known.find(|(_, begin)| name.starts_with(begin))?;
        Some(hypervisor.to_owned())
    });
    known.into_iter().next()
}

/// Detects the Windows Subsystem for Linux: by the release of Microsoft's kernels, or by what it registers for Windows'
/// programs (systemd `src/basic/virt.c`, `detect_container`).
fn kernel(root: &Root) -> Option<String> {
    let release = root.text("proc/sys/kernel/osrelease").unwrap_or_default();
    let is_named = ["Microsoft", "microsoft", "WSL"]
        .iter()
        .any(|word| release.contains(word));
    let interop = root.path("proc/sys/fs/binfmt_misc/WSLInterop");
    (is_named || interop.exists()).then(|| "wsl".to_owned())
}

/// Detects a hypervisor by the flag that it shows to x86 CPUs. Others have no such flag.
fn cpu_flag(root: &Root) -> Option<String> {
    let info = root.text("proc/cpuinfo")?;
    let mut flags = info.lines().filter(|line| line.starts_with("flags"));
    let flagged = flags.any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
    flagged.then(|| "unnamed hypervisor".to_owned())
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
        let named = [
            (
                "product_name",
                "Apple Virtualization Generic Platform\n",
                "apple",
            ),
            ("product_name", "KubeVirt\n", "kvm"),
            ("bios_vendor", "BHYVE\n", "bhyve"),
            (
                "product_version",
                "Hyper-V UEFI Release v4.1\n",
                "microsoft",
            ),
            ("sys_vendor", "Amazon EC2\n", "amazon"),
        ];
        for (file, text, name) in named {
            let seen = seen(&format!("sys/class/dmi/id/{file}"), text, &[]);
            assert_eq!(seen.as_deref(), Some(name), "{text}");
        }
        for (file, text) in [("product_name", "c6g.metal\n"), ("bios_vendor", "EDK II\n")] {
            assert_eq!(seen(&format!("sys/class/dmi/id/{file}"), text, &[]), None);
        }
        let release = "5.15.153.1-microsoft-standard-WSL2\n";
        let wsl = seen("proc/sys/kernel/osrelease", release, &[]);
        assert_eq!(wsl.as_deref(), Some("wsl"));
    }
}
