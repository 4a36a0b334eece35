//! Reads what the machine is: its model and that of its CPUs, and the emulator or hypervisor.

use std::collections::BTreeMap;

use super::joined;
use crate::sys::files::Root;

/// Returns the model: from the device tree, from DMI, or from `/proc/cpuinfo` of Raspberry Pi's kernels.
pub(super) fn board(root: &Root) -> Option<String> {
    let model = root.text("proc/device-tree/model");
    let model = model.or_else(|| root.text("sys/class/dmi/id/product_name"));
    model.or_else(|| board_model(root))
}

/// Returns whether there is a device tree that this process does not see: Raspberry Pi's kernels print its model in
/// `/proc/cpuinfo`, and `/proc/device-tree` is a link to a directory that containers mask (`/sys/firmware`).
pub(super) fn is_hidden(root: &Root, compatible: &[String]) -> bool {
    let tree = root.path("proc/device-tree");
    let leads_nowhere = tree.is_symlink() && root.text("proc/device-tree/model").is_none();
    // Booted by UEFI, a Raspberry Pi may have no device tree, but DMI.
    let has_dmi = root.text("sys/class/dmi/id/product_name").is_some();
    let is_printed = !tree.exists() && !has_dmi && board_model(root).is_some();
    compatible.is_empty() && (leads_nowhere || is_printed)
}

/// Returns the board's model. Only Raspberry Pi's kernels print it in `/proc/cpuinfo`.
fn board_model(root: &Root) -> Option<String> {
    let info = root.text("proc/cpuinfo")?;
    let mut fields = info.lines().filter_map(|line| line.split_once(':'));
    let (_, model) = fields.find(|(key, _)| key.trim() == "Model")?;
    Some(model.trim().to_owned()).filter(|model| !model.is_empty())
}

/// Returns the part number in `/proc/cpuinfo` of each CPU whose core is Arm's.
pub(super) fn parts(root: &Root) -> BTreeMap<usize, u16> {
    let info = root.text("proc/cpuinfo").unwrap_or_default();
    let (mut parts, mut cpu, mut is_arms) = (BTreeMap::new(), None, false);
    for (key, value) in info.lines().filter_map(|line| line.split_once(':')) {
        let (key, value) = (key.trim(), value.trim());
        match key {
            "processor" => (cpu, is_arms) = (value.parse().ok(), false),
            "CPU implementer" => is_arms = value == ARM_LTD,
            "CPU part" if is_arms => {
                parts.extend(cpu.zip(part_number(value)));
            }
            _ => {}
        }
    }
    parts
}

/// Returns the model of the CPUs. x86 prints a name; arm64 prints a part number for each CPU.
pub(super) fn cpus(root: &Root) -> Option<String> {
    let info = root.text("proc/cpuinfo")?;
    let values = |name: &'static str| {
        let fields = info.lines().filter_map(|line| line.split_once(':'));
        let named = fields.filter(move |(key, _)| key.trim() == name);
        named.map(|(_, value)| value.trim())
    };
    let parts = values("CPU implementer").zip(values("CPU part"));
    let parts: Vec<String> = parts
        .map(|(implementer, part)| arm_core(implementer, part))
        .collect();
    match joined(parts) {
        Some(parts) => Some(parts),
        None => values("model name").next().map(str::to_owned),
    }
}

/// Arm's implementer code in `/proc/cpuinfo`.
const ARM_LTD: &str = "0x41";

fn arm_core(implementer: &str, part: &str) -> String {
    let is_known = |core: &(u16, &str, bool)| Some(core.0) == part_number(part);
    match arm_cores()
        .find(is_known)
        .filter(|_| implementer == ARM_LTD)
    {
        Some((_, name, _)) => name.to_owned(),
        None => format!("implementer {implementer} part {part}"),
    }
}

/// Arm Ltd's cores: part number, name, and `small` if they stand beside bigger ones.
fn arm_cores() -> impl Iterator<Item = (u16, &'static str, bool)> {
    let lines = include_str!("arm_cores.txt").lines();
    lines.filter_map(|line| {
        let mut words = line.split(' ');
        let part = part_number(words.next()?)?;
        Some((part, words.next()?, words.next() == Some("small")))
    })
}

fn part_number(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Returns whether a part number is that of one of Arm's small cores.
pub(super) fn is_small(part: u16) -> bool {
    arm_cores().any(|(number, _, is_small)| number == part && is_small)
}

/// Returns the emulator or hypervisor, by traces that systemd-detect-virt uses as well. `None`: none is visible, which
/// does not prove that there is none: an emulated Raspberry Pi (`-M raspi3b`) shows nothing.
pub(super) fn virtualization(root: &Root, compatible: &[String]) -> Option<String> {
    let own_name = root.text("sys/hypervisor/type").or_else(|| {
        let node = root.strings("proc/device-tree/hypervisor/compatible");
        node.into_iter().next()
    });
    // QEMU's machine `virt` names itself, and its other ARM machines pass their files through `fw-cfg`.
    let is_virt = compatible.iter().any(|entry| entry == "linux,dummy-virt");
    let is_qemu = is_virt || !root.names("proc/device-tree", "fw-cfg@").is_empty();
    // x86 CPUs show a flag of a hypervisor, and others have none.
    let info = root.text("proc/cpuinfo").unwrap_or_default();
    let mut flags = info.lines().filter(|line| line.starts_with("flags"));
    let is_flagged = flags.any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
    let name = |is_so: bool, name: &str| is_so.then(|| name.to_owned());
    own_name
        .or_else(|| name(is_qemu, "qemu"))
        .or_else(|| firmware(root))
        .or_else(|| name(is_wsl(root), "wsl"))
        .or_else(|| name(is_flagged, "unnamed hypervisor"))
}

/// Hypervisors, and after each the beginning of a text that it writes into DMI: systemd `src/basic/virt.c`
/// (`dmi_vendor_table`, 2026-11), and KubeVirt, OpenStack and Apple from its issues #24419, #25298 and #37204.
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
    let mut names = [both, product].into_iter().chain(others);
    names.find_map(|name| {
        let mut known = DMI.lines().filter_map(|line| line.split_once(' '));
        let (hypervisor, _) = known.find(|(_, begin)| name.starts_with(begin))?;
        Some(hypervisor.to_owned())
    })
}

/// Returns whether this is the Windows Subsystem for Linux, by the release of Microsoft's kernels, or by what it
/// registers for Windows' programs (systemd `src/basic/virt.c`, `detect_container`).
fn is_wsl(root: &Root) -> bool {
    let release = root.text("proc/sys/kernel/osrelease").unwrap_or_default();
    let names = ["Microsoft", "microsoft", "WSL"];
    let interop = root.path("proc/sys/fs/binfmt_misc/WSLInterop");
    names.iter().any(|word| release.contains(word)) || interop.exists()
}

#[cfg(test)]
mod tests;
