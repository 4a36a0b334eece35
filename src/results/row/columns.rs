//! The columns of the results: the one place where a column is named, explained and computed, from what
//! `computed.rs` collects. The header of a CSV, docs/COLUMNS.md and docs/rows.schema.json follow from here. A new
//! column is an entry.

use super::column::{self, Column, Short, columns, decimals, milliseconds};
use super::computed::Computed;
use super::derived::{self, cpu_ns_per_packet, high, low, middle, received_pps};
use super::input::{self, known, safe};
use super::sensors::{self, celsius};
use super::traffic::{self, Gaps};
use super::{NicText, Reason, Status, Warning, of_case, path, round_trips, status};
use crate::data::{
    Arrivals, Batch, Buffer, BusyPoll, Case, Checksum, Cmsg, Connection, Destination, Direction,
    Duplex, Flows, Ip, LoopbackTrains, Mlock, Outstanding, Payload, Priority, Rate, Sched,
    ServerModel, ServiceTime, Sharing, SharingKind, Spread, ThinkTime, Threads, Tos, Train,
    Transport, Wait, Workers, Workload,
};
use crate::host::placement::Placement;
use crate::stats;

// A sentence; name: type, unit, what it covers, when a CSV has it by default, when it is empty => its value.
// An estimate goes on: decimals, method of Row for it and its bounds, their names, and when CSVs have them and they are
// empty.
columns! { |it: &Computed|
    "What people plot" {
        /// Engine as tables name it, such as `gso>gro` or `mmsg/32`.
        engine: String, "", Plan, Always, "never" => it.case.label();
        /// Engine of the senders.
        sender: String, "", Plan, Always, "never" => it.case.sender.to_string();
        /// Engine of the receivers.
        receiver: String, "", Plan, Always, "never" => it.case.receiver.to_string();
        /// Threads in all; 1 sends and receives in turn.
        threads: Threads, "", Plan, Always, "never" => it.case.threads;
        /// UDP payload of each datagram.
        payload_bytes: Payload, "B", Plan, Always, "never" => it.case.payload;
        /// `connected` (send, recv) or `unconnected` (send_to, recv_from).
        connection: Connection, "", Plan, Always, "never" => it.case.connection;
        /// `v4` (127.0.0.1) or `v6` (::1); see `address`.
        ip: Ip, "", Plan, Always, "never" => it.case.ip;
        /// Payload received per second; 1 Mb is 10^6 bits.
        received_mbps: Option<f64>, "Mb/s", Window, Flood, "no speed" => it.over(derived::received_mbps),
            3 in mbps(received_mbps_low, received_mbps_high), Flood, "no speed, 1 window";
        /// Datagrams received per second.
        received_pps: Option<f64>, "1/s", Window, Always, "no speed" => it.over(received_pps),
            0 in pps(received_pps_low, received_pps_high), Always, "no speed, 1 window";
        /// Share of the sent datagrams that were not received.
        loss_pct: Option<f64>, "%", Drain, Always, "no window, none sent" =>
            it.accounting.and_then(derived::loss_pct);
        /// CPU time of all bench threads per datagram received.
        cpu_ns_per_packet: Option<f64>, "ns", Window, Cpu, "no speed" => it.over(cpu_ns_per_packet),
            1 in cpu_ns(cpu_ns_per_packet_low, cpu_ns_per_packet_high), Cpu, "no speed, 1 window";
        /// `received_pps` over the reference's in the same round.
        ratio_to_std: Option<f64>, "", Window, Ratio, "no speed, no reference" =>
            it.to_reference(received_pps).filter(|_| it.case.rate.is_none()),
            4 in to_std(ratio_to_std_low, ratio_to_std_high), Ratio, "no speed, no reference, 1 pair";
        /// `ok`, `skipped`, `failed` or `interrupted`.
        status: Status, "", Case, Always, "never" => it.reason.status();
        /// Why `status` is not `ok`.
        #[serde(serialize_with = "column::text")]
        reason: Reason, "", Case, Always, "if `ok`" => it.reason.clone();
        /// What may mislead about the row, joined with `; `.
        #[serde(serialize_with = "column::joined")]
        warnings: Vec<Warning>, "", Case, Always, "none" => of_case::warnings(it);
        /// Key that matches rows of two runs, such as `std:std/2t/300B/connected/v4`.
        #[serde(serialize_with = "column::key")]
        case: Case, "", Plan, Always, "never" => *it.case;
    }

    "What was run" {
        /// Sender sockets: half of the threads, rounded up.
        senders: usize, "", Plan, Never, "never" => it.case.threads.senders();
        /// Receiver sockets: half of the threads, rounded down, at least 1.
        receivers: usize, "", Plan, Never, "never" => it.case.threads.receivers();
        /// Most datagrams per call.
        batch: Option<Batch>, "", Plan, Unusual, "neither side batches" => it.case.batch;
        /// Most datagrams of a train.
        train: Option<Train>, "", Plan, Unusual, "as many as the kernel takes, or no trains" => it.case.train;
        /// What loopback did with trains: `cut` or `whole`.
        loopback: Option<LoopbackTrains>, "", Plan, Unusual, "no trains, no loopback" => it.case.loopback;
        /// SO_PRIORITY of the senders.
        priority: Option<Priority>, "", Plan, Unusual, "0, or by `--tos`" => it.case.priority;
        /// `off`: datagrams have no UDP checksum.
        checksum: Option<Checksum>, "", Plan, Unusual, "they have one" => it.case.checksum;
        /// Kinds of control messages that calls carry, as far as their engines can.
        cmsg: Option<Cmsg>, "", Plan, Unusual, "none" => it.case.cmsg;
        /// Time for which receivers busy-poll before they sleep.
        busy_poll: Option<BusyPoll>, "", Plan, Unusual, "off" => it.case.busy_poll;
        /// What busy-polls, read back: `socket`, `socket+epoll`, `socket+uring`.
        busy_poll_by: String, "", Run, Never, "no `busy_poll`, no window" => traffic::busy_polled_by(it.samples);
        /// Share of the receiving sockets that a NAPI delivered to; 0: `busy_poll` had no effect.
        busy_poll_napi_pct: Option<f64>, "%", Run, Never, "no `busy_poll`, no window" =>
            traffic::napi_pct(it.samples).map(decimals::<1>);
        /// Threads of the tokio runtime that all bench threads share.
        tokio_workers: Option<Workers>, "", Plan, Unusual, "a runtime per thread, none" => it.case.tokio_workers;
        /// `spin`: receivers poll instead of sleeping.
        wait: Option<Wait>, "", Plan, Unusual, "as their engine waits" => it.case.wait;
        /// SO_RCVBUF asked for.
        rcvbuf_requested_bytes: Option<Buffer>, "B", Plan, Unusual, "connections without `--rcvbuf`" =>
            it.case.requested_rcvbuf();
        /// SO_SNDBUF asked for.
        sndbuf_requested_bytes: Option<Buffer>, "B", Plan, Unusual, "not asked" => it.case.sndbuf;
        /// TOS or traffic class, the whole byte, read back.
        tos: Option<Tos>, "", Plan, Unusual, "not marked" => it.case.tos;
        /// Scheduling class and priority of the bench threads, such as `fifo:50`.
        sched: Option<Sched>, "", Plan, Unusual, "the usual one" => it.case.sched;
        /// `on`: the memory of the bench process was locked.
        mlock: Option<Mlock>, "", Plan, Unusual, "not locked" => it.case.mlock;
        /// `flood`; `rr`: requests and responses; `bidir`: flood both ways.
        workload: Workload, "", Plan, Workload, "never" => it.case.workload.unwrap_or_default();
        /// Carrier of the messages; with any but `udp`, a datagram of the columns is a message.
        transport: Transport, "", Plan, Unusual, "never" => it.case.transport();
        /// Address that the messages go to: `loopback`, `local`, or one of the other host.
        address: Destination, "", Plan, Unusual, "never" => it.case.address.unwrap_or_default();
        /// Direction between two hosts: `up` (local to remote), `down`, `both` at once.
        direction: Option<Direction>, "", Plan, Wire, "one host" => it.case.direction;
        /// `full`: both directions at once, `half`: one.
        duplex: Option<Duplex>, "", Plan, Bidir, "another workload" => it.case.duplex();
        /// Flows of each thread that sends.
        flows: Option<Flows>, "", Plan, Flows, "one each" => it.case.flows;
        /// Outstanding requests of each client, over each flow.
        outstanding: Option<Outstanding>, "", Plan, Unusual, "`flood`, `--rate`" =>
            (it.case.is_rr() && !it.case.is_open_loop()).then(|| it.case.outstanding.unwrap_or(Outstanding::DEFAULT));
        /// Datagrams, or with `rr` requests, per second of all threads (`--rate`).
        target_pps: Option<Rate>, "1/s", Plan, Rate, "no `--rate`" => it.case.rate_in_datagrams();
        /// Spread of datagrams over time: `even`, `poisson`, `train100`.
        arrivals: Option<Arrivals>, "", Plan, Unusual, "no `--rate`" =>
            it.case.rate.map(|_| it.case.arrivals.unwrap_or_default());
        /// Pause of a client before its next request.
        think_time: Option<ThinkTime>, "", Plan, Unusual, "none" => it.case.think_time;
        /// Work of a server before each response (`--service`): `50us` of computing, or `sleep:1ms`.
        service_time: Option<ServiceTime>, "", Plan, Unusual, "none" => it.case.service;
        /// Place of a server's work: `inline`, `pool`, `spawn-blocking`.
        server_model: Option<ServerModel>, "", Plan, Unusual, "`flood`, `bidir`" =>
            it.case.is_rr().then(|| it.case.server_model.unwrap_or_default());
        /// How several receivers share the port: `reuseport`, `reuseaddr`, `separate`.
        sharing: Option<SharingKind>, "", Plan, Unusual, "1 receiver, `flows`" => it.case.sharing.map(Sharing::kind);
        /// How flows are spread over receivers: `even`, `hash`, `bpf`, `cpu`.
        spread: Option<Spread>, "", Plan, Unusual, "1 receiver, no `reuseport`" =>
            it.case.sharing.and_then(Sharing::spread);
        /// CPUs of the senders, `>`, CPUs of the receivers, such as `2,1>3,0`; with 1 thread its CPU; or `none`.
        #[serde(serialize_with = "column::or_empty")]
        pin: Option<Placement>, "", Plan, Never, "skipped" => it.input.pin.cloned();
        /// Windows that were measured; all count, also contaminated ones.
        rounds: u32, "", Case, Always, "never" => it.samples.len().try_into().unwrap_or(u32::MAX);
        /// Median length of a window.
        window_ms: Option<f64>, "ms", Window, Never, "no window" => derived::window_ms(it.samples);
        /// Warm-up before each window, as asked for.
        warmup_ms: Option<f64>, "ms", Plan, Never, "never" => it.input.warmup_ms();
        /// Time until traffic stays near its rate, while heating up; 75: 75 or more.
        settles_ms: Option<f64>, "ms", Start, Never, "heating up below 1.5 s, two hosts" =>
            it.input.settles_after.map(milliseconds);
    }

    "Speed" {
        /// Datagrams sent per second, dropped ones included; never rank by it.
        sent_pps: Option<f64>, "1/s", Window, Paced, "no speed" => middle::<0>(it.over(derived::sent_pps));
        /// Datagrams sent when the next one was due as well; see WIRE.md.
        late_packets: Option<u64>, "", Window, Paced, "no `--rate`, `rr`" => traffic::late(it.samples);
        /// Median gap: time between two datagrams of a flow.
        gap_p50_us: Option<f64>, "us", Window, Never, "no `--rate`, `rr`, fewer than 2" =>
            it.gaps.as_ref().and_then(|all| all.quantile_us(0.5));
        /// 99th percentile of the gaps.
        gap_p99_us: Option<f64>, "us", Window, Paced, "no `--rate`, `rr`, fewer than 100" =>
            it.gaps.as_ref().and_then(|all| all.quantile_us(0.99));
        /// Longest gap.
        gap_max_us: Option<f64>, "us", Window, Never, "no `--rate`, `rr`" =>
            it.gaps.as_ref().and_then(Gaps::longest_us);
        /// Source of the gaps: `kernel` (transmit time stamps) or `calls` (ends of sending calls).
        gap_source: String, "", Window, Never, "no `--rate`, `rr`" =>
            it.gaps.as_ref().map_or("", |all| all.source).to_owned();
    }

    "Round trips" {
        /// Median round trip.
        rtt_p50_us: Option<f64>, "us", Window, Rr, "fewer than 20 requests, too many unanswered" => it.rtt[0],
            3 in p50_us(rtt_p50_us_low, rtt_p50_us_high), Rr, "as its estimate, 1 window; the upper one, if it may be unanswered";
        /// 90th percentile of round trips.
        rtt_p90_us: Option<f64>, "us", Window, Rr, "fewer than 100 requests, too many unanswered" => it.rtt[1],
            3 in p90_us(rtt_p90_us_low, rtt_p90_us_high), Never, "as its estimate, 1 window; the upper one, if it may be unanswered";
        /// 99th percentile of round trips.
        rtt_p99_us: Option<f64>, "us", Window, Rr, "fewer than 1,000 requests, too many unanswered" => it.rtt[2],
            3 in p99_us(rtt_p99_us_low, rtt_p99_us_high), Rr, "as its estimate, 1 window; the upper one, if it may be unanswered";
        /// 99.9th percentile of round trips.
        rtt_p999_us: Option<f64>, "us", Window, Rr, "fewer than 10,000 requests, too many unanswered, slower ones in fewer than 5 windows" =>
            middle::<3>(it.rtt[3]);
        /// Lower bound of `rtt_p999_us`; no upper one, as a run may miss stalls.
        rtt_p999_us_low: Option<f64>, "us", Window, Rr, "as its estimate" => low::<3>(it.rtt[3]);
        /// 99.99th percentile of round trips.
        rtt_p9999_us: Option<f64>, "us", Window, Never, "fewer than 100,000 requests, else as `rtt_p999_us`" =>
            middle::<3>(it.rtt[4]);
        /// Lower bound of `rtt_p9999_us`; no upper one.
        rtt_p9999_us_low: Option<f64>, "us", Window, Never, "as its estimate" => low::<3>(it.rtt[4]);
        /// Longest round trip.
        rtt_max_us: Option<f64>, "us", Window, Rr, "no responses" => it.latencies.longest_us();
        /// Mean round trip.
        rtt_mean_us: Option<f64>, "us", Window, Never, "no responses" => it.latencies.mean_us();
        /// Standard deviation of the round trips.
        rtt_sd_us: Option<f64>, "us", Window, Never, "fewer than 2 responses" => it.latencies.sd_us();
        /// Median time from the kernel's receipt of a response to the client's, of one response in 16.
        wakeup_p50_us: Option<f64>, "us", Window, Never, "no time stamps, fewer than 20, `uring`" =>
            it.latencies.wakeup_us();
        /// Requests answered in time.
        answered_requests: Option<u64>, "", Window, Never, "`flood`, no window" =>
            it.requests.total(|all| all.times.count());
        /// Requests lost, or not answered within 250 ms.
        unanswered_requests: Option<u64>, "", Window, Rr, "`flood`, no window" =>
            it.requests.total(|all| all.unanswered);
        /// Late responses, and datagrams that are no response.
        late_responses: Option<u64>, "", Run, Never, "`flood`, no window" => it.requests.total(|all| all.late);
    }

    "Where the datagrams ended" {
        /// Datagrams handed to the kernel, refused ones included.
        sent_packets: Option<u64>, "", Drain, Flood, "no window" => it.accounting.map(|all| all.sent);
        /// Datagrams received, also in the drain.
        received_packets: Option<u64>, "", Drain, Flood, "no window" => it.accounting.map(|all| all.received);
        /// Datagrams left in a queue at the end; on one host, more than 0 is `failed`.
        unread_packets: Option<u64>, "", Drain, Flood, "no window" => it.accounting.map(|all| all.unread);
        /// Datagrams refused by the sending call; `warnings` says why.
        refused_packets: Option<u64>, "", Drain, Flood, "no window" => it.accounting.map(|all| all.refused);
        /// Datagrams dropped at a receiving socket, mostly as its buffer was full.
        dropped_socket_packets: Option<u64>, "", Drain, Flood, "no window" =>
            it.accounting.map(|all| all.dropped_socket);
        /// Missing datagrams that the kernel's discard counters explain.
        dropped_kernel_packets: Option<u64>, "", Drain, OneHostFlood, "no window, two hosts" =>
            it.accounting.filter(|_| it.case.direction.is_none()).map(|all| all.dropped_kernel);
        /// Datagrams that the sender's kernel refused (`ENOBUFS`) and no counter explains.
        dropped_kernel_out_packets: Option<u64>, "", Run, Path, "one host, no window" =>
            it.places.map(|at| at.kernel_out);
        /// Datagrams dropped by the queueing discipline, or a filter, of the sender's interface.
        dropped_qdisc_packets: Option<u64>, "", Run, Path, "one host, no window" => it.places.map(|at| at.qdisc);
        /// Datagrams dropped by the sender's interface or driver.
        dropped_nic_out_packets: Option<u64>, "", Run, Path, "one host, no window" => it.places.map(|at| at.nic_out);
        /// Datagrams that no counter explains: the cable, a switch, or a driver that does not count.
        lost_on_path_packets: Option<u64>, "", Run, Path, "one host, no window" => it.places.map(|at| at.path);
        /// Datagrams dropped by the receiver's interface or driver.
        dropped_nic_in_packets: Option<u64>, "", Run, Path, "one host, no window" => it.places.map(|at| at.nic_in);
        /// Datagrams dropped by the full backlog of a receiver's CPU (`net.core.netdev_max_backlog`).
        dropped_backlog_packets: Option<u64>, "", Run, Path, "one host, no window" => it.places.map(|at| at.backlog);
        /// Datagrams that reached the receiver's interface and no protocol: a firewall, a tc filter, XDP.
        dropped_kernel_in_packets: Option<u64>, "", Run, Path, "one host, no window" =>
            it.places.map(|at| at.kernel_in);
        /// Datagrams discarded by the receiver's IP or UDP: a checksum, missing fragments, a closed port.
        dropped_protocol_packets: Option<u64>, "", Run, Path, "one host, no window" =>
            it.places.map(|at| at.protocol);
        /// Datagrams received, never sent: duplicates of the path, or from a stranger.
        unexpected_packets: Option<u64>, "", Run, Path, "one host, no window" => it.places.map(|at| at.surplus);
        /// Loss counters that moved at both interfaces, of all traffic.
        nic_counters: String, "", Run, Never, "one host, none moved" => path::counters_of_nics(it.samples);
        /// Reasons why both kernels dropped packets (`--drop-reasons`), of all traffic.
        drop_reasons: String, "", Run, Never, "not asked, nothing dropped, not permitted" =>
            path::drop_reasons(it.samples);
        /// Datagrams that no place explains; other than 0 is `failed`, below 0 other programs sent to our port.
        unaccounted_packets: Option<i64>, "", Drain, Flood, "no window" => it.accounting.map(|all| all.unaccounted);
        /// Growth of the datagrams in flight while windows were open.
        queue_growth_packets: Option<i64>, "", Window, Never, "no window, two hosts" =>
            it.accounting.filter(|_| it.case.direction.is_none()).map(|_| derived::queue_growth(it.samples));
        /// Datagrams checked before the first round.
        verified_packets: Option<u64>, "", Verify, Verify, "unchecked" => it.verified.map(|all| all.packets);
        /// Checked datagrams that never came.
        missing_packets: Option<u64>, "", Verify, Verify, "unchecked, one host, requests" =>
            it.verified.and_then(|all| all.missing);
        /// Checked datagrams that came again; on one host, more than 0 is `failed`.
        duplicated_packets: Option<u64>, "", Verify, Verify, "unchecked" => it.verified.map(|all| all.duplicated);
        /// Checked datagrams that came after one that the same sender sent later.
        reordered_packets: Option<u64>, "", Verify, Verify, "unchecked" => it.verified.map(|all| all.reordered);
        /// Most positions by which a checked datagram came late (RFC 4737, 4.2.1).
        reordering_extent: Option<u64>, "", Verify, Never, "unchecked" =>
            it.verified.map(|all| all.reordering_extent);
        /// Interarrival jitter (RFC 3550, 6.4.1) of the flow with the most.
        jitter_us: Option<f64>, "us", Verify, Never, "unchecked, below 20 B, fewer than 2" =>
            it.verified.and_then(|all| all.jitter_ns).map(|ns| decimals::<3>(ns as f64 / 1e3));
        /// Checked datagrams that were shorter than sent, else correct; more than 0 is `failed`.
        truncated_packets: Option<u64>, "", Verify, Verify, "unchecked" => it.verified.map(|all| all.truncated);
        /// Checked datagrams with another content or source address; more than 0 is `failed`.
        corrupted_packets: Option<u64>, "", Verify, Verify, "unchecked" => it.verified.map(|all| all.corrupted);
        /// System calls that failed, other than by a refusal.
        failed_calls: Option<u64>, "", Window, Never, "no window" =>
            it.accounting.map(|_| derived::failed_calls(it.samples));
    }

    "CPU time per datagram" {
        /// CPU time of the senders per datagram sent.
        sender_cpu_ns_per_packet: Option<f64>, "ns", Window, Always, "no speed, 1 thread" =>
            middle::<1>(it.over(derived::sender_cpu_ns_per_packet));
        /// CPU time of the receivers per datagram received.
        receiver_cpu_ns_per_packet: Option<f64>, "ns", Window, Always, "no speed, 1 thread" =>
            middle::<1>(it.over(derived::receiver_cpu_ns_per_packet));
        /// CPU time of other threads (of libraries, of io_uring) per datagram received.
        other_cpu_ns_per_packet: Option<f64>, "ns", Window, Never, "no speed, unreadable" =>
            middle::<1>(it.over(derived::other_cpu_ns_per_packet));
    }

    "Power and energy" {
        /// Power of this host in the windows, by `power_meter`.
        power_w: Option<f64>, "W", Window, Power, "no meter" => it.energy.power_w,
            4 in power_w(power_w_low, power_w_high), Never, "no meter, 1 window";
        /// Mean power without traffic, before the first and after the last window.
        idle_power_w: Option<f64>, "W", Case, Power, "no meter, `ab`, searches" =>
            it.energy.idle_w.map(decimals::<4>);
        /// `power_w` less `idle_power_w`, over `received_pps`.
        energy_nj_per_packet: Option<f64>, "nJ", Window, Power, "as `idle_power_w`, no speed" => it.energy.nj_per_packet,
            1 in energy_nj(energy_nj_per_packet_low, energy_nj_per_packet_high), Power, "as `energy_nj_per_packet`, 1 window";
        /// Sensor of the power, such as `VDD_IN (ina3221)`, or `--power-command`.
        power_meter: String, "", Start, Never, "no meter" => known(&it.input.meter());
    }

    "Against the reference" {
        /// `cpu_ns_per_packet` over the reference's in the same round.
        cpu_ratio_to_std: Option<f64>, "", Window, CpuRatio, "no speed, no reference" => it.to_reference(cpu_ns_per_packet),
            4 in cpu_to_std(cpu_ratio_to_std_low, cpu_ratio_to_std_high), CpuRatio, "no speed, no reference, 1 pair";
    }

    "How good the numbers are" {
        /// Datagrams received in both directions (`bidir`) over those in one, in the same round.
        ratio_to_half: Option<f64>, "", Case, Bidir, "not `full`, no windows of `half`" =>
            derived::ratio(it.samples, it.input.half).filter(|_| it.speaks),
            4 in to_half(ratio_to_half_low, ratio_to_half_high), Bidir, "not `full`, no windows of `half`, too few rounds";
        /// Confidence level of the intervals of rates, such as 96.9 with 6 windows.
        interval_pct: Option<f64>, "%", Window, Never, "no speed, 1 window" =>
            Some(it.samples.len()).filter(|&n| it.speaks && n > 1).map(|n| decimals::<1>(100.0 * stats::coverage(n)));
        /// Standard deviation of the windows' `received_pps` over their mean.
        cv_pct: Option<f64>, "%", Window, Absolute, "no speed, 1 window" =>
            stats::coefficient_of_variation(&it.windows.values(received_pps, false)).filter(|_| it.speaks)
                .map(|cv| decimals::<2>(100.0 * cv));
        /// Rounds whose ratios are in `ratio_to_std`.
        ratio_pairs: Option<usize>, "", Window, Reference, "no ratio" =>
            it.to_reference(received_pps).map(|_| it.windows.ratios(received_pps, false).len());
        /// Scatter of the ratios in `ratio_to_std`: standard deviation of their natural logarithms.
        ratio_sd_pct: Option<f64>, "%", Window, Ratio, "no ratio, 1 pair" => it.ratio_sd_pct(received_pps);
        /// Scatter of the ratios in `cpu_ratio_to_std`.
        cpu_ratio_sd_pct: Option<f64>, "%", Window, CpuRatio, "no ratio, 1 pair" => it.ratio_sd_pct(cpu_ns_per_packet);
        /// Scatter of `received_pps` round by round, less what the block's other engines have in common, if smaller.
        residual_sd_pct: Option<f64>, "%", Window, Free, "no speed, 1 window" => it.residual_sd_pct(received_pps);
        /// Scatter of `cpu_ns_per_packet`, as `residual_sd_pct`.
        residual_cpu_sd_pct: Option<f64>, "%", Window, FreeCpu, "no speed, 1 window" =>
            it.residual_sd_pct(cpu_ns_per_packet);
        /// Scatter of the median round trip, as `residual_sd_pct`.
        residual_rtt_sd_pct: Option<f64>, "%", Window, Rr, "no round trips, 1 window" =>
            it.residual_sd_pct(round_trips::median_ns).filter(|_| it.rtt[0].is_some());
        /// Complete, undisturbed earlier runs of this case and machine in the results' folder.
        earlier_runs: Option<usize>, "", Start, Free, "no speed, `--rate`, fewer than 4" =>
            it.earlier_pct.map(|_| it.input.earlier_pps.len());
        /// Half of the 95 % prediction interval for `received_pps` of the next run.
        earlier_runs_pct: Option<f64>, "%", Start, Free, "no speed, `--rate`, fewer than 4" =>
            it.earlier_pct.map(decimals::<1>);
        /// Time that the most preempted bench thread was runnable while something else ran.
        preempted_pct: Option<f64>, "%", Window, Never, "no window, not counted" =>
            it.windows.preempted_pct.map(decimals::<2>);
        /// Time that the hypervisor took of the bench threads' CPUs.
        steal_pct: Option<f64>, "%", Window, Never, "no window, not pinned" => it.taken_pct(|taken| taken.steal_ns);
        /// Time that interrupts took of the bench threads' CPUs.
        irq_pct: Option<f64>, "%", Window, Never, "no window, not pinned" => it.taken_pct(|taken| taken.irq_ns);
        /// Time that softirqs took of the bench threads' CPUs; on loopback mostly the case's own receive path.
        softirq_pct: Option<f64>, "%", Window, Never, "no window, not pinned" =>
            it.taken_pct(|taken| taken.softirq_ns);
        /// Windows in which a bench thread was preempted for more than 5 %.
        disturbed_windows: Option<usize>, "", Window, Never, "no window" =>
            it.accounting.map(|_| it.windows.disturbed());
        /// Windows with a disturbance, throttling or a slower clock.
        contaminated_windows: Option<usize>, "", Run, Always, "no window" =>
            it.accounting.map(|_| it.windows.contaminated);
        /// Windows measured again, as the first failed, did not add up, or a link changed in it.
        repeated_windows: Option<usize>, "", Case, Never, "no window" =>
            it.accounting.map(|_| it.input.repeated.len());
        /// Why no more rounds were measured: `rounds`, `until`, `max-time`, `failure`, `signal`,
        /// `other-host` or `unknown`.
        ended_by: String, "", Case, Never, "skipped" => status::ended_by(&it.input.ended).to_owned();
        /// Limit of `--until`.
        until_pct: Option<f64>, "%", Plan, Never, "not asked, skipped" =>
            it.input.schedule.filter(|_| it.input.pin.is_some()).and_then(|all| Some(all.until?.half_width_pct));
        /// Smallest share of the datagrams that a receiver (of responses, a client) got.
        receiver_share_min_pct: Option<f64>, "%", Window, Never, "none received" =>
            derived::receiver_share_min_pct(it.samples);
        /// Jain's index of the flows' datagrams: 1 if all got the same, 1/*n* if one of *n* got all.
        jains_index: Option<f64>, "", Case, Flows, "no `flows`, nothing came" =>
            it.fairness.as_ref().and_then(|all| all.jains_index);
        /// Datagrams per second over the slowest flow.
        slowest_flow_pps: Option<f64>, "1/s", Case, Flows, "no `flows`" =>
            it.fairness.as_ref().and_then(|all| all.slowest_pps).filter(|_| it.speaks);
        /// Datagrams per second over the fastest flow.
        fastest_flow_pps: Option<f64>, "1/s", Case, Flows, "no `flows`" =>
            it.fairness.as_ref().and_then(|all| all.fastest_pps).filter(|_| it.speaks);
        /// Flows over which nothing came.
        starved_flows: Option<usize>, "", Case, Flows, "no `flows`" => it.fairness.as_ref().map(|all| all.starved);
        /// Smallest SO_RCVBUF of the receiving sockets, read back.
        rcvbuf_bytes: Option<u64>, "B", Run, Never, "no window" =>
            it.samples.first().map(|sample| sample.rcvbuf_bytes);
        /// Smallest SO_SNDBUF of the sending sockets, read back.
        sndbuf_bytes: Option<u64>, "B", Run, Never, "no window" =>
            it.samples.first().map(|sample| sample.sndbuf_bytes);
    }

    "Where and when" {
        /// Name of the board profile.
        board: String, "", Start, Never, "never" => safe(&it.environment.board);
        /// Machine, by the device tree or DMI.
        model: String, "", Start, Never, "unknown" => known(&it.host.model);
        /// Least specific entry of the device tree's `compatible`: chip or family.
        soc: String, "", Start, Never, "no device tree" => known(&it.host.soc);
        /// Name of the CPUs.
        cpu_model: String, "", Start, Never, "unknown" => known(&it.host.cpu_model);
        /// Architecture of the program, such as `aarch64`.
        arch: String, "", Start, Never, "never" => safe(&it.host.build.arch);
        /// Target triple of the program.
        target: String, "", Start, Never, "never" => safe(&it.host.build.target);
        /// Architecture of the kernel (`uname -m`), such as `armv7l`.
        machine: String, "", Start, Never, "unknown" => known(&it.host.machine);
        /// Emulator or hypervisor, such as `qemu`.
        virtualization: String, "", Start, Never, "nothing shows" => known(&it.host.virtualization);
        /// Kernel release.
        kernel: String, "", Start, Never, "unknown" => known(&it.host.kernel);
        /// The kernel's flavour, such as `PREEMPT_RT`; `none`: none or voluntary.
        preemption: String, "", Start, Never, "unknown" => known(&it.host.preemption);
        /// Size of a memory page.
        page_bytes: Option<u64>, "B", Start, Never, "unknown" => it.host.page_bytes;
        /// `yes`: softirq time is in no thread's CPU time; `no`: it is.
        irq_time_accounting: String, "", Start, Never, "configuration unreadable" =>
            input::irq_time_accounting(it.host).to_owned();
        /// Governors of cpufreq.
        governor: String, "", Start, Never, "no cpufreq" => known(&it.host.governor);
        /// Driver of cpufreq.
        cpufreq_driver: String, "", Start, Never, "no cpufreq" => known(&it.host.cpufreq_driver());
        /// Lowest clock that governors may choose.
        freq_min_mhz: Option<f64>, "MHz", Start, Never, "no cpufreq" =>
            input::mhz(it.host, |policy| policy.min_khz, u64::min);
        /// Highest clock that governors may choose.
        freq_max_mhz: Option<f64>, "MHz", Start, Never, "no cpufreq" =>
            input::mhz(it.host, |policy| policy.max_khz, u64::max);
        /// Lowest requested clock of a bench thread's CPU when a window closed.
        freq_low_mhz: Option<f64>, "MHz", Run, Never, "no cpufreq, not pinned" =>
            sensors::freq_low_mhz(it.samples);
        /// Slowest real clock of a bench thread's CPU, relative to that at the start.
        clock_min_pct: Option<f64>, "%", Run, Never, "never timed" =>
            sensors::clock_min_pct(it.samples, &it.environment.cpu_speeds);
        /// Source of the kernel's time, such as `arch_sys_counter` or `tsc`.
        clocksource: String, "", Start, Never, "unknown" => known(&it.host.clocksource);
        /// Driver of cpuidle.
        cpuidle_driver: String, "", Start, Never, "none" => known(&it.host.cpuidle_driver);
        /// Idle states of the bench threads' CPUs and their shares of the windows; `no`: in none.
        idle_states: String, "", Window, Never, "no cpuidle, not pinned" => sensors::idle_states(it.samples);
        /// CPUs isolated from the scheduler (`isolcpus=`), or `no`.
        isolated_cpus: String, "", Start, Never, "unknown" => input::isolated_cpus(it.host);
        /// Load average of the last minute.
        load_1min: Option<f64>, "", Start, Never, "unknown" => it.host.load_1min.map(decimals::<2>);
        /// CPUs that RPS moves packets of `lo` to, or `no`.
        rps_cpus: String, "", Start, Never, "unknown" => input::rps_cpus(it.host);
        /// Flows that conntrack tracked in this network namespace.
        conntrack_entries: Option<u64>, "", Start, Never, "not loaded" => it.host.conntrack.map(|it| it.entries);
        /// CPUs that take the interrupts of network interfaces, such as `eth0 on 0`.
        nic_irq_cpus: String, "", Start, Never, "unknown" => input::nic_irq_cpus(it.host);
        /// Hottest CPU sensor before the first window.
        temp_c_start: Option<f64>, "°C", Run, Never, "no sensor" =>
            celsius(it.samples.first().and_then(|first| first.climate.first_millic));
        /// Hottest CPU sensor after the last window.
        temp_c_end: Option<f64>, "°C", Run, Never, "no sensor" =>
            celsius(it.samples.last().and_then(|last| last.climate.last_millic));
        /// Hottest CPU sensor around the windows.
        temp_c_max: Option<f64>, "°C", Run, Never, "no sensor" => sensors::temp_c_max(it.samples);
        /// Kinds of throttling; `no`: none; `not by the kernel`: the kernel did not throttle, the firmware is unknown.
        throttled: String, "", Run, Never, "no sensor" => sensors::throttled(it.samples);
        /// Interface of this host: driver, speed, MTU, queues, rings, coalescing, EEE, queueing discipline.
        #[serde(serialize_with = "column::text")]
        nic: NicText, "", Start, Never, "one host" => it.input.nics.0.clone();
        /// Other host, as it was typed.
        remote: String, "", Start, Never, "one host" => it.input.wire.map_or_else(String::new, |to| safe(&to.to));
        /// `board` of the other host.
        remote_board: String, "", Start, Never, "one host" =>
            it.input.wire.map_or_else(String::new, |to| safe(&to.board));
        /// `model` of the other host.
        remote_model: String, "", Start, Never, "one host, unknown" => it.of_remote(|other| &other.model);
        /// `cpu_model` of the other host.
        remote_cpu_model: String, "", Start, Never, "one host, unknown" => it.of_remote(|other| &other.cpu_model);
        /// `machine` of the other host.
        remote_machine: String, "", Start, Never, "one host, unknown" => it.of_remote(|other| &other.machine);
        /// `kernel` of the other host.
        remote_kernel: String, "", Start, Never, "one host, unknown" => it.of_remote(|other| &other.kernel);
        /// `governor` of the other host.
        remote_governor: String, "", Start, Never, "one host, unknown" => it.of_remote(|other| &other.governor);
        /// `nic` of the other host.
        #[serde(serialize_with = "column::text")]
        remote_nic: NicText, "", Start, Never, "one host" => it.input.nics.1.clone();
        /// Machine, or across a wire both: board, model, CPUs, architecture, and what virtualises it.
        machine_id: String, "", Start, Always, "never" => String::new();
        /// Seed of the shuffled order (`--seed`).
        seed: u32, "", Plan, Always, "never" => it.input.schedule.map_or(0, |it| it.seed);
        /// When the case's first window opened, UTC, RFC 3339.
        started_at: String, "", Case, Always, "no window" => derived::started_at(it.samples);
        /// Version of udpbench, with its cargo profile unless `dist`: `0.1.0-release`.
        version: String, "", Start, Never, "never" => safe(&it.host.build.version);
    }
}
