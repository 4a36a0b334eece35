//! The command that measures two settings in turn, for runs that share no case.

use std::collections::{BTreeMap, BTreeSet};

use crate::results::files::Results;
use crate::results::row::{Machine, Row, Status};
use crate::term::shell;
use crate::verdict::rank::{OptionOfCase, engine_options, has_program, options_of_case};

/// Options that a command has even if all cases have the value that is otherwise the default of some board.
const ALWAYS: [&str; 2] = ["--threads", "--payload"];

/// Values of an option in the cases of a side.
type Values = BTreeSet<OptionOfCase>;

/// Returns the command that measures both settings in turn, if the runs are of one machine and one set of engines, and
/// differ in options that can be typed. `None`: they do not, or went to another host, or had a rate.
pub fn command(sides: [&[Results]; 2]) -> Option<String> {
    let rows = sides.map(|files| {
        let rows = files.iter().flat_map(|file| &file.rows);
        let rows = rows.filter(|row| row.status == Status::Ok);
        rows.collect::<Vec<&Row>>()
    });
    let shared = rows.each_ref().map(|rows| {
        let shared = rows.iter().map(|row| (Machine::of(row), engines(row)));
        shared.collect::<BTreeSet<_>>()
    });
    let is_local = |row: &&Row| row.remote.is_empty() && row.target_pps.is_none();
    if shared[0] != shared[1] || !rows.iter().flatten().all(is_local) {
        return None;
    }
    let cases = rows[0].iter().map(|row| row.case);
    let pairs = cases.map(|case| (case.sender, case.receiver)).collect();
    let engines = engine_options(&pairs);
    // The path of a program is in no row.
    if engines.is_empty() || has_program(&pairs) {
        return None;
    }
    let [a, b] = [values(&rows[0])?, values(&rows[1])?];
    let (mut alone, mut both) = ([Vec::new(), Vec::new()], vec![engines]);
    for (flag, in_a) in &a {
        let in_b = b.get(flag)?;
        let shared: Values = in_a.intersection(in_b).cloned().collect();
        if !shared.is_empty() {
            let is_default = shared.iter().all(|it| it.is_default) && !ALWAYS.contains(flag);
            both.extend(typed(&shared).filter(|_| !is_default));
        } else if in_a.len() == in_b.len() {
            for (side, values) in alone.iter_mut().zip([in_a, in_b]) {
                side.extend(typed(values));
            }
        } else {
            return None;
        }
    }
    let [a, b] = alone.map(|options| options.join(" "));
    let side = |flag: &str, options: &str| match options {
        "" => String::new(),
        some => format!(" {flag} {}", shell::word(some)),
    };
    let (a, b) = (side("--a", &a), side("--b", &b));
    (!a.is_empty() || !b.is_empty()).then(|| format!("udpbench ab{a}{b} -- {}", both.join(" ")))
}

fn engines(row: &Row) -> (&str, &str) {
    (&row.sender, &row.receiver)
}

/// Returns the values of each option. `None`: its values differ among the engines to which it applies, or some are the
/// default, which cannot be typed.
fn values(rows: &[&Row]) -> Option<BTreeMap<&'static str, Values>> {
    let mut of_engines: BTreeMap<&str, BTreeMap<(&str, &str), Values>> = BTreeMap::new();
    for row in rows {
        for option in options_of_case(&row.case) {
            let of_flag = of_engines.entry(option.flag).or_default();
            _ = of_flag.entry(engines(row)).or_default().insert(option);
        }
    }
    let of_flag = |(flag, engines): (&'static str, BTreeMap<_, Values>)| {
        let mut all: BTreeSet<Values> = engines.into_values().collect();
        let has_value = |values: &Values| values.iter().any(|it| it.value.is_some());
        if all.iter().any(has_value) {
            all.retain(has_value);
        }
        let values = all.pop_first().filter(|_| all.is_empty())?;
        let is_mixed = values.len() > 1 && values.iter().any(|it| it.value.is_none());
        (!is_mixed).then_some((flag, values))
    };
    of_engines.into_iter().map(of_flag).collect()
}

/// Returns an option with its values, as they are typed. `None`: nothing is typed for its default.
fn typed(values: &Values) -> Option<String> {
    let flag = values.first()?.flag;
    let values: Vec<&str> = values.iter().filter_map(|it| it.value.as_deref()).collect();
    (!values.is_empty()).then(|| format!("{flag} {}", values.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::of_key;
    use crate::verdict::compare::tests::{results, row};

    /// Returns a run of these engines, with a text at the end of the keys of its cases.
    fn run(engines: &[&str], unusual: &str) -> [Results; 1] {
        let rows = engines.iter().map(|engine| {
            let row = row(engine, 1.0);
            Row {
                case: of_key(&(row.case.key() + unusual)),
                ..row
            }
        });
        [results("run.csv", rows.collect())]
    }

    #[test]
    fn two_settings_that_share_no_case_are_typed_on_each_side() {
        let engines = ["mmsg", "std"];
        let command = |before, after| command([&run(&engines, before), &run(&engines, after)]);
        let buffers = "udpbench ab --a '--rcvbuf 65536' --b '--rcvbuf 4194304' -- --engine mmsg,std \
                       --connection unconnected --payload 300 --threads 2";
        assert_eq!(command("/rcvbuf65536", "").as_deref(), Some(buffers));
        let locked = "udpbench ab --b '--mlock on' -- --engine mmsg,std --connection unconnected \
                      --payload 300 --sndbuf 65536 --threads 2";
        let found = command("/sndbuf65536", "/sndbuf65536/mlock-on");
        assert_eq!(found.as_deref(), Some(locked));
        assert_eq!(command("", ""), None);
    }

    #[test]
    fn no_command_is_given_for_other_engines_or_machines() {
        let of = |engines: &[&str]| run(engines, "/rcvbuf65536");
        let base = run(&["mmsg", "std"], "");
        assert_eq!(command([&base, &of(&["std"])]), None);
        assert_eq!(command([&base, &of(&["mmsg", "yours"])]), None);
        let mut other = of(&["mmsg", "std"]);
        assert!(command([&base, &other]).is_some());
        other[0]
            .rows
            .iter_mut()
            .for_each(|row| row.board = "rpi-4b".to_owned());
        assert_eq!(command([&base, &other]), None);
    }
}
