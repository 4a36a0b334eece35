//! `udpbench check`: checks that this host is fit for measuring. Each problem comes with its reason and its fix.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::ExitCode;

use super::remote_host::run_there;
use crate::VERSION;
use crate::cli::CheckArgs;
use crate::error::UsageError;
use crate::host::board::{self, ChosenBoard};
use crate::host::check::{Finding, Subject};
use crate::host::facts::{Host, Interface, interface};
use crate::sys::files::Root;
use crate::sys::power::PowerMeter;
use crate::sys::scheduling::Throttling;
use crate::term::output::show;
use crate::text::nearest;
use crate::workload;

/// Reads the host facts and prints them and the findings. Exit code 1: at least one finding would invalidate a run.
///
/// # Errors
/// Fails if `--board` or `--interface` is unusable, if standard output cannot be written, or if the host of `--on`
/// cannot be asked.
pub fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    if args.remote.on.is_some() && args.board.contains(['/', '.']) {
        let fix = "it is a file of this host: copy it there and check there, or name a profile";
        return Err(UsageError::flag("--board", &args.board, fix).into());
    }
    if let Some(code) = run_there(&args.remote)? {
        return Ok(code);
    }
    let root = Root::new(&args.root);
    let host = Host::read(&root);
    let detected = board::choose(&args.board, &host)?;
    let machine = detected.machine(&host);
    let ChosenBoard { board, reason, .. } = detected;
    let mut interfaces = interfaces(&args.interface, &root)?;
    let mut subject = Subject::new(&host, &board, u32::from(args.rcvbuf), &root);
    // Looking at the CPUs took a while, in which counters may have moved.
    for interface in &mut interfaces {
        interface.read_again(&root);
    }
    subject.interfaces = interfaces;
    let findings = subject.findings();

    let mut out = String::new();
    writeln!(out, "udpbench {VERSION} on {machine}")?;
    writeln!(out, "  board     {}: {reason}", board.name)?;
    for (name, fact) in facts(&subject, &root) {
        writeln!(out, "  {name:<10}{fact}")?;
    }
    for (name, fact) in interface_facts(&subject) {
        writeln!(out, "  {name:<9} {fact}")?;
    }
    for finding in &findings {
        out.push_str(&finding.text());
    }
    for limit in &board.limits {
        writeln!(out, "limit    {limit}")?;
    }
    let invalid = findings.iter().filter_map(Finding::problem).count();
    let noted = findings.len() - invalid;
    writeln!(out, "{invalid} would invalidate a run, {noted} to note")?;
    show(&out)?;
    Ok(ExitCode::from(u8::from(invalid > 0)))
}

/// Reads the interfaces of `--interface`, each once.
fn interfaces(names: &[String], root: &Root) -> anyhow::Result<Vec<Interface>> {
    let mut seen = BTreeSet::new();
    let mut interfaces = Vec::new();
    for name in names {
        let found = Interface::read(root, name).ok_or_else(|| no_interface(name, root))?;
        if seen.insert(found.name.clone()) {
            interfaces.push(found);
        }
    }
    Ok(interfaces)
}

fn no_interface(name: &str, root: &Root) -> UsageError {
    let names = interface::names(root);
    let problem = if names.is_empty() {
        "this host has no network interfaces".to_owned()
    } else {
        let hint = nearest::hint(name, names.iter().map(String::as_str));
        let names = names.join(", ");
        format!("there is no such network interface: {hint}there are {names}")
    };
    UsageError::flag("--interface", name, problem)
}

/// Returns a line for each checked interface. If none was named, says how to check the first one.
fn interface_facts(subject: &Subject) -> Vec<(String, String)> {
    if let (true, Some(nic)) = (subject.interfaces.is_empty(), subject.host.nics.first()) {
        let name = &nic.name;
        let how = format!("not looked at; for runs between two hosts: --interface {name}");
        return vec![(name.clone(), how)];
    }
    let mut seen = BTreeSet::new();
    let all = subject.interfaces.iter().flat_map(Interface::with_below);
    all.filter(|interface| seen.insert(&interface.name))
        .map(|interface| (interface.name.clone(), interface.to_string()))
        .collect()
}

/// Returns the host facts as name and text. A value that the kernel does not show is `unknown`.
fn facts(subject: &Subject, root: &Root) -> Vec<(&'static str, String)> {
    let host = subject.host;
    let or_unknown = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let [model, cpus, kernel, machine, preemption] = [
        &host.model,
        &host.cpu_model,
        &host.kernel,
        &host.machine,
        &host.preemption,
    ]
    .map(or_unknown);
    let pages = host.page_bytes.map(|bytes| format!(", {bytes} B pages"));
    let pages = pages.unwrap_or_default();
    let mut facts = vec![
        ("model", model),
        ("CPUs", format!("{}: {cpus}", host.cpu_list())),
        (
            "kernel",
            format!("{kernel} on {machine}, preemption {preemption}{pages}"),
        ),
        ("program", crate::TARGET.to_owned()),
    ];
    let mut add = |name, fact: Option<String>| facts.extend(fact.map(|fact| (name, fact)));
    let driver = or_unknown(&host.cpufreq_driver());
    let governor = host.governor.as_ref();
    add("governor", governor.map(|it| format!("{it} ({driver})")));
    for policy in &host.cpufreq {
        let clocks = [policy.min_khz, policy.max_khz, policy.current_khz];
        let mhz = |khz: Option<u64>| khz.map_or("?".to_owned(), |khz| (khz / 1000).to_string());
        let (cpus, [min, max, now]) = (&policy.cpus, clocks.map(mhz));
        add(
            "clock",
            Some(format!("CPUs {cpus}: {min} to {max} MHz, {now} now")),
        );
    }
    add("idle", host.cpuidle_driver.clone());
    let own = host.clocksource.as_ref().zip(workload::own_round_trip_ns());
    let own = own.map(|(source, ns)| {
        format!("{source}; {ns:.0} ns of each round trip at most are the program's own")
    });
    add("time", own);
    let hottest = subject.temperatures.hottest.as_ref();
    let hottest = hottest.map(|it| format!("{:.1} C ({})", f64::from(it.millic) / 1e3, it.sensor));
    add("hottest", hottest);
    let power = PowerMeter::find(root).and_then(|it| {
        let watts = it.now_uw(root)? as f64 / 1e6;
        Some(format!("{watts:.2} W by {}", it.name))
    });
    add("power", power);
    add("real time", Some(real_time(host)));
    add("load", host.load_1min.map(|load| format!("{load:.2}")));
    facts
}

/// Describes what real-time threads may do, and the CPUs that are meant for them.
fn real_time(host: &Host) -> String {
    let mut parts = vec![match host.most_rt_priority {
        Some(most) => format!("priorities up to {most} (--sched)"),
        None => "not permitted (ulimit -r)".to_owned(),
    }];
    let pause = |it: Throttling| Some((it.pause_us()? / 1000, it.period_us / 1000));
    parts.extend(host.rt_throttling.map(|it| match pause(it) {
        Some((pause_ms, period_ms)) => {
            let when = match it.spares_lone_threads {
                Some(false) => "",
                Some(true) => " if others wait",
                None => ", perhaps only if others wait",
            };
            format!("throttled {pause_ms} of {period_ms} ms{when}")
        }
        None => "not throttled".to_owned(),
    }));
    let lists = [
        ("isolated", &host.isolated_cpus),
        ("nohz_full", &host.nohz_full_cpus),
    ];
    for (name, cpus) in lists {
        let cpus = cpus.as_deref().filter(|cpus| !cpus.is_empty());
        parts.extend(cpus.map(|cpus| format!("{name} {cpus}")));
    }
    parts.join(", ")
}
