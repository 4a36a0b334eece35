//! Hands version and target triple to the program, which writes them into every row, and the profiles in `boards/` and
//! the suites in `suites/`, which the program has within itself.

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
    pack("boards", "generic", &out)?;
    pack("suites", "", &out)
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

/// The name of each file and its text, both with a NUL behind; alphabetical, but `first` comes first.
fn pack(directory: &str, first: &str, out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={directory}");
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    paths.sort_by_key(|path| (path.file_stem() != Some(first.as_ref()), path.clone()));
    let packed = fs::File::create(out.join(format!("{directory}.deflate")))?;
    let mut encoder = DeflateEncoder::new(packed, Compression::best());
    for path in paths {
        let name = path.file_stem().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| format!("{}: not a name", path.display()))?;
        let text = fs::read_to_string(&path)?;
        write!(encoder, "{name}\0{text}\0")?;
    }
    encoder.finish()?;
    Ok(())
}
