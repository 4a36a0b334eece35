//! Facts about hosts against the truth that somebody wrote by hand: `tests/fixtures/hosts-truth.txt`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;
use udpbench::host::board;
use udpbench::host::facts::{Host, Interface, interface};
use udpbench::sys::files::{Root, parse_cpu_list};

use super::{package, threads};
use crate::common::hosts;

/// What is true of a host.
struct Truth<'a> {
    name: &'a str,
    /// Name of the sibling, if it is one.
    sibling: Option<&'a str>,
    /// Changes of a sibling's files.
    edits: Vec<&'a str>,
    /// Facts, each with its first word.
    facts: Vec<(&'a str, &'a str)>,
}

const FACTS: [&str; 7] = [
    "usable",
    "offline",
    "fast",
    "clock",
    "vm",
    "preemption",
    "interface",
];

#[test]
fn every_host_and_its_siblings_are_what_the_truth_says() {
    let path = package().join("tests/fixtures/hosts-truth.txt");
    let text = fs::read_to_string(path).expect("is there");
    let truths = parse(&text);
    for name in hosts::names() {
        let is_it = |truth: &&Truth| truth.name == name && truth.sibling.is_none();
        assert_eq!(truths.iter().filter(is_it).count(), 1, "{name}");
    }
    assert!(truths.len() >= 40, "{}", truths.len());
    let wrong: Vec<String> = truths
        .iter()
        .filter_map(|truth| wrong(truth, &truths))
        .collect();
    let (count, all) = (wrong.len(), truths.len());
    assert!(wrong.is_empty(), "{count} of {all}:\n{}", wrong.join("\n"));
}

fn parse(text: &str) -> Vec<Truth<'_>> {
    let mut truths: Vec<Truth> = Vec::new();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        let (word, rest) = line.split_once(' ').expect("a word and the rest");
        if word == "host" {
            let (name, sibling) = match rest.split_once(" as ") {
                Some((name, sibling)) => (name, Some(sibling)),
                None => (rest, None),
            };
            truths.push(Truth {
                name,
                sibling,
                edits: Vec::new(),
                facts: Vec::new(),
            });
            continue;
        }
        let truth = truths.last_mut().expect("a host comes first");
        if FACTS.contains(&word) {
            truth.facts.push((word, rest));
        } else {
            assert!(truth.sibling.is_some(), "{line}: only siblings are edited");
            truth.edits.push(line);
        }
    }
    truths
}

/// Returns what is wrong about a host, if anything is.
fn wrong(truth: &Truth, all: &[Truth]) -> Option<String> {
    let directory = TempDir::new().expect("can be made");
    let root = if truth.sibling.is_none() {
        Root::new(hosts::root(truth.name))
    } else {
        hosts::expand(&hosts::capture(truth.name), directory.path());
        let edits = truth.edits.iter();
        edits.for_each(|edit| apply(edit, directory.path()));
        Root::new(directory.path())
    };
    let base = all
        .iter()
        .find(|it| it.name == truth.name && it.sibling.is_none());
    let base = base.expect("the host itself is there");
    let host = Host::read(&root);
    let has_own_clocks = truth.edits.iter().any(|edit| edit.starts_with("cores "));
    let differences = FACTS.iter().filter_map(|&fact| {
        let of = |truth: &Truth| -> Vec<String> {
            let facts = truth.facts.iter().filter(|(word, _)| *word == fact);
            facts.map(|(_, text)| (*text).to_owned()).collect()
        };
        let own = of(truth);
        let mut expected = if own.is_empty() { of(base) } else { own };
        expected.retain(|text| text != "none" || fact != "clock");
        let found = match fact {
            "usable" => vec![ranges(host.cpus.iter().map(|cpu| cpu.id).collect())],
            "offline" => vec![ranges(host.offline_cpus.clone())],
            "fast" => return slow_pair(&host, &expected[0]),
            "clock" if has_own_clocks => return None,
            "clock" => clocks(&host),
            "vm" => vec![host.virtualization.clone().unwrap_or("-".to_owned())],
            "preemption" => vec![host.preemption.clone().unwrap_or("-".to_owned())],
            _ => interfaces(&root),
        };
        (found != expected).then(|| format!("  {fact}: {found:?}, but it is {expected:?}"))
    });
    let differences: Vec<String> = differences.collect();
    let name = truth.sibling.map_or(truth.name.to_owned(), |it| {
        format!("{} as {it}", truth.name)
    });
    (!differences.is_empty()).then(|| format!("{name}:\n{}", differences.join("\n")))
}

/// Returns the CPUs of two threads if they are not two of the fast ones.
fn slow_pair(host: &Host, fast: &str) -> Option<String> {
    let fast = parse_cpu_list(fast.trim_matches('-')).expect("a list");
    let board = board::detect(host).expect("valid profiles").board;
    let placed = board
        .placement(threads(2), host)
        .expect("two threads have a place");
    let cpus: Vec<Option<usize>> = placed.placement.cpus().collect();
    let are_fast = cpus
        .iter()
        .all(|cpu| cpu.is_none_or(|cpu| fast.contains(&cpu)));
    let are_apart = fast.len() < 2 || cpus[0] != cpus[1];
    let are_pinned = cpus.iter().all(|cpu| cpu.is_some() != fast.is_empty());
    let is_right = are_fast && are_apart && are_pinned;
    (!is_right).then(|| format!("  placed on {}, and {fast:?} are fast", placed.placement))
}

fn clocks(host: &Host) -> Vec<String> {
    let mhz = |khz: Option<u64>| khz.map_or("?".to_owned(), |khz| (khz / 1000).to_string());
    let policies = host.cpufreq.iter().map(|policy| {
        let cpus = policy
            .cpus
            .split([' ', ','])
            .filter_map(|cpu| cpu.parse().ok());
        format!(
            "{} {} {} to {}, {} now",
            ranges(cpus.collect()),
            policy.governor.as_deref().unwrap_or("?"),
            mhz(policy.min_khz),
            mhz(policy.max_khz),
            mhz(policy.current_khz),
        )
    });
    policies.collect()
}

fn interfaces(root: &Root) -> Vec<String> {
    let joined = |words: Vec<String>| match words[..] {
        [] => "-".to_owned(),
        _ => words.join(","),
    };
    let numbers = |numbers: &[usize]| joined(numbers.iter().map(ToString::to_string).collect());
    let text = |it: Interface| {
        let kind = serde_json::to_value(it.kind).expect("is text");
        let below = it.below.iter().map(|lower| lower.name.clone());
        let irqs: Vec<usize> = it.irqs.iter().map(|irq| *irq as usize).collect();
        format!(
            "{} {} {} irq {} on {} over {}",
            it.name,
            kind.as_str().expect("is text"),
            it.driver.as_deref().unwrap_or("-"),
            numbers(&irqs),
            numbers(&it.irq_cpus),
            joined(below.collect()),
        )
    };
    let names = interface::names(root).into_iter();
    names
        .filter_map(|name| Interface::read(root, &name).map(text))
        .collect()
}

fn apply(edit: &str, tree: &Path) {
    let mut words = edit.splitn(3, ' ');
    let mut next = || words.next().unwrap_or_default();
    let (what, path, rest) = (next(), next(), next());
    let at = tree.join(path);
    match what {
        "file" => {
            let text: String = serde_json::from_str(rest).expect("a JSON string");
            write(&at, &text);
        }
        "link" => symlink(rest, at).expect("writable"),
        "remove" if at.is_dir() && !at.is_symlink() => fs::remove_dir_all(at).expect("is there"),
        "remove" => fs::remove_file(&at).unwrap_or_else(|error| panic!("{edit}: {error}")),
        "cores" => make_cores(tree, path, rest),
        _ => panic!("{edit}: no such edit"),
    }
}

fn write(path: &Path, text: &str) {
    let directory = path.parent().expect("is in the tree");
    fs::create_dir_all(directory).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    fs::write(path, text).expect("writable");
}

/// Gives CPUs another kind of core.
fn make_cores(tree: &Path, list: &str, kind: &str) {
    let [maker, part, mhz, capacity] = kind.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{kind}: not the maker, the part, MHz and the capacity");
    };
    let cpus = parse_cpu_list(list).expect("a list");
    let info = tree.join("proc/cpuinfo");
    let before = fs::read_to_string(&info).unwrap_or_default();
    let before = if cpus.contains(&0) { "" } else { &before };
    let one = |cpu: &usize| {
        format!("processor\t: {cpu}\nCPU implementer\t: {maker}\nCPU part\t: {part}\n\n")
    };
    write(
        &info,
        &(before.to_owned() + &cpus.iter().map(one).collect::<String>()),
    );
    // Clocks are below each CPU.
    let _ = fs::remove_dir_all(tree.join("sys/devices/system/cpu/cpufreq"));
    for cpu in cpus {
        let at = tree.join(format!("sys/devices/system/cpu/cpu{cpu}"));
        let _ = fs::remove_file(at.join("cpufreq"));
        let _ = fs::remove_file(at.join("cpu_capacity"));
        if let Ok(mhz) = mhz.parse::<u64>() {
            write(
                &at.join("cpufreq/cpuinfo_max_freq"),
                &format!("{}\n", mhz * 1000),
            );
        }
        if capacity != "-" {
            write(&at.join("cpu_capacity"), &format!("{capacity}\n"));
        }
    }
}

/// Writes numbers as the kernel lists CPUs. `-`: none.
fn ranges(mut cpus: Vec<usize>) -> String {
    cpus.sort_unstable();
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for cpu in cpus {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => runs.push((cpu, cpu)),
        }
    }
    let run = |(first, last): (usize, usize)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    };
    let runs: Vec<String> = runs.into_iter().map(run).collect();
    if runs.is_empty() {
        return "-".to_owned();
    }
    runs.join(",")
}
