//! CPU masks as the kernel reads and writes them: `00000001,0000000f`, 32 CPUs to a group, the lowest last.

/// Returns the CPUs of a mask. `None` if the text is no mask.
pub fn parse(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for (group, digits) in text.trim().rsplit(',').enumerate() {
        let bits = u32::from_str_radix(digits, 16).ok()?;
        let own = (0..32).filter(|bit| bits >> bit & 1 == 1);
        cpus.extend(own.map(|bit| 32 * group + bit));
    }
    Some(cpus)
}

/// Formats the mask of these CPUs.
pub fn format(cpus: &[usize]) -> String {
    let groups = cpus.iter().max().map_or(1, |most| most / 32 + 1);
    let mut mask = vec![0_u32; groups];
    for cpu in cpus {
        mask[cpu / 32] |= 1 << (cpu % 32);
    }
    let lower = mask[..groups - 1].iter().rev();
    let first = format!("{:x}", mask[groups - 1]);
    let rest = lower.map(|group| format!("{group:08x}"));
    std::iter::once(first)
        .chain(rest)
        .collect::<Vec<_>>()
        .join(",")
}

/// Returns whether a mask names no CPU.
pub fn is_empty(text: &str) -> bool {
    parse(text).is_some_and(|cpus| cpus.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_written_as_the_kernel_reads_them() {
        assert_eq!(format(&[0, 1, 3]), "b");
        assert_eq!(format(&[33, 0]), "2,00000001");
        assert_eq!(format(&[]), "0");
        assert_eq!(parse("00000000,0000000b\n"), parse("b"));
        assert_eq!(parse("00000001,00000003"), Some(vec![0, 1, 32]));
        assert_eq!(parse("performance"), None);
        assert!(is_empty("00000000,00000000") && is_empty("0"));
        assert!(!is_empty("performance") && !is_empty("2,00000000"));
    }
}
