//! Counters of each CPU's receive queue: `/proc/net/softnet_stat` (`softnet_seq_show`, net/core/net-procfs.c).

use std::fs;

/// Counters of a CPU since boot, for all network namespaces. The kernel keeps 32 bits (`struct softnet_data`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Softnet {
    /// Packets that the softirq of this CPU took off a device, loopback included, or off its backlog.
    pub processed: u32,
    /// Packets that found the backlog full (`net.core.netdev_max_backlog`).
    pub dropped: u32,
    /// Times that the softirq ended with packets left, because its budget or its time was used up.
    pub squeezed: u32,
    /// Packets that wait for the softirq now. `None`: before Linux 5.7.
    pub waiting: Option<u32>,
}

/// Reads the counters of each CPU that is online. Empty: the file is not readable.
pub fn read() -> Vec<Softnet> {
    parse(&fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default())
}

/// Parses one line of hexadecimal columns per CPU.
pub fn parse(text: &str) -> Vec<Softnet> {
    let of_cpu = |line: &str| {
        let column = |index| u32::from_str_radix(line.split_whitespace().nth(index)?, 16).ok();
        Some(Softnet {
            processed: column(0)?,
            dropped: column(1)?,
            squeezed: column(2).unwrap_or(0),
            waiting: column(11),
        })
    };
    text.lines().filter_map(of_cpu).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_hexadecimal_and_the_later_ones_may_be_missing() {
        let line = "00000100 0000000a 00000003 0 0 0 0 0 0 00000010 00000000 00000002 00000001";
        let cpu = Softnet {
            processed: 256,
            dropped: 10,
            squeezed: 3,
            waiting: Some(2),
        };
        assert_eq!(parse(line), [cpu]);
        let old = parse("00000100 00000002 00000000\nzz\n");
        assert_eq!((old.len(), old[0].dropped, old[0].waiting), (1, 2, None));
    }
}
