//! Lists of CPU numbers.

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
}
