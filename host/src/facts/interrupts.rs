//! Interrupts by their names in `/proc/interrupts`, and the CPUs that take them.

use crate::sys::files::Root;

/// Returns the CPUs that take these interrupts.
pub(super) fn cpus_of_irqs(root: &Root, irqs: &[u32]) -> Vec<usize> {
    let interrupts = root.text("proc/interrupts").unwrap_or_default();
    let of_irq = |irq: &u32| irq_cpus(root, &interrupts, *irq);
    let mut cpus: Vec<usize> = irqs.iter().flat_map(of_irq).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// Returns the interrupts that are named after the interface (`eth0`, `eth0-rx-0`) or, as with virtio, after its
/// device (`virtio2-input.0`). An interrupt of its PHY is none of them: it says that the link came or went
/// (raspberrypi/linux #6942).
pub(super) fn irqs_of(interrupts: &str, name: &str, device: &str) -> Vec<u32> {
    let belongs = |action: &str| {
        [name, device].iter().any(|owner| {
            let rest = action.strip_prefix(owner);
            rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
        })
    };
    irqs_with(interrupts, |action| belongs(action) && !is_phy(action))
}

/// Returns whether an interrupt has the name of a PHY: bus and address, such as `1f00100000.ethernet-ffffffff:00`
/// (`PHY_ID_FMT`, linux/phy.h).
fn is_phy(action: &str) -> bool {
    let address = action.rsplit_once(':').map(|(_, address)| address);
    address.is_some_and(|it| it.len() == 2 && it.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Returns the interrupts that have such a name.
pub(super) fn irqs_with(interrupts: &str, is_one: impl Fn(&str) -> bool) -> Vec<u32> {
    interrupts
        .lines()
        .filter_map(|line| {
            let (number, rest) = line.split_once(':')?;
            // Several devices may share a line: their names are separated by commas.
            let mut actions = rest.split([' ', ',']);
            let number = number.trim().parse().ok()?;
            actions.any(&is_one).then_some(number)
        })
        .collect()
}

/// Returns the CPUs that an interrupt goes to. Kernels before 4.15 do not say, nor does the driver of a Raspberry Pi
/// 5's RP1 (raspberrypi/linux #7101). Then it is the allowed CPU that took the interrupt most often.
fn irq_cpus(root: &Root, interrupts: &str, irq: u32) -> Vec<usize> {
    let read = |file: &str| {
        let list = root.cpu_list(format!("proc/irq/{irq}/{file}"));
        list.filter(|cpus| !cpus.is_empty())
    };
    let allowed = || {
        let allowed = read("smp_affinity_list").unwrap_or_default();
        let taken = taken(interrupts, irq).into_iter();
        let taken = taken.filter(|(cpu, count)| *count > 0 && allowed.contains(cpu));
        // With equal counts the first CPU wins.
        let most = taken.rev().max_by_key(|(_, count)| *count);
        most.map_or(allowed, |(cpu, _)| vec![cpu])
    };
    read("effective_affinity_list").unwrap_or_else(allowed)
}

/// Returns the number of times that each CPU took an interrupt, from `/proc/interrupts` (proc_interrupts(5)): a
/// column for each online CPU.
fn taken(interrupts: &str, irq: u32) -> Vec<(usize, u64)> {
    let mut lines = interrupts.lines();
    let heading = lines.next().unwrap_or_default().split_whitespace();
    let cpus = heading.filter_map(|word| word.strip_prefix("CPU")?.parse().ok());
    let counts = lines.find_map(|line| {
        let (number, counts) = line.split_once(':')?;
        (number.trim().parse() == Ok(irq)).then_some(counts)
    });
    let counts = counts.unwrap_or_default().split_whitespace();
    cpus.zip(counts.map_while(|count| count.parse().ok()))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn interrupts_are_found_by_the_name_of_interface_or_device() {
        let table = "           CPU0       CPU1\n\
                     \x20 31:       3      0     GICv2 189 Level     eth0\n\
                     \x20 32:       3      0     GICv2 190 Level     eth0\n\
                     \x20 33:       3      0     GICv2 191 Level     eth01, mmc0\n\
                     \x20 34:       3      0     GICv2 192 Level     usb, eth0-rx-0\n\
                     \x20 38:       0  18399  PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n\
                     \x20 41:       0  18399  PCI-MSIX-0000:00:04.0   1-edge      virtio20-input.0\n\
                     \x20 51:       3      0     GICv2 193 Level     fd580000.ethernet-ffffffff:01\n\
                     \x20 52:       3      0     GICv2 194 Level     eth0:mac\n\
                     IPI0:       1      2       Rescheduling interrupts\n";
        assert_eq!(
            irqs_of(table, "eth0", "fd580000.ethernet"),
            [31, 32, 34, 52]
        );
        assert_eq!(irqs_of(table, "eth1", "virtio2"), [38]);
        assert_eq!(irqs_of("", "eth0", "x"), Vec::<u32>::new());
    }

    /// Returns the CPUs of interrupt 106 with these files.
    fn cpus_of_106(interrupts: &str, allowed: &str, effective: Option<&str>) -> Vec<usize> {
        let place = tempfile::TempDir::new().expect("a temporary directory");
        let directory = place.path().join("proc/irq/106");
        fs::create_dir_all(&directory).expect("writable");
        let write = |path: std::path::PathBuf, text: &str| fs::write(path, text).expect("writable");
        write(directory.join("../../interrupts"), interrupts);
        write(directory.join("smp_affinity_list"), allowed);
        if let Some(effective) = effective {
            write(directory.join("effective_affinity_list"), effective);
        }
        cpus_of_irqs(&Root::new(place.path()), &[106])
    }

    #[test]
    fn an_interrupt_is_where_it_is_taken_if_the_kernel_does_not_say() {
        let table = |heading: &str, counts: &str| {
            format!("{heading}\n105: 9 9 9 9 x\n106: {counts} rp1_irq_chip 6 Edge eth0\n")
        };
        let four = "           CPU0       CPU1       CPU2       CPU3";
        let cases: [(String, &str, Option<&str>, &[usize]); 10] = [
            // A Pi 5.
            (table(four, "44535 0 0 0"), "0-3\n", Some("\n"), &[0]),
            (table(four, "0 0 12 0"), "0-3\n", Some("\n"), &[2]),
            // Moved to CPU 2: the other counts are from before.
            (table(four, "44535 0 12 0"), "2\n", Some("\n"), &[2]),
            (table(four, "44535 0 12 0"), "1-3\n", Some(""), &[2]),
            (table(four, "44535 0 0 0"), "3\n", Some(""), &[3]),
            // The kernel shows the effective CPU.
            (table(four, "44535 0 0 0"), "0-3\n", Some("1\n"), &[1]),
            // The kernel is too old to show it.
            (table(four, "0 70 70 3"), "0-3\n", None, &[1]),
            // CPU 1 is offline.
            (table("  CPU0 CPU2 CPU3", "0 0 7"), "0-3\n", None, &[3]),
            // The interrupt was never taken.
            (table(four, "0 0 0 0"), "0-1\n", None, &[0, 1]),
            (String::new(), "0-1\n", Some(""), &[0, 1]),
        ];
        for (interrupts, allowed, effective, expected) in cases {
            let found = cpus_of_106(&interrupts, allowed, effective);
            assert_eq!(found, expected, "{interrupts} {allowed:?} {effective:?}");
        }
    }
}
