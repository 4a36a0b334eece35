//! A window that a site opens and closes by its own clock, while nobody speaks to it.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use super::readings::Reading;
use super::site::{Edge, Edges, Site};
use super::wait::{LOOK, stalled};
use crate::data::Case;

/// How far clocks of two hosts may have come apart in a window, and how long threads may be held up.
const EARLY: Duration = Duration::from_secs(1);

/// When what is done, and what came of it.
pub(super) struct Timetable {
    edges: Edges,
    /// Since when, once the threads run.
    since: Option<Instant>,
    look_at: Instant,
    /// How often threads that may wait for a lost datagram are woken.
    wake: Option<(Duration, Instant)>,
    opening: Option<anyhow::Result<Reading>>,
    /// When that had been read.
    opened: Instant,
    closing: Option<anyhow::Result<Reading>>,
}

impl Timetable {
    /// Nothing runs yet.
    pub(super) fn new(case: &Case, edges: Edges) -> Self {
        let now = Instant::now();
        Self {
            edges,
            since: None,
            look_at: now,
            wake: stalled(case).map(|after| (after, now)),
            opening: None,
            opened: now,
            closing: None,
        }
    }

    /// The threads run.
    pub(super) fn start(&mut self) {
        let now = Instant::now();
        self.since = Some(now);
        self.look_at = now + LOOK;
        if let Some((after, at)) = &mut self.wake {
            *at = now + *after;
        }
    }

    /// How long until something is to be done. `None`: nothing is.
    pub(super) fn left(&self) -> Option<Duration> {
        let due = self.due()?;
        let wake = self.wake.map(|(_, at)| at);
        let next = [Some(due), Some(self.look_at), wake].into_iter().flatten();
        let next = next.min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    /// When the next edge is.
    fn due(&self) -> Option<Instant> {
        let opens = self.since? + self.edges.warmup;
        match (&self.opening, &self.closing) {
            (None, _) => Some(opens),
            (Some(_), None) => Some(self.opened + self.edges.window),
            (Some(_), Some(_)) => None,
        }
    }

    /// Does what is due.
    pub(super) fn tick(&mut self, site: &mut dyn Site) {
        let now = Instant::now();
        if self.due().is_some_and(|due| due <= now) {
            if self.opening.is_none() {
                self.opening = Some(site.snapshot(Edge::Opening));
                self.opened = Instant::now();
            } else {
                let closing = site.snapshot(Edge::Closing);
                self.closing = Some(site.stop().and(closing));
            }
        }
        // Whatever fails here fails when readings are asked for, too.
        if let Some((after, _)) = self.wake.filter(|(_, at)| *at <= now) {
            self.wake = Some((after, now + after));
            let _ = site.wake_stalled();
        }
        if self.look_at <= now {
            self.look_at = now + LOOK;
            let _ = site.look();
        }
    }

    /// What was read at an edge. Whoever asks may be a moment early, by another clock.
    ///
    /// # Errors
    /// What the site said then, and when that edge is not even near.
    pub(super) fn taken(&mut self, edge: Edge, site: &mut dyn Site) -> anyhow::Result<Reading> {
        loop {
            let reading = match edge {
                Edge::Opening => &self.opening,
                Edge::Closing => &self.closing,
            };
            match reading {
                Some(Ok(reading)) => return Ok(reading.clone()),
                Some(Err(error)) => bail!("{error:#}"),
                None => {}
            }
            let due = self.due().context("the threads have not started")?;
            let left = due.saturating_duration_since(Instant::now());
            ensure!(left <= EARLY, "that edge of the window is still to come");
            thread::sleep(left);
            self.tick(site);
        }
    }
}
