//! Reads the model of the machine, and detects a hidden device tree.

use super::cpuinfo;
use crate::sys::files::Root;

/// Returns the model: from the device tree, from DMI, or from `/proc/cpuinfo` of Raspberry Pi's kernels.
pub(super) fn read(root: &Root) -> Option<String> {
    let model = root.text("proc/device-tree/model");
    let model = model.or_else(|| root.text("sys/class/dmi/id/product_name"));
    model.or_else(|| cpuinfo::board_model(root))
}

/// Returns whether there is a device tree that this process does not see: Raspberry Pi's kernels print its model in
/// `/proc/cpuinfo`, and `/proc/device-tree` is a link to a directory that containers mask (`/sys/firmware`).
pub(super) fn is_hidden(root: &Root, compatible: &[String]) -> bool {
    let tree = root.path("proc/device-tree");
    let leads_nowhere = tree.is_symlink() && root.text("proc/device-tree/model").is_none();
    // Booted by UEFI, a Raspberry Pi may have no device tree, but DMI.
    let has_dmi = root.text("sys/class/dmi/id/product_name").is_some();
    let is_printed = !tree.exists() && !has_dmi && cpuinfo::board_model(root).is_some();
    compatible.is_empty() && (leads_nowhere || is_printed)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::super::Host;
    use super::super::tests::{File, tree};

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
}
