//! Temperatures and the firmware's throttle bits, where a board has them.

use crate::sys::files::Root;

/// The hottest thermal zone, in thousandths of a degree Celsius.
pub fn hottest_millic(root: &Root) -> Option<i32> {
    let zones = root.names("sys/class/thermal", "thermal_zone");
    zones
        .iter()
        .filter_map(|zone| root.number(format!("sys/class/thermal/{zone}/temp")))
        .max()
}

/// The Raspberry Pi firmware's throttle bits (`get_throttled`): 0 under-voltage, 1 frequency capped,
/// 2 throttled, 3 soft temperature limit; the same from bit 16 on for "has happened since".
///
/// The file holds hexadecimal without `0x` (raspberrypi/linux `drivers/firmware/raspberrypi.c`). Its
/// sticky half is cleared by the kernel's own polling every 2 s: read it often and OR what it says.
pub fn throttle_bits(root: &Root) -> Option<u32> {
    // The firmware node hangs below `soc`, whose name carries an address on a Pi 5 (`soc@107c000000`).
    root.names("sys/devices/platform", "soc")
        .iter()
        .flat_map(|soc| {
            let directory = format!("sys/devices/platform/{soc}");
            let nodes = root.names(&directory, "soc").into_iter();
            nodes.map(move |node| format!("{directory}/{node}/get_throttled"))
        })
        .find_map(|path| u32::from_str_radix(root.text(path)?.trim(), 16).ok())
}
