//! Changed settings of a host: changed for one trial and put back after it, also if the process that changed them dies.
//!
//! | step | module |
//! |---|---|
//! | list, lock, check and change the settings of this host, or of an agent's host | `host_settings` |
//! | change the settings of this host for one trial, and put them back | `changed_settings` |
//! | put them back, with retries, also if the process that changed them has died | `watchdog` |

pub mod changed_settings;
pub mod host_settings;
pub mod watchdog;
