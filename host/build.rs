//! Hands version and target triple to the program, which writes them into every row, and the profiles in `boards/`,
//! which it has within itself.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo:rustc-env=UDPBENCH_TARGET={}", env::var("TARGET")?);
    println!(
        "cargo:rustc-env=UDPBENCH_VERSION={}",
        version(&env::var("CARGO_PKG_VERSION")?, &out)
    );
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=boards");
    fs::write(out.join("boards.rs"), profiles()?)?;
    Ok(())
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

/// Returns an array of the name of each profile and its text; alphabetical, but `generic` comes first.
fn profiles() -> Result<String, Box<dyn Error>> {
    let mut paths = Vec::new();
    for file in fs::read_dir(env::current_dir()?.join("boards"))? {
        paths.push(file?.path());
    }
    paths.retain(|path| path.extension() == Some("toml".as_ref()));
    paths.sort_by_key(|path| (path.file_stem() != Some("generic".as_ref()), path.clone()));
    let mut array = String::new();
    for path in paths {
        let name = path
            .file_stem()
            .and_then(OsStr::to_str)
            .ok_or("not a name")?;
        let path = path.to_str().ok_or("not a path")?;
        write!(array, "({name:?}, include_str!({path:?})),")?;
    }
    Ok(format!("&[{array}]"))
}
