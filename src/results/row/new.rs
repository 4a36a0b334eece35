//! Computation of all columns of a row. A forgotten column does not compile.

use super::contamination::Windows;
use super::derived::{self, Speeds, cpu_ns_per_packet, high, low, middle, received_pps};
use super::energy::Energy;
use super::environment::{self, known};
use super::fairness::Fairness;
use super::pacing::{self, Gaps};
use super::round_trips::{self, Latencies};
use super::rounding::{decimals, milliseconds};
use super::{
    Environment, Machine, Row, RowInput, Status, busy_polled, counters_by_name, doubts, earlier,
    preempted, residual, sensor_readings, status,
};
use crate::data::{Case, Outstanding, Sharing};
use crate::host::facts::Host;

impl Row {
    /// Computes a row.
    #[expect(clippy::too_many_lines, reason = "a line for each column")]
    pub fn new(input: &RowInput, environment: &Environment) -> Self {
        let (case, samples, verified) = (input.case, input.samples, input.verified);
        let (status, reason) = status::status(input);
        // A starved or faulty case has counts, but no rate.
        let speaks = status == Status::Ok || status == Status::Interrupted;
        let windows = Windows::new(samples, input.reference, environment);
        let speeds = if speaks {
            windows.speeds()
        } else {
            Speeds::of(&[], &[])
        };
        let residual_sd_pct = |value| {
            let found = residual::sd_pct(samples, input.others, value).filter(|_| speaks);
            found.map(decimals::<3>)
        };
        // A rate that was set is no result.
        let ratio = speeds.ratio.filter(|_| case.rate.is_none());
        let to_half = derived::ratio(samples, input.half).filter(|_| speaks);
        let all = Latencies::of(samples);
        let is_overloaded = doubts::overload(case, samples).is_some();
        let latencies = Latencies::of(samples.iter().filter(|_| speaks && !is_overloaded));
        let [p50, p90, p99, p999, p9999] = latencies.quantiles_us();
        let taken_pct = |what| preempted::taken_pct(samples, what).map(decimals::<2>);
        let earlier_pct = earlier::next_run_pct(input.earlier_pps).filter(|_| speaks);
        let fairness = Fairness::of(samples);
        let gaps = Gaps::of(samples);
        let energy = if speaks {
            Energy::of(samples, input.idle_powers)
        } else {
            Energy::default()
        };
        let accounting = (!samples.is_empty()).then(|| derived::total_accounting(samples));
        let places = accounting.filter(|_| case.direction.is_some());
        let places = places.map(|accounting| accounting.places);
        let host = &environment.host;
        let remote = input.wire.map(|wire| &wire.host);
        let of_remote = |of: fn(&Host) -> &Option<String>| {
            remote.map_or_else(String::new, |host| known(of(host).as_ref()))
        };
        let mut row = Self {
            engine: case.label(),
            sender: case.sender.to_string(),
            receiver: case.receiver.to_string(),
            threads: case.threads,
            payload_bytes: case.payload,
            connection: case.connection,
            ip: case.ip,
            received_mbps: middle::<3>(speeds.received_mbps),
            received_mbps_low: low::<3>(speeds.received_mbps),
            received_mbps_high: high::<3>(speeds.received_mbps),
            received_pps: middle::<0>(speeds.received_pps),
            received_pps_low: low::<0>(speeds.received_pps),
            received_pps_high: high::<0>(speeds.received_pps),
            loss_pct: accounting.and_then(derived::loss_pct),
            cpu_ns_per_packet: middle::<1>(speeds.cpu_ns_per_packet),
            cpu_ns_per_packet_low: low::<1>(speeds.cpu_ns_per_packet),
            cpu_ns_per_packet_high: high::<1>(speeds.cpu_ns_per_packet),
            ratio_to_std: middle::<4>(ratio),
            ratio_to_std_low: low::<4>(ratio),
            ratio_to_std_high: high::<4>(ratio),
            status,
            reason,
            warnings: status::warnings(input, environment, &windows, &speeds, &latencies),
            case: *case,
            senders: case.threads.senders(),
            receivers: case.threads.receivers(),
            batch: case.batch,
            train: case.train,
            loopback: case.loopback,
            priority: case.priority,
            checksum: case.checksum,
            cmsg: case.cmsg,
            busy_poll: case.busy_poll,
            busy_poll_by: busy_polled::by(samples),
            busy_poll_napi_pct: busy_polled::napi_pct(samples).map(decimals::<1>),
            tokio_workers: case.tokio_workers,
            wait: case.wait,
            rcvbuf_requested_bytes: case.requested_rcvbuf(),
            sndbuf_requested_bytes: case.sndbuf,
            tos: case.tos,
            sched: case.sched,
            mlock: case.mlock,
            workload: case.workload.unwrap_or_default(),
            transport: case.transport(),
            address: case.address.unwrap_or_default(),
            direction: case.direction,
            duplex: case.duplex(),
            flows: case.flows,
            outstanding: (case.is_rr() && !case.is_open_loop())
                .then(|| case.outstanding.unwrap_or(Outstanding::DEFAULT)),
            target_pps: case.rate_in_datagrams(),
            arrivals: case.rate.map(|_| case.arrivals.unwrap_or_default()),
            think_time: case.think_time,
            service_time: case.service,
            server_model: case.is_rr().then(|| case.server_model.unwrap_or_default()),
            sharing: case.sharing.map(Sharing::kind),
            spread: case.sharing.and_then(Sharing::spread),
            pin: input.pin.cloned(),
            rounds: samples.len().try_into().unwrap_or(u32::MAX),
            window_ms: derived::window_ms(samples),
            warmup_ms: input.warmup_ms(),
            settles_ms: input.settles_after.map(milliseconds),
            sent_pps: middle::<0>(speeds.sent_pps),
            late_packets: pacing::late(samples),
            gap_p50_us: gaps.as_ref().and_then(|gaps| gaps.quantile_us(0.5)),
            gap_p99_us: gaps.as_ref().and_then(|gaps| gaps.quantile_us(0.99)),
            gap_max_us: gaps.as_ref().and_then(Gaps::longest_us),
            gap_source: gaps.as_ref().map_or("", Gaps::source).to_owned(),
            rtt_p50_us: middle::<3>(p50),
            rtt_p50_us_low: low::<3>(p50),
            rtt_p50_us_high: high::<3>(p50),
            rtt_p90_us: middle::<3>(p90),
            rtt_p90_us_low: low::<3>(p90),
            rtt_p90_us_high: high::<3>(p90),
            rtt_p99_us: middle::<3>(p99),
            rtt_p99_us_low: low::<3>(p99),
            rtt_p99_us_high: high::<3>(p99),
            rtt_p999_us: middle::<3>(p999),
            rtt_p999_us_low: low::<3>(p999),
            rtt_p9999_us: middle::<3>(p9999),
            rtt_p9999_us_low: low::<3>(p9999),
            rtt_max_us: latencies.longest_us(),
            rtt_mean_us: latencies.mean_us(),
            rtt_sd_us: latencies.sd_us(),
            wakeup_p50_us: latencies.wakeup_us(),
            answered_requests: all.total(|all| all.times.count()),
            unanswered_requests: all.total(|all| all.unanswered),
            late_responses: all.total(|all| all.late),
            sent_packets: accounting.map(|accounting| accounting.sent),
            received_packets: accounting.map(|accounting| accounting.received),
            unread_packets: accounting.map(|accounting| accounting.unread),
            refused_packets: accounting.map(|accounting| accounting.refused),
            dropped_socket_packets: accounting.map(|accounting| accounting.dropped_socket),
            dropped_kernel_packets: accounting
                .filter(|_| case.direction.is_none())
                .map(|accounting| accounting.dropped_kernel),
            dropped_kernel_out_packets: places.map(|places| places.kernel_out),
            dropped_qdisc_packets: places.map(|places| places.qdisc),
            dropped_nic_out_packets: places.map(|places| places.nic_out),
            lost_on_path_packets: places.map(|places| places.path),
            dropped_nic_in_packets: places.map(|places| places.nic_in),
            dropped_backlog_packets: places.map(|places| places.backlog),
            dropped_kernel_in_packets: places.map(|places| places.kernel_in),
            dropped_protocol_packets: places.map(|places| places.protocol),
            unexpected_packets: places.map(|places| places.surplus),
            nic_counters: counters_by_name::of_nics(samples),
            drop_reasons: counters_by_name::drop_reasons(samples),
            unaccounted_packets: accounting.map(|accounting| accounting.unaccounted),
            queue_growth_packets: accounting
                .filter(|_| case.direction.is_none())
                .map(|_| derived::queue_growth(samples)),
            verified_packets: verified.map(|found| found.packets),
            missing_packets: verified.and_then(|found| found.missing),
            duplicated_packets: verified.map(|found| found.duplicated),
            reordered_packets: verified.map(|found| found.reordered),
            reordering_extent: verified.map(|found| found.reordering_extent),
            jitter_us: verified
                .and_then(|found| found.jitter_ns)
                .map(|ns| decimals::<3>(ns as f64 / 1e3)),
            truncated_packets: verified.map(|found| found.truncated),
            corrupted_packets: verified.map(|found| found.corrupted),
            failed_calls: accounting.map(|_| derived::failed_calls(samples)),
            sender_cpu_ns_per_packet: middle::<1>(speeds.sender_cpu_ns_per_packet),
            receiver_cpu_ns_per_packet: middle::<1>(speeds.receiver_cpu_ns_per_packet),
            other_cpu_ns_per_packet: middle::<1>(speeds.other_cpu_ns_per_packet),
            power_w: middle::<4>(energy.power_w),
            power_w_low: low::<4>(energy.power_w),
            power_w_high: high::<4>(energy.power_w),
            idle_power_w: energy.idle_w.map(decimals::<4>),
            energy_nj_per_packet: middle::<1>(energy.nj_per_packet),
            energy_nj_per_packet_low: low::<1>(energy.nj_per_packet),
            energy_nj_per_packet_high: high::<1>(energy.nj_per_packet),
            power_meter: input.meter.clone().unwrap_or_default(),
            cpu_ratio_to_std: middle::<4>(speeds.cpu_ratio),
            cpu_ratio_to_std_low: low::<4>(speeds.cpu_ratio),
            cpu_ratio_to_std_high: high::<4>(speeds.cpu_ratio),
            ratio_to_half: middle::<4>(to_half),
            ratio_to_half_low: low::<4>(to_half),
            ratio_to_half_high: high::<4>(to_half),
            interval_pct: speeds.interval_pct,
            cv_pct: speeds.cv_pct,
            ratio_pairs: speeds.ratio.map(|_| speeds.pairs),
            ratio_sd_pct: speeds.ratio_sd_pct,
            cpu_ratio_sd_pct: speeds.cpu_ratio_sd_pct,
            residual_sd_pct: residual_sd_pct(received_pps),
            residual_cpu_sd_pct: residual_sd_pct(cpu_ns_per_packet),
            residual_rtt_sd_pct: residual_sd_pct(round_trips::median_ns).filter(|_| p50.is_some()),
            earlier_runs: earlier_pct.map(|_| input.earlier_pps.len()),
            earlier_runs_pct: earlier_pct.map(decimals::<1>),
            preempted_pct: windows.preempted_pct.map(decimals::<2>),
            steal_pct: taken_pct(|taken| taken.steal_ns),
            irq_pct: taken_pct(|taken| taken.irq_ns),
            softirq_pct: taken_pct(|taken| taken.softirq_ns),
            disturbed_windows: accounting.map(|_| windows.disturbed()),
            contaminated_windows: accounting.map(|_| windows.contaminated),
            repeated_windows: accounting.map(|_| input.repeated.len()),
            ended_by: status::ended_by(&input.outcome).to_owned(),
            until_pct: input.until_pct,
            receiver_share_min_pct: derived::receiver_share_min_pct(samples),
            jains_index: fairness.as_ref().and_then(Fairness::jains_index),
            slowest_flow_pps: fairness
                .as_ref()
                .and_then(Fairness::slowest_pps)
                .filter(|_| speaks),
            fastest_flow_pps: fairness
                .as_ref()
                .and_then(Fairness::fastest_pps)
                .filter(|_| speaks),
            starved_flows: fairness.as_ref().map(Fairness::starved),
            rcvbuf_bytes: samples.first().map(|sample| sample.rcvbuf_bytes),
            sndbuf_bytes: samples.first().map(|sample| sample.sndbuf_bytes),
            board: environment.board.clone(),
            model: known(host.model.as_ref()),
            soc: known(host.soc.as_ref()),
            cpu_model: known(host.cpu_model.as_ref()),
            arch: host.build.arch.clone(),
            target: host.build.target.clone(),
            machine: known(host.machine.as_ref()),
            virtualization: known(host.virtualization.as_ref()),
            kernel: known(host.kernel.as_ref()),
            preemption: known(host.preemption.as_ref()),
            page_bytes: host.page_bytes,
            irq_time_accounting: environment::irq_time_accounting(host).to_owned(),
            governor: known(host.governor.as_ref()),
            cpufreq_driver: host.cpufreq_driver().unwrap_or_default(),
            freq_min_mhz: environment::mhz(host, |policy| policy.min_khz, u64::min),
            freq_max_mhz: environment::mhz(host, |policy| policy.max_khz, u64::max),
            freq_low_mhz: sensor_readings::freq_low_mhz(samples),
            clock_min_pct: sensor_readings::clock_min_pct(samples, &environment.cpu_speeds),
            clocksource: known(host.clocksource.as_ref()),
            cpuidle_driver: known(host.cpuidle_driver.as_ref()),
            idle_states: sensor_readings::idle_states(samples),
            isolated_cpus: environment::isolated_cpus(host),
            load_1min: host.load_1min.map(decimals::<2>),
            rps_cpus: environment::rps_cpus(host),
            conntrack_entries: host.conntrack.map(|conntrack| conntrack.entries),
            nic_irq_cpus: environment::nic_irq_cpus(host),
            temp_c_start: sensor_readings::temp_c_start(samples),
            temp_c_end: sensor_readings::temp_c_end(samples),
            temp_c_max: sensor_readings::temp_c_max(samples),
            throttled: sensor_readings::throttled(samples),
            nic: input.nics.0.clone(),
            remote: input.wire.map_or_else(String::new, |wire| wire.to.clone()),
            remote_board: input
                .wire
                .map_or_else(String::new, |wire| wire.board.clone()),
            remote_model: of_remote(|host| &host.model),
            remote_cpu_model: of_remote(|host| &host.cpu_model),
            remote_machine: of_remote(|host| &host.machine),
            remote_kernel: of_remote(|host| &host.kernel),
            remote_governor: of_remote(|host| &host.governor),
            remote_nic: input.nics.1.clone(),
            machine_id: String::new(),
            seed: input.schedule.map_or(0, |it| it.seed),
            started_at: derived::started_at(samples),
            version: host.build.version.clone(),
        };
        row.machine_id = Machine::of(&row).to_string();
        row
    }

    /// Returns the row that follows from a case alone. Columns that need more are empty.
    pub fn of_case(case: &Case) -> Self {
        let input = RowInput::skipped(case, String::new());
        Self {
            machine_id: String::new(),
            ..Self::new(&input, &Environment::default())
        }
    }
}
