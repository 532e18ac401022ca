//! Files of kernels, and the words and the archive that a virtual machine starts with.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use switchcost_model::harmless;

/// Place of the words `HdrS` in a bzImage, of the offset of its version, and of its flags, of which
/// the first says that it has an entry for 64 bits (Documentation/arch/x86/boot.rst).
const MAGIC: usize = 0x202;
const VERSION: usize = 0x20E;
const FLAGS: usize = 0x236;

/// The version begins within 64 KiB.
const HEAD: u64 = 128 << 10;

/// What is equal in all kernels: no randomness of addresses, no mitigations, no groups of sessions,
/// the counter of instructions as the only clock.
pub const WORDS: &str = "console=ttyS0 quiet loglevel=1 panic=-1 norandmaps nokaslr randomize_kstack_offset=off mitigations=off noautogroup tsc=reliable \
                         clocksource=tsc tsc_early_khz=1000000";

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
        let mut bytes = Vec::new();
        let read = switchcost_machine::open_file(path).and_then(|file| file.take(HEAD).read_to_end(&mut bytes));
        read.map_err(|error| wrong(&format!("cannot be read ({error})")))?;
        let at = |place: usize| bytes.get(place..).unwrap_or_default();
        let number = |place: usize| at(place).first_chunk().map_or(0, |two| usize::from(u16::from_le_bytes(*two)));
        match () {
            () if at(0x38).starts_with(b"ARM\x64") => Err(wrong("is a kernel for another architecture, arm64")),
            () if at(0).starts_with(b"\x7fELF") => Err(wrong("is an ELF file, such as vmlinux")),
            () if at(MAGIC).starts_with(b"HdrS") && number(FLAGS) & 1 == 1 => Ok(()),
            () => Err(wrong("is not a kernel for this architecture")),
        }?;
        let words = at(number(VERSION) + 0x200).iter().take(200).take_while(|byte| !matches!(byte, 0 | b' '));
        let release: String = words.map(|byte| char::from(*byte)).collect();
        Ok(Self { path: path.to_owned(), release: harmless(&release) })
    }

    /// Its configuration, if that lies beside it under the name that distributions give it.
    pub fn options(&self) -> Option<BTreeMap<String, String>> {
        let name = self.path.file_name()?.to_str()?.strip_prefix("vmlinuz-")?;
        let text = std::fs::read_to_string(self.path.with_file_name(format!("config-{name}"))).ok()?;
        let set = text.lines().filter(|line| line.starts_with("CONFIG_")).filter_map(|line| line.split_once('='));
        Some(set.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}

/// Kernels in a folder, oldest first.
pub fn images_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut images: Vec<(Vec<u64>, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let numbers = name.strip_prefix("vmlinuz-")?.split(|c: char| !c.is_ascii_digit());
            Some((numbers.filter_map(|digits| digits.parse().ok()).take(3).collect(), entry.path()))
        })
        .collect();
    images.sort();
    images.into_iter().map(|(_, path)| path).collect()
}

/// An archive of programs and text, as a kernel unpacks it (cpio, form `newc`:
/// Documentation/driver-api/early-userspace/buffer-format.rst).
pub fn archive<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut out = Vec::new();
    let programs = files.map(|(name, content)| (name, 0o100_755, content));
    let all = [("dev", 0o040_755_usize, &[][..])].into_iter().chain(programs).chain([("TRAILER!!!", 0, &[][..])]);
    for (number, (name, mode, content)) in all.enumerate() {
        let fields = [number, mode, 0, 0, 1, 0, content.len(), 0, 0, 0, 0, name.len() + 1, 0];
        out.extend(b"070701");
        out.extend(fields.map(|field| format!("{field:08X}")).concat().bytes());
        for part in [format!("{name}\0").as_bytes(), content] {
            out.extend(part);
            out.resize(out.len().next_multiple_of(4), 0);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_what_cpio_unpacks() {
        let bytes = archive([("init", &b"abc"[..]), ("plan", b"")].into_iter());
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
