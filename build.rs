//! Hands version and target triple to the program, which writes them into every row, and the profiles in `boards/` and the
//! suites in `suites/`, which it has within itself. Leaves out of the program what only unwinding reads.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Takes out what only unwinding reads, where a panic aborts: 0.7 MB on aarch64, 1.9 MB without LTO. It adds to the linker's
/// own layout, as it has an INSERT. A stripped backtrace would name nothing.
const SCRIPT: &str = "\
SECTIONS { /DISCARD/ : { *(.eh_frame .eh_frame_hdr .gcc_except_table .gcc_except_table.*) } } INSERT AFTER .text;
";

/// Linkers that do not know such scripts, as they are named by whoever asked for them.
const OTHERS: [&str; 3] = ["gold", "mold", "wild"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rustc-env=UDPBENCH_TARGET={}", env::var("TARGET")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!(
        "cargo:rustc-env=UDPBENCH_VERSION={}",
        version(&env::var("CARGO_PKG_VERSION")?, &out)
    );
    println!("cargo:rerun-if-changed=build.rs");
    include("boards", "generic", &out)?;
    include("suites", "", &out)?;
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    if aborts() && !has_other_linker() {
        let script = out.join("link.ld");
        fs::write(&script, SCRIPT)?;
        println!("cargo:rustc-link-arg-bins=-T{}", script.display());
    }
    Ok(())
}

/// Profiles that inherit from `release` abort, those from `dev` unwind. Debuggers unwind, too.
fn aborts() -> bool {
    let is = |name: &str, value: &str| env::var(name).as_deref() == Ok(value);
    is("PROFILE", "release") && is("DEBUG", "false") && is("CARGO_CFG_TARGET_OS", "linux")
}

fn has_other_linker() -> bool {
    let asked = ["RUSTC_LINKER", "CARGO_ENCODED_RUSTFLAGS"].map(env::var);
    let asked = asked.map(Result::unwrap_or_default).concat();
    OTHERS.iter().any(|other| asked.contains(other))
}

/// The package's version, and cargo's profile unless that is `dist`. Cargo tells a profile's name by the folder
/// alone that it builds in: `<profile>/build/<package>/out`.
fn version(package: &str, out: &Path) -> String {
    let profile = out.ancestors().nth(3).and_then(Path::file_name);
    match profile.and_then(|profile| profile.to_str()) {
        None | Some("dist") => package.to_owned(),
        Some(profile) => format!("{package}-{profile}"),
    }
}

/// Writes an array of the name of each file and its text; alphabetical, but `first` comes first.
fn include(directory: &str, first: &str, out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={directory}");
    let files = fs::read_dir(env::current_dir()?.join(directory))?;
    let paths = files.map(|file| file.map(|file| file.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension() == Some("toml".as_ref()));
    paths.sort_by_key(|path| (path.file_stem() != Some(first.as_ref()), path.clone()));
    let mut array = String::new();
    for path in paths {
        let names = (path.file_stem().and_then(OsStr::to_str), path.to_str());
        let (Some(name), Some(path)) = names else {
            return Err(format!("{}: not a name", path.display()).into());
        };
        write!(array, "({name:?}, include_str!({path:?})),")?;
    }
    fs::write(
        out.join(directory).with_extension("rs"),
        format!("&[{array}]"),
    )?;
    Ok(())
}
