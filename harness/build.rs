//! Hands version and target triple to the program, which writes them into every row, and the profiles in `boards/`,
//! which the program has within itself.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rustc-env=UDPBENCH_TARGET={}", env::var("TARGET")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!(
        "cargo:rustc-env=UDPBENCH_VERSION={}",
        version(&env::var("CARGO_PKG_VERSION")?, &out)
    );
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=boards");
    pack_boards(&out.join("boards.deflate"))
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

/// Each profile's name and its text, both with a NUL behind; alphabetical, but `generic` comes first.
fn pack_boards(packed: &Path) -> Result<(), Box<dyn Error>> {
    let mut paths: Vec<PathBuf> = fs::read_dir("boards")?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    paths.sort_by_key(|path| (!path.ends_with("generic.toml"), path.clone()));
    let mut encoder = DeflateEncoder::new(fs::File::create(packed)?, Compression::best());
    for path in paths {
        let name = path.file_stem().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| format!("{}: not a name", path.display()))?;
        let text = fs::read_to_string(&path)?;
        write!(encoder, "{name}\0{text}\0")?;
    }
    encoder.finish()?;
    Ok(())
}
