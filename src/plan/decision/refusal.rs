//! Reasons why a case does not run: tables of what is said, and when. The error of each is the first that applies.

use anyhow::{anyhow, bail, ensure};

use super::workload::has_enough_files;
use super::{Question, permitted};
use crate::data::{
    Checksum, Cmsg, Direction, LoopbackTrains, Mlock, Payload, Sharing, Spread, Workload,
};
use crate::engine::BusyPolling;
use crate::engines::{self, Entry};
use crate::host::facts::loopback_fix;
use crate::host::placement::Placement;

impl Question<'_> {
    /// Checks that the case makes sense, and can run on these hosts.
    pub(super) fn can_run(&self) -> anyhow::Result<()> {
        let (case, conditions) = (self.case, self.conditions);
        self.can_go_across()?;
        if let Some((entry, place, reason)) = self.refused_engine() {
            bail!("{entry} cannot run {place}: {reason}");
        }
        self.makes_sense()?;
        if case.sharing == Some(Sharing::Reuseport(Spread::Bpf)) {
            permitted(self.receivers.steering_refusal)?;
        }
        if conditions.remote.is_none() {
            let refusal = conditions.loopback_refusal;
            let refusal = refusal.filter(|_| case.loopback == Some(LoopbackTrains::Cut));
            permitted(refusal.map(|reason| {
                format!(
                    "trains are cut in a network namespace of its own, which the host refuses ({reason}): --loopback whole"
                )
            }))?;
            let problem = conditions.host.loopback_problem(case.ip);
            permitted(problem.map(|problem| format!("{problem}; {}", loopback_fix(case.ip))))?;
            ensure!(
                case.receivers_address().is_some(),
                "no interface that is up has an IP{} address but for loopback's (of IPv6, one of fe80::/10 is not \
                 enough): see ip -br address",
                case.ip
            );
        }
        self.can_poll()
    }

    /// Checks that the case makes sense with its engines on some host.
    pub(in crate::plan) fn makes_sense(&self) -> anyhow::Result<()> {
        let case = self.case;
        self.can_move()?;
        if let Some(transport) = case.transport {
            self.can_carry(transport)?;
        }
        permitted(case.rate.and_then(|rate| rate.refusal(case.payload)))?;
        self.can_share_threads()?;
        if case.is_rr() {
            self.can_ask()?;
        }
        if case.flows.is_some() {
            self.can_serve()?;
        }
        if case.workload == Some(Workload::Bidir) {
            self.can_duplex()?;
        }
        self.can_be_alone()?;
        self.can_be_sent()?;
        has_enough_files(case, self.conditions.host.open_files)
    }

    /// Checks that the case can run between two hosts, if it is to.
    fn can_go_across(&self) -> anyhow::Result<()> {
        let (case, sender) = (self.case, self.sender);
        let Some(remote) = &self.conditions.remote else {
            return Ok(());
        };
        let is_both_ways = case.direction == Some(Direction::Both);
        Err(match remote.wire.link(case) {
            _ if case.transport.is_some() => anyhow!(
                "between hosts, datagrams are measured so far, no {}: leave out --transport",
                case.transport()
            ),
            _ if !sender.about.moves_datagrams => {
                anyhow!("{sender} moves no datagrams to another host")
            }
            _ if is_both_ways && (case.is_rr() || case.workload == Some(Workload::Bidir)) => {
                anyhow!("rr and bidir go both ways: use --direction up or down")
            }
            None => anyhow!(
                "no IP{} address of the other host is known that this one reaches: use another --ip, or name one by \
                 --address (see ip -br address there)",
                case.ip
            ),
            Some(link) => return self.can_be_cut(link.longest_payload_by_mtu()),
        })
    }

    /// Checks that a sender that has the kernel or the interface segment its datagrams (UDP_SEGMENT) can send this
    /// payload, of which both interfaces carry `of_interfaces` bytes.
    fn can_be_cut(&self, of_interfaces: Option<u32>) -> anyhow::Result<()> {
        let (sender, payload) = (self.sender, u32::from(self.case.payload));
        if !sender.about.sends_trains(self.case.train) {
            return Ok(());
        }
        let links = || self.ways().filter_map(|(from, _)| from.link);
        let is_long = |most: &u32| payload > *most;
        let most = links().find_map(|link| link.most_payload().filter(is_long));
        permitted(most.map(|most| {
            format!(
                "{sender} cuts datagrams of {most} B at most: they may not be longer than the MTU (UDP_SEGMENT, udp(7))"
            )
        }))?;
        let most = links().filter_map(|link| link.longest_payload.or(of_interfaces));
        permitted(most.min().filter(is_long).map(|most| {
            format!("{sender} sends each datagram whole, and {most} B at most come through whole")
        }))
    }

    /// Checks that the engines move messages of this length.
    fn can_move(&self) -> anyhow::Result<()> {
        let (case, most) = (self.case, Payload::MAX_DATAGRAM);
        let transport = case.transport();
        let mut both = [self.sender, self.receiver].into_iter();
        let idle = both.find(|entry| !entry.about.moves_datagrams);
        if let Some(idle) = idle.filter(|_| self.sender != self.receiver) {
            bail!("{idle} moves no datagrams: sender and receiver must both be {idle}");
        }
        ensure!(
            !transport.keeps_messages() || u32::from(case.payload) <= most,
            "{transport} carries {most} B at most in one message"
        );
        Ok(())
    }

    /// Checks that the threads of the case can do its work: one thread, workers of a runtime, programs.
    fn can_share_threads(&self) -> anyhow::Result<()> {
        let (case, sender, receiver) = (self.case, self.sender, self.receiver);
        let is_program = |entry: &&Entry| entry.executable.is_some();
        let program = [sender, receiver].into_iter().find(is_program);
        let is_bidir = case.workload == Some(Workload::Bidir);
        let needs_two = self.conditions.remote.is_some()
            || case.flows.is_some()
            || case.rate.is_some()
            || case.workload.is_some()
            || case.cmsg.is_some()
            || program.is_some();
        let is_no_word = case.mlock == Some(Mlock::On)
            || is_bidir
            || is_program(&sender) && (case.rate.is_some() || case.outstanding.is_some())
            || is_program(&sender) && case.think_time.is_some()
            || is_program(&receiver) && (case.service.is_some() || case.server_model.is_some());
        let holds_up = case.is_paced() && sender.runs_on_workers(case)
            || case.is_open_loop()
            || case.service.is_some()
            || case.think_time.is_some()
            || case.flows.is_some()
            || is_bidir;
        // A task that goes on until `WouldBlock` never yields to other tasks on its worker, and starves them.
        let is_greedy =
            |entry: &&Entry| entry.about.shares_workers && entry.about.one_thread.is_err();
        let greedy = [sender, receiver].into_iter().find(is_greedy);
        let tasks = self.threads_on_workers();
        Err(match (program, case.tokio_workers, greedy) {
            _ if needs_two && case.threads.is_alone() => anyhow!(
                "one thread sends and receives in turn: use --threads 2 between hosts, and with --flows, --rate, \
                 --workload, --cmsg or a program"
            ),
            (Some(program), ..) if is_no_word => anyhow!(
                "{program} is a program, which knows no --mlock, --rate, --outstanding, --think-time, --service, \
                 --server-model, and no --workload bidir: leave them out, or have another engine at that end"
            ),
            (_, Some(_), _) if holds_up => anyhow!(
                "a worker runs its tasks in turn, and none may sleep or work: leave out --tokio-workers, or --flows, \
                 --rate, --service, --think-time and --workload bidir"
            ),
            (_, Some(workers), Some(greedy)) if workers.count() < tasks => {
                anyhow!("{greedy} never yields: {tasks} tasks need {tasks} workers, not {workers}")
            }
            _ => return Ok(()),
        })
    }

    /// Checks that one thread can run both engines, if it is to.
    fn can_be_alone(&self) -> anyhow::Result<()> {
        if !self.case.threads.is_alone() {
            return Ok(());
        }
        let both = engines::together(self.sender, self.receiver);
        let both = both.ok_or_else(|| {
            anyhow!("one thread runs one engine: sender and receiver must be the same")
        })?;
        let refused = both.about.one_thread.err();
        permitted(refused.map(|why| format!("{both} {why}")))
    }

    /// Checks that the sender can send such datagrams, and that the receiver reads their control messages.
    fn can_be_sent(&self) -> anyhow::Result<()> {
        let (case, sender, receiver) = (self.case, self.sender, self.receiver);
        let kinds = case.cmsg.unwrap_or_default();
        let known = receiver.about.control_messages;
        Err(match () {
            () if sender.about.never_fragments && self.is_fragmented() => anyhow!(
                "{sender} forbids fragmentation: above {} B IPv6 needs two fragments",
                Payload::MAX_UNFRAGMENTED_V6
            ),
            () if case.checksum == Some(Checksum::Off) && sender.about.sends_trains(case.train) => {
                anyhow!(
                    "the kernel segments only what has checksums: {sender} sends trains, unless with --train 1"
                )
            }
            () if case.cmsg.is_some() && (case.workload.is_some() || case.is_paced()) => anyhow!(
                "control messages need a flood at full speed: leave out --cmsg; or use no latency, --workload or --rate"
            ),
            () if known != Cmsg::NONE && kinds.common(known) != kinds => {
                anyhow!("--cmsg {kinds}: {receiver} reads no other control messages than {known}")
            }
            () => return Ok(()),
        })
    }

    /// Checks that the engines that receive can busy-poll, if they are to.
    fn can_poll(&self) -> anyhow::Result<()> {
        if self.case.busy_poll.is_none() {
            return Ok(());
        }
        let refusal = self.receiving().find_map(|(entry, end)| {
            let refusals = &end.host.busy_poll;
            let of_engine = match entry.about.busy_polling {
                BusyPolling::Socket | BusyPolling::OutOfReach(_) => &None,
                BusyPolling::Epoll => &refusals.epoll,
                BusyPolling::Uring => &refusals.ring,
            };
            let reason = refusals.socket.as_ref().or(of_engine.as_ref())?;
            let place = end.is_far().then_some("on the other host: ");
            let place = place.unwrap_or_default();
            Some(format!("{place}{reason}"))
        });
        permitted(refusal)
    }

    /// Checks that receivers can take the packets of their CPUs, if they are to, and that real-time threads leave CPUs
    /// to others.
    pub(super) fn can_be_placed(&self, placement: &Placement) -> anyhow::Result<()> {
        self.leaves_a_cpu(placement)?;
        self.starves_nobody(placement)?;
        if self.case.sharing != Some(Sharing::Reuseport(Spread::Cpu)) {
            return Ok(());
        }
        permitted(self.receivers.host.incoming_cpu_refusal.as_ref())?;
        ensure!(
            !self.receiver.runs_on_workers(self.case) && !placement.receivers.contains(&None),
            "--spread cpu needs receivers on CPUs: leave out --pin none and --tokio-workers, or name a CPU for each thread"
        );
        Ok(())
    }
}
