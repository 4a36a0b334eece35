//! An event that is not over: counts what belongs to it, and decides on its kind and its place.

use super::Limits;
use crate::soak::event::{Event, Kind, Place};
use crate::text::digits::whole;
use crate::workload::probe::Return;

/// Time for which the other end's program held a probe that shows that it did not run, in microseconds: half of that
/// after which a probe counts as lost.
const LONG_HELD_US: u32 = 500_000;

/// Fault that an event is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// This host did not send: nothing is known of the path.
    Unsent,
    /// A loss or a delay.
    Other,
}

/// A run of lost probes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) start_ns: u64,
    /// End of the last unsent probe before it.
    pub(super) unsent_end_ns: u64,
    /// Unsent probes in it, which tell nothing of the path.
    pub(super) unsent: u64,
}

/// An event that may still grow.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    pub(super) event: Event,
    pub(super) end_ns: u64,
    /// The run of lost probes that has not ended.
    pub(super) run: Option<Run>,
    /// True until something else than unsent probes is in it.
    is_unsent: bool,
    pub(super) before: Option<(u64, Return)>,
    /// First return after the last lost probe.
    pub(super) after: Option<(u64, Return)>,
    pub(super) held_most_us: u32,
    /// The longest time that the other end held a probe which came back too late to count.
    pub(super) late_held_us: u32,
    pub(super) is_own_drop: bool,
    pub(super) is_unreachable: bool,
}

impl Open {
    /// Opens an event with a fault that begins at `start_ns`. `before`: the last return before it.
    pub(super) fn new(start_ns: u64, usual_rtt_ns: u64, before: Option<(u64, Return)>) -> Self {
        let event = Event {
            start_ns,
            usual_rtt_ns,
            ..Event::default()
        };
        Self {
            event,
            end_ns: start_ns,
            is_unsent: true,
            before,
            ..Self::default()
        }
    }

    /// Adds a fault. Unsent probes do not move the start of others.
    pub(super) fn add(&mut self, fault: Fault, start_ns: u64, end_ns: u64) {
        let is_unsent = fault == Fault::Unsent;
        if self.is_unsent && !is_unsent {
            self.event.start_ns = start_ns;
        } else if self.is_unsent == is_unsent {
            self.event.start_ns = self.event.start_ns.min(start_ns);
        }
        self.is_unsent &= is_unsent;
        self.end_ns = self.end_ns.max(end_ns);
    }

    /// Ends the run of lost probes at `at_ns`, if there is one. It is a silence if nothing arrived for as long as an
    /// outage. `quiet` is that time, which may be longer than the run: what comes back at its end may be late itself.
    pub(super) fn end_run(&mut self, at_ns: u64, quiet: &mut Option<(u64, u64)>, limits: &Limits) {
        let Some(run) = self.run.take() else {
            return;
        };
        let touches = |(start, end): &mut (u64, u64)| *start < at_ns && run.start_ns < *end;
        let Some((start_ns, end_ns)) = quiet.take_if(touches) else {
            return;
        };
        let start_ns = start_ns.max(run.unsent_end_ns);
        let unsent_ns = whole(run.unsent as f64 * limits.gap_ns);
        let length_ns = end_ns.saturating_sub(start_ns).saturating_sub(unsent_ns);
        if length_ns >= limits.outage_ns {
            self.event.silences += 1;
            self.event.silent_ns += length_ns;
            self.event.longest_silence_ns = self.event.longest_silence_ns.max(length_ns);
            self.add(Fault::Other, start_ns, end_ns);
        }
    }

    pub(super) fn into_event(self) -> Event {
        let mut event = self.event.clone();
        event.length_ns = self.end_ns - event.start_ns;
        // If most of a delay is unsent, it was this host that did not run.
        event.kind = if event.silences > 0 {
            Kind::Silence
        } else if event.lost > 0 {
            Kind::Loss
        } else if event.rtt_ns > 0 && 2 * event.unsent < event.due {
            Kind::Delay
        } else {
            Kind::Unsent
        };
        event.lost_forward = self.lost_forward();
        event.place = self.place(&event);
        event.is_full = match event.place {
            Place::Here => self.is_own_drop && event.kind <= Kind::Loss,
            Place::FarEnd => self.is_far_buffer_full(&event),
            _ => false,
        };
        event
    }

    /// Returns the probes of the event that the other end's program did not receive. `None`: not known, as the program
    /// was started again.
    fn lost_forward(&self) -> Option<u64> {
        let ((sent_before, before), (sent_after, after)) = self.before.zip(self.after)?;
        let received = after.state.received.wrapping_sub(before.state.received);
        let sent = sent_after - sent_before;
        let forward = sent.saturating_sub(received.into());
        (after.echo == before.echo).then_some(forward.min(self.event.lost - self.event.refused))
    }

    fn place(&self, event: &Event) -> Place {
        let is_most = |part: u64| 2 * part > event.lost;
        match event.kind {
            Kind::Unsent => Place::Here,
            Kind::Delay if u64::from(self.held_most_us) * 1000 > event.rtt_ns / 2 => Place::FarEnd,
            Kind::Delay => Place::Path,
            _ if is_most(event.refused) || self.is_own_drop => Place::Here,
            _ if self.is_far_end(event) => Place::FarEnd,
            _ => match event.lost_forward {
                Some(forward) if 10 * forward >= 9 * event.lost => Place::Forward,
                Some(forward) if 10 * forward <= event.lost => Place::Back,
                _ => Place::Path,
            },
        }
    }

    /// Returns whether the other end's program was gone, or did not read: its socket dropped most of the lost probes,
    /// or one that came back had waited there, also if it came too late to count.
    fn is_far_end(&self, event: &Event) -> bool {
        let is_held = self.late_held_us > LONG_HELD_US;
        let Some(((_, before), (_, after))) = self.before.zip(self.after) else {
            return self.is_unreachable || is_held;
        };
        self.is_unreachable
            || is_held
            || before.echo != after.echo
            || self.is_far_buffer_full(event)
            || after.state.held_us > LONG_HELD_US
    }

    fn is_far_buffer_full(&self, event: &Event) -> bool {
        self.before
            .zip(self.after)
            .is_some_and(|((_, before), (_, after))| {
                let dropped = after.state.dropped.wrapping_sub(before.state.dropped);
                before.echo == after.echo && 2 * u64::from(dropped) > event.lost
            })
    }
}
