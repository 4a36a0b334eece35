//! A row of a sweep between two hosts.

use super::*;

/// From a laptop to a board.
pub(crate) fn row_of_a_wire() -> Row {
    let text = str::to_owned;
    Row {
        case: text("std:std/2t/300B/connected/v4/up"),
        direction: Some(Direction::Up),
        board: text("generic"),
        model: text("a laptop"),
        cpu_model: String::new(),
        arch: text("x86_64"),
        virtualization: String::new(),
        there: text("pi@board"),
        there_board: text("rpi-4b"),
        there_model: text("Raspberry Pi 4 Model B"),
        there_cpu_model: text("Cortex-A72"),
        there_machine: text("aarch64"),
        there_kernel: text("6.12.0"),
        ..ordinary_row()
    }
}
