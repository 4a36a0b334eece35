//! Access to the operating system: `/proc`, `/sys`, clocks, signals, socket options.
//!
//! `unsafe` code is only here and in [`crate::engines`]. A sensor, a socket option or a permission may be missing on a
//! board. Its absence is an `Option` or a reason, never a panic.

pub mod arrival;
pub mod busy_poll;
pub mod clock;
pub mod clock_watch;
pub mod control_messages;
pub mod cpu_speed;
pub mod drop_reasons;
pub mod error_queue;
pub mod files;
pub mod host_id;
pub mod idle_states;
pub mod interface_addresses;
pub mod interrupt;
pub mod kernel_drops;
pub mod kernel_log;
pub mod limits;
pub mod loss_counters;
pub mod loss_places;
pub mod messages;
mod netlink;
pub mod nic;
pub mod own_loopback;
pub mod path_counters;
pub mod power;
pub mod processes;
pub mod protocols;
pub mod reuseport;
pub mod run_queue;
pub mod scheduling;
pub mod sensors;
pub mod socket_options;
pub mod socket_queues;
pub mod stamped_receive;
pub mod temperature;
pub mod udp_sockets;
pub mod wakeup;
