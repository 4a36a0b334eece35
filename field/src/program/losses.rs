//! Words for the places where the kernel lost datagrams, and the cause of a socket's drops.

use serde_json::json;

use super::Interval;
use crate::host::check::{Finding, Seen, Unfit, why_and_fix};
use crate::sys::loss_counters::{Loss, LossCounters};
use crate::sys::loss_places::{Layer, LossPlace, PLACES};
use crate::text::digits::counted;

/// Drops of the watched sockets for one cause. Sockets of other programs move the same counters: the number is from
/// `least` to `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Place in the table, of the socket's layer. `None`: no counter of the kernel moved with the drops.
    pub place: Option<&'static LossPlace>,
    /// Drops that no other cause explains.
    pub least: u64,
    /// Drops that this cause may explain.
    pub most: u64,
}

impl Cause {
    /// Returns whether the receive buffer was full.
    pub fn is_full(&self) -> bool {
        self.place.is_some_and(LossPlace::is_full)
    }

    /// Returns the number in words.
    pub fn datagrams(&self) -> String {
        let most = counted(self.most, "datagram");
        if self.least == self.most {
            most
        } else {
            format!("up to {most}")
        }
    }
}

/// Returns the causes of the drops of the watched sockets. `dropping` are the windows in which they dropped something.
pub fn causes(seen: &Interval, dropping: &Interval) -> Vec<Cause> {
    let (mut of_all, mut drops) = (of_sockets(dropping), dropping.socket_drops);
    let sum = |counts: &[(_, u64)]| counts.iter().map(|(_, count)| count).sum::<u64>();
    if sum(&of_all) < drops {
        // A drop and its counter may be on both sides of the edge of a window.
        (of_all, drops) = (of_sockets(seen), seen.socket_drops);
    }
    let all = sum(&of_all);
    let known = of_all.into_iter().map(|(place, count)| Cause {
        place: Some(place),
        least: drops.saturating_sub(all - count).min(count),
        most: count.min(drops),
    });
    let by_reason = by_reason(seen, drops.saturating_sub(all));
    let causes = known.chain(by_reason);
    causes.filter(|cause| cause.most > 0).collect()
}

/// Returns the causes of drops that no counter explains, by the reasons of the whole machine: Linux 6.18 has no counter
/// for those without memory.
fn by_reason(seen: &Interval, mut unknown: u64) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut add = |place, packets: u64| {
        let explained = packets.min(unknown);
        unknown -= explained;
        causes.push(Cause {
            place,
            least: explained,
            most: explained,
        });
    };
    for place in PLACES.iter().filter(|place| place.layer == Layer::Socket) {
        let reasons = place.reasons.iter();
        let reasons = reasons.filter_map(|reason| seen.lost.reasons.get(reason));
        let counted = seen.lost.loss(place).map_or(0, |loss| loss.packets);
        add(Some(place), reasons.sum::<u64>().saturating_sub(counted));
    }
    add(None, u64::MAX);
    causes
}

fn of_sockets(interval: &Interval) -> Vec<(&'static LossPlace, u64)> {
    let places = PLACES.iter().filter(|place| place.layer == Layer::Socket);
    let losses = places.filter_map(|place| interval.lost.loss(place));
    losses.map(|loss| (loss.place, loss.packets)).collect()
}

/// Returns the finding about a cause other than a full buffer.
pub fn cause_finding(cause: &Cause, interval: &Interval) -> Finding {
    let drops = cause.datagrams();
    let Some(place) = cause.place else {
        let what = "dropped at its sockets, and no counter of the kernel says why";
        let words = why_and_fix("drops-unexplained", &json!({}));
        return Finding::new(lost(format!("{drops} {what}")), words);
    };
    let loss = interval.lost.loss(place);
    let by = loss.as_ref().map_or(place.reasons.join(", "), by);
    let interface = loss.map_or_else(|| interval.lost.busiest_interface(), |it| it.interface);
    let seen = format!("{}: {drops} dropped at its sockets ({by})", place.what);
    Finding::new(lost(seen), (place.why.clone(), next(place, &interface)))
}

/// Returns what was lost before the watched sockets, by place, and what sockets of other programs lost for causes that
/// may concern these as well.
pub fn elsewhere(seen: &Interval, causes: &[Cause]) -> Vec<Loss> {
    let own = |loss: &Loss| {
        let of_it = causes.iter().find(|cause| cause.place == Some(loss.place));
        of_it.map_or(0, |cause| cause.most)
    };
    let is_elsewhere = |loss: &Loss| match loss.place.layer {
        Layer::Out => false,
        Layer::Socket if loss.place.is_full() => false,
        // Both are read one after the other.
        _ => loss.packets.saturating_sub(own(loss)) > own(loss) / 100,
    };
    let mut losses = seen.lost.losses();
    losses.retain(is_elsewhere);
    for loss in &mut losses {
        loss.packets -= own(loss);
    }
    losses
}

/// Returns the finding about a loss before the watched sockets.
pub fn loss_finding(loss: &Loss) -> Finding {
    let seen = format!(
        "{}: {} dropped ({})",
        loss.place.what,
        counted(loss.packets, "packet"),
        by(loss)
    );
    let is_sure = loss.place.layer <= Layer::Backlog && !loss.place.is_common;
    let seen = if is_sure {
        lost(seen)
    } else {
        Seen::Note(seen)
    };
    let words = (loss.place.why.clone(), next(loss.place, &loss.interface));
    Finding::new(seen, words)
}

pub(super) fn lost(how: String) -> Seen {
    Seen::problem(Unfit::ProgramLoses { how })
}

/// Returns the places in few words, such as `reverse path filter 500, closed UDP ports 3`.
pub fn list(losses: &[Loss]) -> String {
    let each = losses
        .iter()
        .map(|loss| format!("{} {}", loss.place.what, loss.packets));
    each.collect::<Vec<_>>().join(", ")
}

/// Returns what happened to interfaces of this host, each with its next step. `growth` is that of the counters.
pub fn links(growth: &LossCounters) -> Vec<(String, String)> {
    let of_each = growth.links.iter().filter(|(_, times)| **times > 0);
    let happened = of_each.filter_map(|(name, times)| {
        let (interface, counter) = name.split_once(' ')?;
        let set_down = format!("{interface} set_down");
        match counter {
            "set_down" => Some((
                format!("{interface} was set down here"),
                "who does that: journalctl -b -u NetworkManager -u systemd-networkd".to_owned(),
            )),
            // It takes the carrier as well.
            _ if growth.links.get(&set_down).is_some_and(|it| *it > 0) => None,
            _ => Some((
                format!("{interface} had no link (carrier changes +{times})"),
                format!("its cable, plugs, the other end; sudo dmesg; sudo ethtool {interface}"),
            )),
        }
    });
    happened.collect()
}

/// Returns which places cannot be looked at here, and why. `None`: all can.
pub fn not_looked_at(interval: &Interval, no_reasons: Option<&str>) -> Option<String> {
    let unseen = interval.lost.unseen();
    let unseen = unseen
        .filter(|place| place.layer != Layer::Out)
        .map(|place| match &*place.since {
            "" => place.what.clone(),
            since => format!("{} (since Linux {since})", place.what),
        });
    let unseen = unseen.collect::<Vec<_>>().join(", ");
    let why = no_reasons.map(|why| format!("; {why}"));
    (!unseen.is_empty()).then(|| unseen + &why.unwrap_or_default())
}

fn by(loss: &Loss) -> String {
    let reasons = &loss.place.reasons;
    let only_reasons = loss.by.iter().all(|(name, _)| reasons.contains(name));
    let each = loss.by.iter();
    let each = each.map(|(name, count)| format!("{name} {count}"));
    let whole = if only_reasons {
        ", of the whole machine"
    } else {
        ""
    };
    each.collect::<Vec<_>>().join(", ") + whole
}

fn next(place: &LossPlace, interface: &str) -> String {
    let is_known = !interface.is_empty();
    place.next_at(if is_known { interface } else { "lo" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_drop_reasons_a_firewall_behind_lost_fragments_is_said_not_to_be_looked_at() {
        let counters = [
            ("IpReasmReqds", 200),
            ("IpReasmOKs", 0),
            ("IpReasmFails", 0),
        ];
        let counters = counters.map(|(name, count)| (name.to_owned(), count));
        let seen = Interval {
            lost: LossCounters {
                counters: counters.into(),
                ..LossCounters::default()
            },
            ..Interval::default()
        };
        let lost = elsewhere(&seen, &[]);
        assert_eq!(list(&lost), "fragments of which none became whole 200");
        assert!(loss_finding(&lost[0]).why.contains("firewall"));
        let unseen = not_looked_at(&seen, Some("root counts them")).expect("some");
        assert!(unseen.contains("firewall (NETFILTER_DROP)"), "{unseen}");
        assert!(unseen.ends_with("; root counts them"), "{unseen}");
    }

    #[test]
    fn an_interface_that_was_set_down_is_no_pulled_cable() {
        let growth = |counts: &[(&str, u64)]| LossCounters {
            links: counts
                .iter()
                .map(|(name, count)| ((*name).to_owned(), *count))
                .collect(),
            ..LossCounters::default()
        };
        let said = |counts: &[(&str, u64)]| {
            let said = links(&growth(counts)).into_iter();
            said.map(|(what, next)| format!("{what}: {next}"))
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(
            said(&[("wan0 carrier_changes", 0), ("wan0 set_down", 0)]),
            ""
        );
        let set_down = said(&[("wan0 carrier_changes", 2), ("wan0 set_down", 1)]);
        assert!(
            set_down.starts_with("wan0 was set down here: who does that"),
            "{set_down}"
        );
        assert!(!set_down.contains("cable"), "{set_down}");
        let pulled = said(&[("wan0 carrier_changes", 2), ("wan0 set_down", 0)]);
        assert!(
            pulled.starts_with("wan0 had no link (carrier changes +2): its cable"),
            "{pulled}"
        );
    }
}
