//! Hands the target triple to the program, which writes it into every row.

fn main() {
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo:rustc-env=UDPBENCH_TARGET={target}");
    println!("cargo:rerun-if-changed=build.rs");
}
