//! Changed settings of a host: changed for one trial and put back after it, also if the process that changed them dies.
//!
//! | step | module |
//! |---|---|
//! | list, lock, check and change the settings of this host, or of an agent's host | `host_settings` |
//! | change the settings of this host for one trial, and put them back | `changed_settings` |
//! | put them back if the process that changed them has died | `watchdog` |
//! | write the previous values, with retries | `put_back` |

pub mod changed_settings;
pub mod host_settings;
pub(super) mod put_back;
pub mod watchdog;
