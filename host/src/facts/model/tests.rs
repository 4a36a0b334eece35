//! Tests of what the machine is.

use std::fs;
use std::os::unix::fs::symlink;

use super::super::Host;
use super::super::tests::{File, tree};
use super::*;

#[test]
fn a_device_tree_that_a_container_masks_is_missed() {
    let model = (
        "proc/cpuinfo",
        "Model\t\t: Raspberry Pi 4 Model B Rev 1.4\n",
    );
    let tree_model = ("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0");
    let dmi = ("sys/class/dmi/id/product_name", "Raspberry Pi 4 Model B\n");
    let x86 = ("proc/cpuinfo", "model name\t: AMD EPYC\n");
    // Columns: the files, whether `/proc/device-tree` is a link that leads nowhere, whether a tree is hidden, the
    // model.
    let cases: [(&[File], bool, bool, Option<&str>); 9] = [
        (
            &[model],
            false,
            true,
            Some("Raspberry Pi 4 Model B Rev 1.4"),
        ),
        (&[model], true, true, Some("Raspberry Pi 4 Model B Rev 1.4")),
        (&[], true, true, None),
        (
            &[model, tree_model],
            false,
            false,
            Some("Raspberry Pi 4 Model B Rev 1.4"),
        ),
        // Booted by UEFI, there is no device tree.
        (&[dmi], false, false, Some("Raspberry Pi 4 Model B")),
        (&[dmi, model], false, false, Some("Raspberry Pi 4 Model B")),
        (&[x86], false, false, None),
        (&[x86, dmi], true, true, Some("Raspberry Pi 4 Model B")),
        (&[], false, false, None),
    ];
    for (files, is_masked, hides, model) in cases {
        let (place, root) = tree(files);
        if is_masked {
            fs::create_dir_all(place.path().join("proc")).expect("writable");
            let link = place.path().join("proc/device-tree");
            symlink("../sys/firmware/devicetree/base", link).expect("writable");
        }
        let host = Host::read(&root);
        assert_eq!(host.hides_device_tree, hides, "{files:?} {is_masked}");
        assert_eq!(host.model.as_deref(), model, "{files:?} {is_masked}");
    }
}

#[test]
fn the_kind_of_each_core_is_arms_number() {
    let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd03\n\n\
               processor\t: 4\nCPU implementer\t: 0x41\nCPU part\t: 0xd09\n\n\
               processor\t: 5\nCPU implementer\t: 0x51\nCPU part\t: 0x800\n\n\
               processor\t: 6\nCPU implementer\t: 0x41\nCPU part\t: x\n\n\
               Model\t\t: Raspberry Pi 4 Model B Rev 1.4\n";
    let (_dir, root) = tree(&[("proc/cpuinfo", arm)]);
    assert_eq!(parts(&root), [(0, 0xd03), (4, 0xd09)].into());
    let model = board_model(&root);
    assert_eq!(model.as_deref(), Some("Raspberry Pi 4 Model B Rev 1.4"));
    let x86 = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n";
    let (_dir, root) = tree(&[("proc/cpuinfo", x86)]);
    assert_eq!((parts(&root), board_model(&root)), (BTreeMap::new(), None));
}

fn seen(path: &str, text: &str, compatible: &[&str]) -> Option<String> {
    let place = tempfile::TempDir::new().expect("a temporary directory");
    let file = place.path().join(path);
    fs::create_dir_all(file.parent().expect("it has one")).expect("writable");
    fs::write(file, text).expect("writable");
    let compatible: Vec<String> = compatible.iter().map(|&entry| entry.to_owned()).collect();
    virtualization(&Root::new(place.path()), &compatible)
}

#[test]
fn emulators_and_hypervisors_are_told_by_what_they_show() {
    let qemu = Some("qemu".to_owned());
    assert_eq!(seen("sys/class/dmi/id/sys_vendor", "QEMU\n", &[]), qemu);
    let edited = ["raspberrypi,4-model-b", "brcm,bcm2711", "linux,dummy-virt"];
    assert_eq!(seen("proc/version", "", &edited), qemu);
    assert_eq!(seen("proc/version", "", &edited[..2]), None);
    let xen = "xen,xen-4.17\0xen,xen\0";
    assert_eq!(
        seen("proc/device-tree/hypervisor/compatible", xen, &[]).as_deref(),
        Some("xen,xen-4.17")
    );
    let flags = "flags\t\t: fpu hypervisor lahf_lm\n";
    assert_eq!(
        seen("proc/cpuinfo", flags, &[]).as_deref(),
        Some("unnamed hypervisor")
    );
    assert_eq!(seen("sys/class/dmi/id/sys_vendor", "ASUS", &[]), None);
    let named = [
        (
            "product_name",
            "Apple Virtualization Generic Platform\n",
            "apple",
        ),
        ("product_name", "KubeVirt\n", "kvm"),
        ("bios_vendor", "BHYVE\n", "bhyve"),
        (
            "product_version",
            "Hyper-V UEFI Release v4.1\n",
            "microsoft",
        ),
        ("sys_vendor", "Amazon EC2\n", "amazon"),
    ];
    for (file, text, name) in named {
        let seen = seen(&format!("sys/class/dmi/id/{file}"), text, &[]);
        assert_eq!(seen.as_deref(), Some(name), "{text}");
    }
    for (file, text) in [("product_name", "c6g.metal\n"), ("bios_vendor", "EDK II\n")] {
        assert_eq!(seen(&format!("sys/class/dmi/id/{file}"), text, &[]), None);
    }
    let release = "5.15.153.1-microsoft-standard-WSL2\n";
    let wsl = seen("proc/sys/kernel/osrelease", release, &[]);
    assert_eq!(wsl.as_deref(), Some("wsl"));
}
