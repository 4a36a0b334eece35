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
                parts.extend(cpu.zip(part_number(value)));
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
