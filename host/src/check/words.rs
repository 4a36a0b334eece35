//! Words of the findings, which `troubles.toml` has.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use super::{Finding, Unfit};

/// What is said about a trouble. `{NAME}` stands for a value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// The observation. Empty for a problem, which has its sentence in [`Unfit`].
    #[serde(default)]
    seen: String,
    why: String,
    fix: String,
}

static TROUBLES: LazyLock<BTreeMap<String, Words>> =
    LazyLock::new(|| toml::from_str(include_str!("troubles.toml")).expect("tests read it"));

/// Values for the words, by their names there.
pub(crate) type Values<'a> = [(&'a str, &'a dyn Display)];

impl Finding {
    /// Returns the finding about a problem. Its words may name the problem's own data, and `values`.
    pub(super) fn unfit(unfit: Unfit, values: &Values) -> Self {
        let words = &TROUBLES[unfit.code()];
        let own = serde_json::to_value(&unfit).unwrap_or_default();
        let own = own.get(unfit.code()).and_then(Value::as_object);
        let filled = |text: &str| {
            let data = own.into_iter().flatten();
            data.fold(fill(text, values), |text, (name, value)| {
                let value = value.as_str().map_or(value.to_string(), str::to_owned);
                fill(&text, &[(name, &value)])
            })
        };
        let (why, fix) = (filled(&words.why), filled(&words.fix));
        Self::invalid(unfit, why, fix)
    }

    /// Returns the note about the trouble of this name.
    pub(crate) fn noted(name: &str, values: &Values) -> Self {
        let (why, fix) = why_and_fix(name, values);
        Self::note(fill(&TROUBLES[name].seen, values), why, fix)
    }
}

/// Returns why the trouble of this name matters, and what helps.
pub(crate) fn why_and_fix(name: &str, values: &Values) -> (String, String) {
    let words = &TROUBLES[name];
    (fill(&words.why, values), fill(&words.fix, values))
}

fn fill(text: &str, values: &Values) -> String {
    let mut text = text.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("{{{name}}}"), &value.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{fs, io};

    use super::*;

    /// Returns the sources below a folder as one text.
    fn sources(folder: &Path) -> io::Result<String> {
        let mut text = String::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                text += &sources(&path)?;
            } else if path.extension() == Some("rs".as_ref()) {
                text += &fs::read_to_string(path)?;
            }
        }
        Ok(text)
    }

    #[test]
    fn each_trouble_has_words_and_all_words_are_said() {
        let all = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).expect("sources");
        // What a run finds, and no check.
        let of_runs = ["drops-of-others", "program-loses"];
        for code in Unfit::CODES.iter().filter(|code| !of_runs.contains(code)) {
            assert!(TROUBLES.contains_key(*code), "{code}");
        }
        for name in TROUBLES.keys() {
            assert!(all.contains(&format!("\"{name}\"")), "{name} is never said");
        }
        for call in ["noted(", "why_and_fix("] {
            for rest in all.split(call).skip(1) {
                let name = rest.trim_start().strip_prefix('"');
                // Not this text itself.
                let is_name = |name: &str| !name.contains(' ');
                if let Some((name, _)) = name
                    .and_then(|name| name.split_once('"'))
                    .filter(|(name, _)| is_name(name))
                {
                    assert!(TROUBLES.contains_key(name), "{name}");
                }
            }
        }
    }
}
