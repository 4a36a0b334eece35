//! Parameters of real time: the scheduling class of bench threads, and locked memory.

use super::bounded::{choice, text_form};
use crate::sys::scheduling::{Class, MOST_PRIORITY};

/// Scheduling class and priority of bench threads: `other`, `fifo:50`, `rr:10`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sched {
    /// The usual class.
    Other,
    /// SCHED_FIFO with this priority, from 1.
    Fifo(u8),
    /// SCHED_RR with this priority, from 1.
    RoundRobin(u8),
}

impl Sched {
    /// Returns the class and the priority, which is 0 for the usual class.
    pub fn class(self) -> (Class, u8) {
        match self {
            Self::Other => (Class::Other, 0),
            Self::Fifo(priority) => (Class::Fifo, priority),
            Self::RoundRobin(priority) => (Class::RoundRobin, priority),
        }
    }

    /// Returns the real-time priority. `None`: the usual class has none.
    pub fn priority(self) -> Option<u8> {
        Some(self.class().1).filter(|&priority| priority > 0)
    }

    const FIX: &str = "use other, or fifo or rr with a priority from 1 to 98, such as fifo:50";

    fn parse(text: &str) -> Option<Self> {
        if text == "other" {
            return Some(Self::Other);
        }
        let (class, priority) = text.split_once(':')?;
        let priority = priority.parse().ok()?;
        let is_in_range = (1..=MOST_PRIORITY).contains(&priority);
        match class {
            "fifo" if is_in_range => Some(Self::Fifo(priority)),
            "rr" if is_in_range => Some(Self::RoundRobin(priority)),
            _ => None,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Other => "other".to_owned(),
            Self::Fifo(priority) => format!("fifo:{priority}"),
            Self::RoundRobin(priority) => format!("rr:{priority}"),
        }
    }
}

text_form!(Sched);

choice! {
    /// Locking of the memory of the process that runs the bench threads.
    Mlock {
        /// Memory may be swapped or not yet be in RAM, as usual.
        Off "off",
        /// All memory stays in RAM (mlockall(2)).
        On "on",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_a_priority_that_leaves_one_above_it() {
        for text in ["other", "fifo:1", "rr:98"] {
            let sched: Sched = text.parse().expect("one of them");
            assert_eq!(sched.to_string(), text);
        }
        for text in ["", "fifo", "fifo:0", "fifo:99", "rr:x", "other:1", "idle:1"] {
            let fix = text.parse::<Sched>().expect_err(text);
            assert!(fix.contains("fifo:50"), "{fix}");
        }
    }
}
