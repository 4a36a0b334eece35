//! Reads `/proc/cpuinfo`: the models of the CPUs, and on a Raspberry Pi the board.

use std::collections::BTreeMap;

use super::joined;
use crate::sys::files::Root;

/// Returns the board's model. Only Raspberry Pi's kernels print it in `/proc/cpuinfo`.
pub(super) fn board_model(root: &Root) -> Option<String> {
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
                let digits = value.trim_start_matches("0x");
                let part = u16::from_str_radix(digits, 16).ok();
                parts.extend(cpu.zip(part));
            }
            _ => {}
        }
    }
    parts
}

/// Returns the model of the CPUs. x86 prints a name; arm64 prints a part number for each CPU.
pub(super) fn model(root: &Root) -> Option<String> {
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
    let known = ARM_PARTS
        .iter()
        .find(|(number, _)| *number == part && implementer == ARM_LTD);
    known.map_or_else(
        || format!("implementer {implementer} part {part}"),
        |(_, name)| (*name).to_owned(),
    )
}

/// Part numbers of Arm's small cores, which are made to stand beside bigger ones: A5, A7, A32, A34, A35, A53, A55, A510,
/// A520, C1-Nano. Of 2026-11, after `cputype.h` of Linux 6.18. A kind that is missing here counts as big, so that the
/// clock decides.
pub(super) const SMALL_PARTS: [u16; 10] = [
    0xc05, 0xc07, 0xd01, 0xd02, 0xd03, 0xd04, 0xd05, 0xd46, 0xd80, 0xd8a,
];

/// Arm Ltd's part numbers, of 2026-11, from the kernel's `arch/arm64/include/asm/cputype.h` and util-linux's `lscpu-arm.c`.
const ARM_PARTS: &[(&str, &str)] = &[
    ("0xb76", "ARM1176"),
    ("0xc05", "Cortex-A5"),
    ("0xc07", "Cortex-A7"),
    ("0xc08", "Cortex-A8"),
    ("0xc09", "Cortex-A9"),
    // The A12 became an A17.
    ("0xc0d", "Cortex-A17"),
    ("0xc0e", "Cortex-A17"),
    ("0xc0f", "Cortex-A15"),
    ("0xd03", "Cortex-A53"),
    ("0xd04", "Cortex-A35"),
    ("0xd05", "Cortex-A55"),
    ("0xd07", "Cortex-A57"),
    ("0xd08", "Cortex-A72"),
    ("0xd09", "Cortex-A73"),
    ("0xd0a", "Cortex-A75"),
    ("0xd0b", "Cortex-A76"),
    ("0xd0c", "Neoverse-N1"),
    ("0xd0d", "Cortex-A77"),
    ("0xd40", "Neoverse-V1"),
    ("0xd41", "Cortex-A78"),
    ("0xd42", "Cortex-A78AE"),
    ("0xd44", "Cortex-X1"),
    ("0xd46", "Cortex-A510"),
    ("0xd47", "Cortex-A710"),
    ("0xd48", "Cortex-X2"),
    ("0xd49", "Neoverse-N2"),
    ("0xd4d", "Cortex-A715"),
    ("0xd4e", "Cortex-X3"),
    ("0xd4f", "Neoverse-V2"),
    ("0xd80", "Cortex-A520"),
    ("0xd81", "Cortex-A720"),
    ("0xd82", "Cortex-X4"),
    ("0xd84", "Neoverse-V3"),
    ("0xd85", "Cortex-X925"),
    ("0xd87", "Cortex-A725"),
    ("0xd8e", "Neoverse-N3"),
];

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    #[test]
    fn the_kind_of_each_core_is_arms_number() {
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n\
                   processor\t: 4\nCPU implementer\t: 0x41\nCPU part\t: 0xd09\n\n\
                   processor\t: 5\nCPU implementer\t: 0x51\nCPU part\t: 0x800\n\n\
                   processor\t: 6\nCPU implementer\t: 0x41\nCPU part\t: x\n\n\
                   Model\t\t: Raspberry Pi 4 Model B Rev 1.4\n";
        let (_dir, root) = tree(&[("proc/cpuinfo", arm)]);
        assert_eq!(parts(&root), [(0, 0xd03), (4, 0xd09)].into());
        let model = board_model(&root);
        assert_eq!(model.as_deref(), Some("Raspberry Pi 4 Model B Rev 1.4"));
        let x86 = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n";
        let (_dir, root) = tree(&[("proc/cpuinfo", x86)]);
        assert_eq!((parts(&root), board_model(&root)), (BTreeMap::new(), None));
    }
}
