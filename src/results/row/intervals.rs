//! Columns that belong together: an estimate and the bounds of its interval.

use super::Row;

/// An estimate with the lower and the upper bound of its interval, as far as they are known.
pub type Interval = [Option<f64>; 3];

macro_rules! intervals {
    ($($name:ident: $estimate:ident, $low:ident, $high:ident;)+) => {
        impl Row {$(
            #[doc = concat!("Returns `", stringify!($estimate), "` with its interval.")]
            pub fn $name(&self) -> Interval {
                [self.$estimate, self.$low, self.$high]
            }
        )+}
    };
}

intervals! {
    mbps: received_mbps, received_mbps_low, received_mbps_high;
    pps: received_pps, received_pps_low, received_pps_high;
    cpu_ns: cpu_ns_per_packet, cpu_ns_per_packet_low, cpu_ns_per_packet_high;
    energy_nj: energy_nj_per_packet, energy_nj_per_packet_low, energy_nj_per_packet_high;
    p50_us: rtt_p50_us, rtt_p50_us_low, rtt_p50_us_high;
    p99_us: rtt_p99_us, rtt_p99_us_low, rtt_p99_us_high;
    to_std: ratio_to_std, ratio_to_std_low, ratio_to_std_high;
    cpu_to_std: cpu_ratio_to_std, cpu_ratio_to_std_low, cpu_ratio_to_std_high;
    to_half: ratio_to_half, ratio_to_half_low, ratio_to_half_high;
}
