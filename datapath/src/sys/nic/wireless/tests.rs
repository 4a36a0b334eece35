//! Tests of what is read of Wi-Fi, with answers made by hand.

use super::*;

/// Returns what a kernel says of a Raspberry Pi's Wi-Fi, made by hand: no radio was at hand to record from.
fn answers() -> [Vec<u8>; 3] {
    let rate = |hundreds: u16| {
        // A driver also sends flags, such as the width.
        let width = attribute(3, &[]);
        [attribute(RATE_BITRATE, &hundreds.to_ne_bytes()), width].concat()
    };
    let number = |kind, number: u32| attribute(kind, &number.to_ne_bytes());
    let station = [
        attribute(STA_SIGNAL, &[(-61_i8).to_ne_bytes()[0]]),
        attribute(STA_TX_BITRATE, &rate(722)),
        attribute(STA_RX_BITRATE, &rate(650)),
        number(STA_TX_PACKETS, 90_000),
        number(STA_TX_RETRIES, 1234),
        number(STA_TX_FAILED, 5),
        attribute(STA_SIGNAL_AVERAGE, &[(-58_i8).to_ne_bytes()[0]]),
    ];
    let of_interface = [attribute(4, b"wlan0\0"), number(ATTR_WIPHY_FREQ, 5180)];
    // Nested attributes have the highest bit of their kind set.
    let station = attribute(0x8000 | ATTR_STA_INFO, &station.concat());
    [of_interface.concat(), number(ATTR_PS_STATE, 1), station]
}

#[test]
fn the_state_of_a_radio_is_read_from_three_answers() {
    let mut state = Wireless::default();
    for answer in answers() {
        state.take(&answer);
    }
    let expected = Wireless {
        power_save: Some(true),
        frequency_mhz: Some(5180),
        signal_dbm: Some(-58),
        tx_kbps: Some(72_200),
        rx_kbps: Some(65_000),
        tx_packets: Some(90_000),
        tx_retries: Some(1234),
        tx_failed: Some(5),
    };
    assert_eq!(state, expected);
    assert_eq!(state.channel(), Some(36));
    let rate = [
        attribute(RATE_BITRATE, &u16::MAX.to_ne_bytes()),
        attribute(RATE_BITRATE32, &86_010_u32.to_ne_bytes()),
    ];
    assert_eq!(bit_rate(&rate.concat()), Some(8_601_000));
}

#[test]
fn an_answer_that_is_cut_off_leaves_out_the_rest() {
    for answer in answers() {
        for end in 0..answer.len() {
            Wireless::default().take(&answer[..end]);
        }
    }
    assert_eq!(bit_rate(&[]), None);
}

#[test]
fn channels_have_the_numbers_of_the_standard() {
    let channel = |frequency_mhz| {
        let state = Wireless {
            frequency_mhz: Some(frequency_mhz),
            ..Wireless::default()
        };
        state.channel()
    };
    let known = [
        (2412, 1),
        (2472, 13),
        (2484, 14),
        (5180, 36),
        (5825, 165),
        (5955, 1),
    ];
    for (mhz, number) in known {
        assert_eq!(channel(mhz), Some(number), "{mhz}");
    }
    assert_eq!((channel(2400), channel(60_480)), (None, None));
}

#[test]
fn loopback_is_not_wireless() {
    assert_eq!(Wireless::read("lo"), None);
    let refused = power_save("lo").expect_err("it is not");
    assert_eq!(refused.kind(), io::ErrorKind::Unsupported, "{refused}");
    let refused = set_power_save("lo", false).expect_err("nothing to set");
    assert!(refused.raw_os_error().is_some(), "{refused}");
    assert_eq!(Wireless::read("nope"), None);
}
