//! `/proc/PID/stat`, of a process or of one of its tasks (proc_pid_stat(5)).

use std::ops::RangeInclusive;
use std::str::FromStr;

/// The text of a `stat` file.
pub(crate) struct Stat<'a> {
    /// The kernel's name of the program or thread.
    pub(crate) name: &'a str,
    /// The fields behind the name, from the third on.
    rest: &'a str,
}

impl<'a> Stat<'a> {
    /// The name may hold anything, brackets and spaces too: it ends at the last bracket.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let (before, rest) = text.rsplit_once(')')?;
        Some(Self { name: before.split_once('(')?.1, rest })
    }

    /// A field by its number in the manual.
    fn field<T: FromStr>(&self, number: usize) -> Option<T> {
        self.rest.split_ascii_whitespace().nth(number - 3)?.parse().ok()
    }

    /// The kernel's letter.
    pub(crate) fn state(&self) -> Option<char> {
        self.field(3)
    }

    /// Nothing of it runs any more; it may only wait to be reaped.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state(), None | Some('Z' | 'X'))
    }

    pub(crate) fn parent(&self) -> Option<i32> {
        self.field(4)
    }

    /// `PF_` bits of include/linux/sched.h.
    pub(crate) fn flags(&self) -> Option<u64> {
        self.field(9)
    }

    /// CPU time in user and kernel mode, in ticks of the kernel's clock.
    pub(crate) fn cpu_ticks(&self) -> Option<u64> {
        self.sum(14..=15)
    }

    /// The same with that of children that were reaped.
    pub(crate) fn cpu_ticks_of_all(&self) -> Option<u64> {
        self.sum(14..=17)
    }

    fn sum(&self, mut numbers: RangeInclusive<usize>) -> Option<u64> {
        numbers.try_fold(0, |sum, number| Some(sum + self.field::<u64>(number)?))
    }

    /// Page faults, minor and major, with those of children that were reaped.
    pub(crate) fn page_faults_of_all(&self) -> Option<u64> {
        self.sum(10..=13)
    }

    /// Has it waited for a child's end? No process runs without a page fault.
    pub(crate) fn has_reaped(&self) -> bool {
        self.field::<u64>(11).is_some_and(|faults| faults > 0)
    }

    /// Number of its scheduling class (include/uapi/linux/sched.h).
    pub(crate) fn policy(&self) -> Option<u32> {
        self.field(41)
    }

    pub(crate) fn nice(&self) -> Option<i32> {
        self.field(19)
    }

    pub(crate) fn threads(&self) -> Option<u64> {
        self.field(20)
    }

    /// When it began, in ticks of the kernel's clock since the machine was booted.
    pub(crate) fn began(&self) -> Option<i64> {
        self.field(22)
    }

    /// CPU on which it ran last.
    pub(crate) fn cpu(&self) -> Option<u32> {
        self.field(39)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_as_the_manual_does() {
        let numbers: Vec<String> = (4..=52).map(|number| number.to_string()).collect();
        let text = format!("7 (a) (b c) S {}\n", numbers.join(" "));
        let stat = Stat::of(&text).unwrap();
        assert_eq!((stat.name, stat.state(), stat.has_ended()), ("a) (b c", Some('S'), false));
        assert_eq!((stat.parent(), stat.flags(), stat.threads()), (Some(4), Some(9), Some(20)));
        assert_eq!((stat.began(), stat.cpu()), (Some(22), Some(39)));
        assert_eq!((stat.cpu_ticks(), stat.cpu_ticks_of_all()), (Some(29), Some(62)));
        assert_eq!((stat.has_reaped(), Stat::of("7 (a) S 1 1 1 0 -1 0 9 0 9 0").unwrap().has_reaped()), (true, false));
        for cut in ["", "7", "7 (a", "7 a) S 1"] {
            assert!(Stat::of(cut).is_none(), "{cut}");
        }
        let short = Stat::of("7 (a) Z 1").unwrap();
        assert_eq!((short.has_ended(), short.parent(), short.flags(), short.cpu_ticks()), (true, Some(1), None, None));
    }
}
