//! Lists of CPU numbers, and masks as the kernel reads and writes them: `00000001,0000000f`, 32 CPUs to a group, the
//! lowest last.

/// Formats CPU numbers as the kernel lists them, such as `0-3,6`.
pub fn ranges(cpus: &[usize]) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let texts = ranges.into_iter().map(|(first, last)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    });
    texts.collect::<Vec<_>>().join(",")
}

/// Joins CPU numbers with a separator.
pub fn join(cpus: &[usize], separator: &str) -> String {
    let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    cpus.join(separator)
}

/// Returns the CPUs of a mask. `None` if the text is no mask.
pub fn parse_mask(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for (group, digits) in text.trim().rsplit(',').enumerate() {
        let bits = u32::from_str_radix(digits, 16).ok()?;
        let own = (0..32).filter(|bit| bits >> bit & 1 == 1);
        cpus.extend(own.map(|bit| 32 * group + bit));
    }
    Some(cpus)
}

/// Formats the mask of these CPUs.
pub fn mask(cpus: &[usize]) -> String {
    let groups = cpus.iter().max().map_or(1, |most| most / 32 + 1);
    let mut words = vec![0_u32; groups];
    for cpu in cpus {
        words[cpu / 32] |= 1 << (cpu % 32);
    }
    let lower = words[..groups - 1].iter().rev();
    let first = format!("{:x}", words[groups - 1]);
    let rest = lower.map(|group| format!("{group:08x}"));
    std::iter::once(first)
        .chain(rest)
        .collect::<Vec<_>>()
        .join(",")
}

/// Returns whether a mask names no CPU.
pub fn is_empty_mask(text: &str) -> bool {
    parse_mask(text).is_some_and(|cpus| cpus.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_as_the_kernel_does() {
        let cases: [(&[usize], &str); 5] = [
            (&[], ""),
            (&[3], "3"),
            (&[1, 2, 3], "1-3"),
            (&[0, 1, 4, 6, 7], "0-1,4,6-7"),
            (&[0, 2], "0,2"),
        ];
        for (cpus, text) in cases {
            assert_eq!(ranges(cpus), text);
        }
    }

    #[test]
    fn masks_are_written_as_the_kernel_reads_them() {
        assert_eq!(mask(&[0, 1, 3]), "b");
        assert_eq!(mask(&[33, 0]), "2,00000001");
        assert_eq!(mask(&[]), "0");
        assert_eq!(parse_mask("00000000,0000000b\n"), parse_mask("b"));
        assert_eq!(parse_mask("00000001,00000003"), Some(vec![0, 1, 32]));
        assert_eq!(parse_mask("performance"), None);
        assert!(is_empty_mask("00000000,00000000") && is_empty_mask("0"));
        assert!(!is_empty_mask("performance") && !is_empty_mask("2,00000000"));
    }
}
