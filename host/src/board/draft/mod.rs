//! Drafts a profile for a board that has none, from host facts. The draft can be used unchanged. Its comments name
//! the source of each value and the choices that are left to the user.

mod cpus;
mod heat;

use std::fmt::Write;

use super::detect::without_revision;
use crate::data::Threads;
use crate::facts::Host;
use crate::placement::Placement;
use crate::sys::files::Root;
use crate::text::cpu_list;

/// Returns the draft. Its placements are those of the profile `generic`.
pub fn draft(host: &Host, root: &Root) -> String {
    let count = cpus::count(host, root);
    let parts = [
        heading(host, root),
        detection(host),
        count.map_or_else(String::new, |count| cpus::text(count, &host.cpus)),
        defaults(host),
        heat::text(root),
        placement(host, count == Some(host.cpus.len())),
    ];
    parts.concat()
}

fn heading(host: &Host, root: &Root) -> String {
    let title = title(host);
    let cpus = host.cpu_model.as_deref().unwrap_or("unknown CPUs");
    let kernel = host.kernel.as_deref().unwrap_or("of unknown version");
    let source = if root.text("proc/device-tree/model").is_some() {
        "/proc/device-tree/model, without a revision"
    } else if root.text("sys/class/dmi/id/product_name").is_some() {
        "/sys/class/dmi/id/product_name"
    } else if host.model.is_some() {
        "/proc/cpuinfo, without a revision"
    } else {
        "nothing: no model was found"
    };
    format!(
        "# {title}: {cpus}.\n\
         # Sources: a draft that udpbench {version} wrote from /proc and /sys of the board, with kernel\n\
         # {kernel}. What is left to decide is marked; boards/README.md explains the keys.\n\
         #\n\
         # To decide: shorter, if you like.\n\
         name = {name}\n\
         # From {source}.\n\
         title = {quoted_title}\n\
         # To decide: where and when you ran it. Leave it empty until you have.\n\
         verified_on = []\n\
         # What this udpbench was built for. To decide: what else runs on it, the best first.\n\
         targets = [{target}]\n\
         # To decide: what it cannot do or cannot measure well, as sentences.\n\
         limits = []\n",
        title = comment(&title),
        cpus = comment(cpus),
        kernel = comment(kernel),
        version = crate::VERSION,
        name = quoted(&name(host)),
        quoted_title = quoted(&title),
        target = quoted(crate::TARGET),
    )
}

/// Returns the model without its revision, or the most specific entry of `compatible`.
fn title(host: &Host) -> String {
    let model = host.model.as_deref().map(without_revision);
    let known = model
        .into_iter()
        .chain(host.compatible.first().map(String::as_str));
    known
        .map(str::trim)
        .find(|text| !text.is_empty())
        .unwrap_or("My board")
        .to_owned()
}

/// Returns a name of lower-case letters, digits and dashes, from the text that identifies the board best.
fn name(host: &Host) -> String {
    let title = title(host);
    let from = host.compatible.first().unwrap_or(&title).to_lowercase();
    let words = from.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    match words.join("-").as_str() {
        "" | "auto" => "my-board".to_owned(),
        name => name.to_owned(),
    }
}

fn detection(host: &Host) -> String {
    let mut text = String::new();
    let is_text = |text: &str| !text.trim().is_empty();
    if let Some((first, others)) = host.compatible.split_first() {
        if is_text(first) {
            text += "# The first entry of /proc/device-tree/compatible, the most specific one.\n";
            if !others.is_empty() {
                let others: Vec<String> = others.iter().map(|other| comment(other)).collect();
                let others = others.join(",\n#   ");
                let _ = writeln!(
                    text,
                    "# The others are shared with other boards:\n#   {others}."
                );
            }
            let _ = writeln!(text, "compatible = [{}]", quoted(first));
        }
    }
    let model = host.model.as_deref().map(without_revision);
    if let Some(model) = model.filter(|model| is_text(model)) {
        let _ = writeln!(text, "model = [{}]", quoted(model));
    }
    if text.is_empty() {
        return text;
    }
    format!("\n[detect]\n{text}")
}

fn defaults(host: &Host) -> String {
    let threads = if host.cpus.len() == 1 {
        "1, 2"
    } else {
        "1, 2, 4"
    };
    format!(
        "\n[defaults]\nthreads = [{threads}]\npayload = [26, 300, 1460]\n\n\
         [timing]\n# To decide. These suit most boards.\nwarmup = \"50ms\"\nheat = \"5s\"\n"
    )
}

fn placement(host: &Host, all_usable: bool) -> String {
    if !all_usable {
        return "\n# [[loopback]] and [[wire]] are left out, because not all CPUs could be used when this was\n\
                # written. The placement is computed.\n"
            .to_owned();
    }
    let mut text = "\n# As computed from capacities and caches. To decide: senders belong on big cores, a sender and its\n\
                    # receiver under one cache; CPU 0, which mostly takes the interrupts, comes last.\n"
        .to_owned();
    for threads in thread_counts(host.cpus.len()) {
        let Placement { senders, receivers } = Placement::generic(threads, &host.cpus);
        let (senders, receivers) = (flat(&senders), flat(&receivers));
        let _ = writeln!(
            text,
            "[[loopback]]\nthreads = {threads}\nsenders = [{}]\nreceivers = [{}]\n",
            list(&senders),
            list(&receivers)
        );
    }
    text += "# With the peer on another machine. CPU 0 is left to the interrupt of the network interface.\n";
    let order = flat(&Placement::apart(host.cpus.len(), &host.cpus, &[0]));
    let wire = [1, 2, 4].into_iter().filter(|&count| count <= order.len());
    let wire = wire.map(|count| {
        format!(
            "[[wire]]\nthreads = {count}\ncpus = [{}]\n",
            list(&order[..count])
        )
    });
    text + &wire.collect::<Vec<_>>().join("\n")
}

/// Returns the thread counts of the default sweep, one thread per CPU, and two per CPU.
fn thread_counts(cpus: usize) -> Vec<Threads> {
    let mut counts = vec![1, 2, 4, cpus, 2 * cpus];
    counts.sort_unstable();
    counts.dedup();
    let threads = counts
        .into_iter()
        .filter_map(|count| Threads::try_from(u16::try_from(count).ok()?).ok());
    threads.collect()
}

fn flat(cpus: &[Option<usize>]) -> Vec<usize> {
    cpus.iter().flatten().copied().collect()
}

fn list(cpus: &[usize]) -> String {
    cpu_list::join(cpus, ", ")
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Removes control characters, so that a comment stays on its line. A host may put anything into its names.
fn comment(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
