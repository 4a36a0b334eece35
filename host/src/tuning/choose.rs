//! Chooses the tunings that a machine has, and the value to try for each.

use std::io;

use serde::{Deserialize, Serialize};

use super::{LeftOut, Location, Name, Setting, Tuning, Tunings};
use crate::facts::{self, CpufreqPolicy, Host, Interface};
use crate::sys::files::Root;
use crate::sys::nic::{Changeable, Ethtool};
use crate::text::cpu_list::{is_empty_mask, mask};

/// A request for tunings to try, if the machine has them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wanted {
    /// The requested tunings.
    pub names: Vec<Name>,
    /// The interfaces that datagrams pass.
    pub interfaces: Vec<String>,
}

/// Selects the requested tunings that can be tried on `host`, whose `/proc` and `/sys` are below `root`. Changes
/// nothing.
pub fn choose(wanted: &Wanted, host: &Host, root: &Root) -> Tunings {
    let machine = Machine {
        root,
        host,
        interfaces: &lowest(&wanted.interfaces, root),
    };
    let mut tunings = Tunings::default();
    for &name in &wanted.names {
        match machine.settings(name).and_then(|all| machine.usable(all)) {
            Ok(settings) => tunings.tried.push(Tuning { name, settings }),
            Err(reason) => tunings.left_out.push(LeftOut { name, reason }),
        }
    }
    tunings
}

/// Returns the interfaces at the bottom of these, each once: those that have queues, interrupts and a driver.
fn lowest(interfaces: &[String], root: &Root) -> Vec<String> {
    let mut lowest: Vec<String> = Vec::new();
    for name in interfaces {
        let found = Interface::read(root, name);
        let all = found.iter().flat_map(Interface::with_below);
        let bottom = all.filter(|it| it.below.is_empty());
        let mut names: Vec<String> = bottom.map(|it| it.name.clone()).collect();
        if names.is_empty() {
            names.push(name.clone());
        }
        names.retain(|name| !lowest.contains(name));
        lowest.extend(names);
    }
    lowest
}

struct Machine<'a> {
    root: &'a Root,
    host: &'a Host,
    interfaces: &'a [String],
}

impl Machine<'_> {
    fn settings(&self, name: Name) -> Result<Vec<Setting>, String> {
        match name {
            Name::Control => Ok(Vec::new()),
            Name::Governor => self.governors(),
            Name::Rps => self.each_interface(|interface| self.rps(interface)),
            Name::Xps => self.each_interface(|interface| self.xps(interface)),
            Name::Irq => self.each_interface(|interface| self.irqs(interface)),
            Name::Gro => self.driver(Changeable::Gro, |_, before| {
                if before == "on" { "off" } else { "on" }.to_owned()
            }),
            Name::Coalescing => self.driver(Changeable::Coalescing, |_, _| "0 us".to_owned()),
            Name::Eee => self.driver(Changeable::Eee, |_, _| "off".to_owned()),
            Name::PowerSave => self.driver(Changeable::PowerSave, |_, _| "off".to_owned()),
            Name::Ring => self.driver(Changeable::Rings, |driver, before| {
                let most = driver.rings().map(|rings| (rings.rx_max, rings.tx_max));
                most.map_or(before.to_owned(), |(rx, tx)| format!("rx {rx} tx {tx}"))
            }),
            Name::Pause => self.driver(Changeable::Pause, |_, before| {
                Changeable::other_pause(before)
            }),
        }
    }

    /// Returns the settings that do not have the value to try already. Fails if there are none, or if one of them
    /// cannot be set.
    fn usable(&self, settings: Vec<Setting>) -> Result<Vec<Setting>, String> {
        let first = settings.first().cloned();
        let is_as_tried = |it: &Setting| it.location.is_same(&it.before, &it.tried);
        let left: Vec<Setting> = settings
            .into_iter()
            .filter(|setting| !is_as_tried(setting))
            .collect();
        if let (Some(first), true) = (first, left.is_empty()) {
            return Err(format!("{}: it is {} already", first.location, first.tried));
        }
        for setting in &left {
            let checked = setting.location.check(self.root);
            checked.map_err(|error| unusable(&setting.location, &error))?;
        }
        Ok(left)
    }

    fn each_interface(
        &self,
        settings: impl Fn(&str) -> Result<Vec<Setting>, String>,
    ) -> Result<Vec<Setting>, String> {
        let each = self.interfaces.iter().map(|interface| settings(interface));
        Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn online(&self) -> Result<Vec<usize>, String> {
        // Where the list is not the kernel's own, CPUs that this process may use are online.
        let usable = || self.host.cpus.iter().map(|cpu| cpu.id).collect();
        let cpus: Vec<usize> = facts::online(self.root).unwrap_or_else(usable);
        if cpus.len() < 2 {
            return Err("this machine has one CPU".to_owned());
        }
        Ok(cpus)
    }

    fn file(&self, path: String, tried: String) -> Result<Setting, String> {
        let location = Location::File(path);
        let before = location.read(self.root);
        let before = before.map_err(|error| unusable(&location, &error))?;
        Ok(Setting {
            location,
            before,
            tried,
        })
    }

    /// Returns the files of this name of an interface's queues in one direction, which are of this network namespace.
    fn queues(&self, interface: &str, direction: &str, file: &str) -> Result<Vec<String>, String> {
        if self.host.sys_is_foreign {
            return Err("/sys does not show the interfaces of this network namespace".to_owned());
        }
        let queues = format!("sys/class/net/{interface}/queues");
        let names = self.root.names(&queues, direction).into_iter();
        let files = names.map(|queue| format!("{queues}/{queue}/{file}"));
        Ok(files.collect())
    }

    /// Returns RPS settings with the CPUs that get no interrupt of the interface. If RPS is on, tries it off.
    fn rps(&self, interface: &str) -> Result<Vec<Setting>, String> {
        let files = self.queues(interface, "rx-", "rps_cpus")?;
        if files.is_empty() {
            return Err(format!("{interface} has no receive queues"));
        }
        let online = self.online()?;
        let busy = Interface::read(self.root, interface).map_or_else(Vec::new, |it| it.irq_cpus);
        let mut others = online.clone();
        others.retain(|cpu| !busy.contains(cpu));
        let mask = mask(if others.is_empty() { &online } else { &others });
        self.masks(files, std::iter::repeat(mask))
    }

    /// Returns XPS settings with another CPU for each queue. If XPS is on, tries it off.
    fn xps(&self, interface: &str) -> Result<Vec<Setting>, String> {
        let files = self.queues(interface, "tx-", "xps_cpus")?;
        if files.len() < 2 {
            return Err(format!("{interface} has one transmit queue"));
        }
        let online = self.online()?;
        let masks = online.iter().cycle().map(|cpu| mask(&[*cpu]));
        self.masks(files, masks)
    }

    /// Returns settings of files with these masks, or off if any of the files is on.
    fn masks(
        &self,
        files: Vec<String>,
        masks: impl Iterator<Item = String>,
    ) -> Result<Vec<Setting>, String> {
        let settings = files.into_iter().zip(masks);
        let settings = settings.map(|(file, mask)| self.file(file, mask));
        let mut settings: Vec<Setting> = settings.collect::<Result<_, _>>()?;
        if settings.iter().any(|it| !is_empty_mask(&it.before)) {
            for setting in &mut settings {
                "0".clone_into(&mut setting.tried);
            }
        }
        Ok(settings)
    }

    /// Returns affinity settings with another CPU for each interrupt, from the last CPU down: most machines serve
    /// interrupts on the first.
    fn irqs(&self, interface: &str) -> Result<Vec<Setting>, String> {
        let irqs = Interface::read(self.root, interface).map_or_else(Vec::new, |it| it.irqs);
        if irqs.is_empty() {
            return Err(format!("{interface} has no interrupts of its own"));
        }
        let online = self.online()?;
        let cpus = online.iter().rev().cycle();
        let setting = |(irq, cpu): (&u32, &usize)| {
            self.file(format!("proc/irq/{irq}/smp_affinity"), mask(&[*cpu]))
        };
        irqs.iter().zip(cpus).map(setting).collect()
    }

    fn governors(&self) -> Result<Vec<Setting>, String> {
        const TRIED: &str = "performance";
        let policies = facts::policies(self.root);
        if policies.is_empty() {
            return Err("this machine has no cpufreq".to_owned());
        }
        let setting = |policy: &CpufreqPolicy| {
            let file = |name| format!("{}/{name}", policy.directory);
            let all = self.root.text(file("scaling_available_governors"));
            match all.filter(|all| !all.split(' ').any(|it| it == TRIED)) {
                Some(all) => Err(format!(
                    "{} has no governor {TRIED}, but {all}",
                    policy.name
                )),
                None => self.file(file("scaling_governor"), TRIED.to_owned()),
            }
        };
        policies.iter().map(setting).collect()
    }

    fn driver(
        &self,
        what: Changeable,
        tried: impl Fn(&Ethtool, &str) -> String,
    ) -> Result<Vec<Setting>, String> {
        self.each_interface(|interface| {
            if interface == "lo" {
                return Err("lo has no driver: datagrams go from socket to socket".to_owned());
            }
            let location = Location::Driver {
                interface: interface.to_owned(),
                what,
            };
            let before = location.read(self.root);
            let before = before.map_err(|error| unusable(&location, &error))?;
            let driver = Ethtool::open(interface).map_err(|error| unusable(&location, &error))?;
            Ok(vec![Setting {
                tried: tried(&driver, &before),
                location,
                before,
            }])
        })
    }
}

/// Explains to users why a setting cannot be changed.
fn unusable(location: &Location, error: &io::Error) -> String {
    let why = match error.kind() {
        io::ErrorKind::PermissionDenied => "not permitted: try as root".to_owned(),
        io::ErrorKind::Unsupported => "this driver has no such setting".to_owned(),
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    };
    format!("{location}: {why}")
}

#[cfg(test)]
mod tests;
