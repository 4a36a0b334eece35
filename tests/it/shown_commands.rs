//! Checks that the program accepts every command line and option shown in pages and help texts.

use std::fs;
use std::sync::LazyLock;

use clap::Command;
use clap::error::ErrorKind;
use udpbench::cli::Cli;

use crate::common::pages::{pages, root};
use crate::common::{Place, stdout};

/// Options of cargo and of scripts, which pages show beside those of udpbench.
const OF_OTHERS: [&str; 17] = [
    "--",
    "--all",
    "--git",
    "--htb",
    "--jump",
    "--mtu",
    "--no-default-features",
    "--pkg-url",
    "--plan",
    "--profile",
    "--release",
    "--remap-path-prefix",
    "--session",
    "--silence",
    "--tbf",
    "--test-wire",
    "--zig",
];

#[test]
fn every_command_of_a_page_is_taken() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("it is there");
        let name = page.strip_prefix(root()).expect("below it").display();
        for line in code_lines(&text) {
            for command in commands(line.split(" #").next().unwrap_or_default()) {
                count += 1;
                wrong.extend(refusal(&command).map(|why| format!("{name}: {command}: {why}")));
            }
        }
        for code in inline_codes(&text) {
            for command in commands(&code) {
                count += 1;
                wrong.extend(refusal(&command).map(|why| format!("{name}: {command}: {why}")));
            }
            if code.starts_with("--") {
                count += 1;
                wrong.extend(refusal_of_options(&code).map(|why| format!("{name}: {code}: {why}")));
            }
        }
    }
    assert!(count > 300, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_example_of_a_help_text_is_taken() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for command in &*ALL {
        let help = command.get_after_long_help().map(ToString::to_string);
        for line in help.unwrap_or_default().lines() {
            // What it does stands behind two blanks.
            let example = line.strip_prefix("  ").unwrap_or_default();
            let example = example.split("  ").next().unwrap_or_default();
            let shown = example.starts_with("udpbench ").then(|| commands(example));
            for command in shown.into_iter().flatten() {
                count += 1;
                wrong.extend(refusal(&command).map(|why| format!("{command}: {why}")));
            }
        }
    }
    assert!(count > 30, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_steps_after_a_poor_run_are_whole_commands() {
    let place = Place::new();
    let typed =
        "--engine std,mmsg --threads 2 --payload 300 --warmup 5ms --heat 0s --duration 20ms";
    let output = place.run(&format!("{typed} --rounds 5 -o run.csv"));
    let said = stdout(&output);
    let next = said.split("\nnext     ").nth(1);
    let next = next.unwrap_or_else(|| panic!("{said}"));
    let mut shown = Vec::new();
    // Each step is a line and those that continue it.
    let next = next.replace("\n         ", " ");
    for command in next.split("udpbench ").skip(1) {
        let step = command.split_whitespace().collect::<Vec<_>>().join(" ");
        shown.push(format!("udpbench {step}"));
    }
    let again = format!("udpbench {typed} --rounds 6");
    assert!(shown.iter().any(|it| it.starts_with(&again)), "{shown:?}");
    let is_loose = |it: &String| it.contains("this again");
    assert!(!shown.iter().any(is_loose), "{shown:?}");
}

#[test]
fn a_command_that_is_none_is_found() {
    for (shown, is_wrong) in [
        ("udpbench --workload paced", true),
        ("udpbench frobnicate", true),
        ("udpbench find", false),
        ("udpbench --seed N", false),
    ] {
        assert_eq!(refusal(shown).is_some(), is_wrong, "{shown}");
    }
    for (shown, is_wrong) in [
        ("--workload paced", true),
        ("--frobnicate", true),
        ("--trial 2s --sum 60s", false),
        ("--board", false),
    ] {
        assert_eq!(refusal_of_options(shown).is_some(), is_wrong, "{shown}");
    }
}

/// Lines of code, each with those that continue it.
pub(crate) fn code_lines(page: &str) -> Vec<String> {
    let mut is_fenced = false;
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if goes_on {
            let last = lines.last_mut().expect("the line that goes on");
            last.push_str(line.trim_start());
        } else if is_fenced || line.starts_with("    ") {
            lines.push(line.to_owned());
        } else {
            continue;
        }
        goes_on = false;
        if let Some(last) = lines.last_mut().filter(|last| last.ends_with('\\')) {
            last.pop();
            goes_on = true;
        }
    }
    lines
}

/// Returns the texts between backquotes, also across the end of a line.
pub(crate) fn inline_codes(page: &str) -> Vec<String> {
    let prose: Vec<&str> = page
        .lines()
        .filter(|line| !line.starts_with("    "))
        .collect();
    let paragraphs = prose.join("\n");
    let paragraphs = paragraphs.split("\n\n");
    let codes = paragraphs.flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    codes.map(|code| code.replace('\n', " ")).collect()
}

/// The command lines of udpbench in a line of shell.
fn commands(line: &str) -> Vec<String> {
    let parts = line
        .split(['|', ';', '>'])
        .flat_map(|part| part.split("&&"));
    let command = |part: &str| {
        let at = part.find("udpbench ")?;
        let is_word = part[..at].ends_with([' ', '/', '(']) || at == 0;
        // Not one that is copied, chosen as a package, or said by the program.
        let is_program = !["=", "\"", "-p ", "cargo add ", "scp "]
            .iter()
            .any(|it| part[..at].contains(it));
        let command = &part[at..];
        let is_whole = !command.contains("...") && !command.contains(['[', '<', '$', '~']);
        let is_whole = is_whole && !command["udpbench ".len()..].starts_with("0.1.0");
        (is_word && is_program && is_whole).then(|| command.trim().to_owned())
    };
    parts.filter_map(command).collect()
}

/// Returns the reason why the program refuses a command line.
fn refusal(command: &str) -> Option<String> {
    refused(words(command))
}

fn refused(words: Vec<String>) -> Option<String> {
    let is_placeholder = |word: &String| word.chars().all(|letter| letter.is_ascii_uppercase());
    let has_placeholder = words.iter().any(is_placeholder);
    let error = Cli::try_parse_from(words).err()?;
    let is_taken = match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::MissingSubcommand
        | ErrorKind::MissingRequiredArgument => true,
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => has_placeholder,
        _ => false,
    };
    let text = error.to_string();
    (!is_taken).then(|| text.lines().next().unwrap_or_default().to_owned())
}

/// Returns the reason why no command of the program takes these options.
fn refusal_of_options(code: &str) -> Option<String> {
    let words = words(code);
    let flag = words[0].split('=').next().unwrap_or_default();
    if OF_OTHERS.contains(&flag) {
        return None;
    }
    let has_flag = |command: &&Command| {
        let mut options = command
            .get_arguments()
            .filter_map(|option| option.get_long());
        options.any(|long| Some(long) == flag.strip_prefix("--"))
    };
    let mut why = Some("no command has this option".to_owned());
    for command in ALL.iter().filter(has_flag) {
        let name = command.get_bin_name().unwrap_or("udpbench");
        let path = name.split(' ').map(str::to_owned);
        why = (words.len() > 1)
            .then(|| refused(path.chain(words.clone()).collect()))
            .flatten();
        why.as_ref()?;
    }
    why
}

/// The program, and its commands, and theirs.
static ALL: LazyLock<Vec<Command>> = LazyLock::new(|| {
    let mut root = Cli::command();
    root.build();
    let (mut waiting, mut all) = (vec![root], Vec::new());
    while let Some(command) = waiting.pop() {
        waiting.extend(command.get_subcommands().cloned());
        all.push(command);
    }
    all
});

/// The words of a line of shell, without their quotation marks.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for letter in line.chars() {
        match letter {
            '\'' | '"' if quote.is_none() => quote = Some(letter),
            _ if quote == Some(letter) => quote = None,
            ' ' if quote.is_none() => words.push(String::new()),
            _ => words.last_mut().expect("one at least").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
