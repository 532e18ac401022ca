//! Waits that count progress, so that they hold on a machine of any speed.

use crate::World;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a wait may last: many times what the slowest of them takes on a quiet machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Waits until it has come about.
///
/// # Panics
/// When it does not.
#[track_caller]
pub fn until(what: &str, mut come: impl FnMut() -> bool) {
    let began = Instant::now();
    while !come() {
        assert!(began.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What an attempt gives once the machine is quick enough for the deadlines in it, which are so
/// many times as long each time. The attempt panics where something is wrong, and gives None where
/// time was too short for what it wants to see.
///
/// # Panics
/// When even the longest deadlines are too short.
#[track_caller]
pub fn in_time<T>(mut attempt: impl FnMut(u64) -> Option<T>) -> T {
    [1, 5, 25].into_iter().find_map(&mut attempt).expect("the longest deadlines are too short")
}

/// The starts of a world's probe, counted before they do anything.
pub struct Starts {
    count: PathBuf,
    hold: PathBuf,
}

impl World {
    /// From now on the probe's starts that measure are counted, and first carry out this line of
    /// shell. `fake` is the path of the fake probe.
    ///
    /// # Panics
    /// When the disk refuses.
    #[must_use]
    pub fn counted(&self, fake: &str, first: &str) -> Starts {
        let [count, hold] = ["starts", "hold"].map(|name| self.path(name));
        let script = format!(
            "#!/bin/sh\nif [ $1 = run ]; then\necho >>{count}\n\
             while [ -e {hold} ] && [ $(wc -l <{count}) -ge $(cat {hold}) ]; do sleep 0.01; done\n{first}\nfi\nexec {fake} \"$@\"\n",
            count = count.display(),
            hold = hold.display()
        );
        let wrapper = "libexec/switchcost/probes/fake/counted";
        self.write(wrapper, &script);
        std::fs::set_permissions(self.path(wrapper), std::fs::Permissions::from_mode(0o755)).unwrap();
        self.write("libexec/switchcost/probes/fake/probe.toml", &crate::probe("fake", "./counted", 100));
        Starts { count, hold }
    }
}

impl Starts {
    /// How many there were.
    #[must_use]
    pub fn count(&self) -> usize {
        std::fs::read(&self.count).map_or(0, |lines| lines.len())
    }

    /// Waits until there were so many.
    ///
    /// # Panics
    /// When they do not come.
    #[track_caller]
    pub fn reach(&self, count: usize) {
        until("another start", || self.count() >= count);
    }

    /// The file whose lines are the starts.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.count
    }

    /// Start number `start`, from 1, and all later ones do nothing until they are ended, or let go
    /// by [`Self::let_go`].
    ///
    /// # Panics
    /// When the disk refuses.
    pub fn hold(&self, start: usize) {
        std::fs::write(&self.hold, start.to_string()).unwrap();
    }

    /// Those that are held go on, and no further ones are held.
    ///
    /// # Panics
    /// When none is held.
    pub fn let_go(&self) {
        std::fs::remove_file(&self.hold).unwrap();
    }
}
