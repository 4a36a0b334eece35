//! Texts that `build.rs` has packed into the program.

use std::io::Read;
use std::iter;

use flate2::read::DeflateDecoder;

/// The name of each text, which is its file's, and the text, in the order in which they were packed.
///
/// # Panics
/// Never: what is packed is of this build.
pub fn texts(packed: &[u8]) -> Vec<(String, String)> {
    let mut all = String::new();
    let unpacked = DeflateDecoder::new(packed).read_to_string(&mut all);
    unpacked.expect("this build packed it, and its tests read it");
    let mut parts = all.split_terminator('\0').map(str::to_owned);
    iter::from_fn(|| parts.next().zip(parts.next())).collect()
}
