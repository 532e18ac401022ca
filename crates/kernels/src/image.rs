//! Files of kernels, and the archive that a virtual machine starts with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use switchcost_model::harmless;

/// Place of the words `HdrS` in a bzImage, of the offset of its version, and of its flags, of which the first says that it has an entry for 64 bits
/// (Documentation/arch/x86/boot.rst).
const MAGIC: usize = 0x202;
const VERSION: usize = 0x20E;
const FLAGS: usize = 0x236;

/// More than any kernel takes.
const MOST: u64 = 512 << 20;

/// A kernel's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The file.
    pub path: PathBuf,
    /// What `uname -r` must say in it.
    pub release: String,
}

impl Image {
    /// Looks at the head of a file.
    ///
    /// # Errors
    /// A sentence that names the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let wrong = |why: &str| format!("{} {why}; name a bzImage for x86-64", path.display());
        let length = std::fs::metadata(path).map_err(|error| wrong(&format!("cannot be read ({error})")))?.len();
        if length > MOST {
            return Err(wrong("is larger than any kernel"));
        }
        let bytes = std::fs::read(path).map_err(|error| wrong(&format!("cannot be read ({error})")))?;
        let at = |place: usize| bytes.get(place..place + 4).unwrap_or_default();
        if at(0x38) == b"ARM\x64" {
            return Err(wrong("is a kernel for another architecture, arm64"));
        }
        if bytes.starts_with(b"\x7fELF") {
            return Err(wrong("is an ELF file, such as vmlinux"));
        }
        let number = |place: usize| at(place).get(..2).map_or(0, |two| usize::from(two[0]) | usize::from(two[1]) << 8);
        if at(MAGIC) != b"HdrS" || number(FLAGS) & 1 == 0 {
            return Err(wrong("is not a kernel for this architecture"));
        }
        let version = bytes.get(number(VERSION) + 0x200..).unwrap_or_default();
        let words = version.iter().take(200).take_while(|byte| !matches!(byte, 0 | b' '));
        let release: String = words.map(|byte| char::from(*byte)).collect();
        Ok(Self { path: path.to_owned(), release: harmless(&release) })
    }

    /// Its configuration, if that lies beside it under the name that distributions give it.
    #[must_use]
    pub fn configuration(&self) -> Option<BTreeMap<String, String>> {
        let name = self.path.file_name()?.to_str()?.strip_prefix("vmlinuz-")?;
        let text = std::fs::read_to_string(self.path.with_file_name(format!("config-{name}"))).ok()?;
        let set = text.lines().filter(|line| line.starts_with("CONFIG_")).filter_map(|line| line.split_once('='));
        Some(set.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}

/// Kernels in a folder, oldest first.
#[must_use]
pub fn images_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let named = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz-"));
    let mut images: Vec<PathBuf> = entries.filter(named).collect();
    let numbers = |path: &PathBuf| -> Vec<u64> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).take(3).collect()
    };
    images.sort_by_key(|path| (numbers(path), path.clone()));
    images
}

/// An archive of programs and text, as a kernel unpacks it (cpio, form `newc`: Documentation/driver-api/early-userspace/buffer-format.rst).
#[must_use]
pub fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let folders = [("dev", 0o040_755_u32, &[][..])];
    let programs = files.iter().map(|(name, content)| (*name, 0o100_755, *content));
    for (number, (name, mode, content)) in
        folders.into_iter().chain(programs).chain([("TRAILER!!!", 0, &[][..])]).enumerate()
    {
        let fields = [number, mode as usize, 0, 0, 1, 0, content.len(), 0, 0, 0, 0, name.len() + 1, 0];
        out.extend(b"070701");
        fields.iter().for_each(|field| out.extend(format!("{field:08X}").bytes()));
        out.extend(name.bytes().chain([0]));
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend(content);
        out.resize(out.len().next_multiple_of(4), 0);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_what_cpio_unpacks() {
        let bytes = archive(&[("init", b"abc"), ("plan", b"")]);
        let text = String::from_utf8_lossy(&bytes);
        let places: Vec<usize> = text.match_indices("070701").map(|(place, _)| place).collect();
        assert_eq!(places.len(), 4);
        assert!(places.iter().all(|place| place % 4 == 0));
        let init = &text[places[1]..places[2]];
        let field = |number: usize| u64::from_str_radix(&init[6 + 8 * number..14 + 8 * number], 16).unwrap();
        assert_eq!((field(1), field(6), field(11)), (0o100_755, 3, 5));
        assert_eq!(&init[110..119], "init\0\0abc");
        assert!(text[places[3]..].contains("TRAILER!!!"));
    }

    #[test]
    fn kernels_are_listed_oldest_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["vmlinuz-6.12.1-cloud", "vmlinuz-6.2.9-cloud", "config-6.2.9-cloud"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = images_in(folder.path());
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["vmlinuz-6.2.9-cloud", "vmlinuz-6.12.1-cloud"]);
    }
}
