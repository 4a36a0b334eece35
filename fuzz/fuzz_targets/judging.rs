//! Two files of results of any bytes, a zero byte between them: what can be read is compared and ranked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use udpbench::verdict::compare::{self, Options, table::Detail};
use udpbench::verdict::rank::{self, By, table::View};
use udpbench::results::files::Results;

fuzz_target!(|bytes: &[u8]| {
    let mut files = bytes.splitn(2, |&byte| byte == 0);
    let mut read = |name| Results::from_csv(name, files.next()?).ok();
    let Some(base) = read("base.csv") else {
        return;
    };
    let results: Vec<Results> = [Some(base), read("new.csv")].into_iter().flatten().collect();
    let comparison = compare::compare(&results[0], &results, Options::default());
    compare::table::draw(&comparison, Detail::All, 60);
    udpbench::results::export::csv::encode(&compare::rows::rows(&comparison)).expect("every change can be written");
    let view = View { by: By::Both, top: 3, detail: rank::table::Detail::Settings };
    rank::table::draw(&rank::rank(&results), view, 60);
});
