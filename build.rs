//! Leaves out of the program what only unwinding reads, where a panic aborts: 0.7 MB on aarch64, 1.9 MB without LTO.

use std::path::PathBuf;
use std::{env, fs, io};

/// Adds to the linker's own layout, as it has an INSERT. A stripped backtrace would name nothing.
const SCRIPT: &str = "\
SECTIONS { /DISCARD/ : { *(.eh_frame .eh_frame_hdr .gcc_except_table .gcc_except_table.*) } } INSERT AFTER .text;
";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).as_deref() == Ok(value);
    // Profiles that inherit from `release` abort, those from `dev` unwind. Debuggers unwind, too.
    if is("PROFILE", "release") && is("DEBUG", "false") && is("CARGO_CFG_TARGET_OS", "linux") {
        let out = env::var_os("OUT_DIR").map(PathBuf::from);
        let script = out.unwrap_or_default().join("link.ld");
        fs::write(&script, SCRIPT)?;
        println!("cargo:rustc-link-arg-bins=-T{}", script.display());
    }
    Ok(())
}
