//! Counts of completed sends, and what they say about the run.

use crate::engine::Remark;

/// Completed calls, and how many of them the kernel copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// Completed calls.
    pub calls: u64,
    /// Completed calls that the kernel copied.
    pub copied: u64,
}

impl Completed {
    /// Says in the results row whether the kernel copied. `None`: it copied nothing.
    pub fn remark(self) -> Remark {
        match self {
            Self { copied: 0, .. } => None,
            Self { calls, copied } if calls == copied => Some(
                "zero copy: the kernel copied all datagrams after all, as it does over loopback, veth and interfaces \
                 without checksum offload",
            ),
            Self { .. } => Some("zero copy: the kernel copied some of the datagrams after all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_tells_whether_the_kernel_copied() {
        let copied = |copied| Completed { calls: 7, copied }.remark();
        assert_eq!(copied(0), None);
        assert!(copied(3).is_some_and(|it| it.contains("some")));
        assert!(copied(7).is_some_and(|it| it.contains("all")));
    }
}
