//! Events of sched and irq tracepoints, by perf_event_open(2). Nothing of it outlives the host: the
//! kernel closes what is open.

use super::host::{Host, cause};
use super::observers::TRACEFS;
use crate::trace::{Event, What};
use perf_event::data::Record;
use perf_event::events::Tracepoint;
use perf_event::{Builder, Clock, SampleFlag, Sampler};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeSet;
use std::path::Path;
use switchcost_model::Obstacle;

/// CPUs that are traced at most.
const MOST_CPUS: usize = 16;

/// Share of the scheduler's events that may be lost; more change a distribution. Beside a busy
/// neighbour 0.3 to 0.7 % were (2026-11-29).
const MOST_LOST: f64 = 0.01;

/// Bytes of events that a ring holds: half a second of 10,000 switches per second.
const RING: usize = 1 << 20;

/// Names of the softirqs, by number (include/linux/interrupt.h).
const SOFTIRQS: [&str; 10] =
    ["hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet", "sched", "hrtimer", "rcu"];

/// A tracepoint: its name, and how its data are read.
type Kind = (&'static str, fn(&Fields<'_>) -> Option<What>);

/// Those without which nothing is known.
const NEEDED: usize = 6;

/// The needed ones, and those of timers, from which it is known how late a wake-up was.
const KINDS: [Kind; 10] = [
    ("sched/sched_waking", |data| Some(What::Woken { task: data.number("pid")? })),
    ("sched/sched_switch", |data| {
        let side = |pid: &str, name: &str| Some((data.number(pid)?, data.text(name)?));
        Some(What::Switched { from: side("prev_pid", "prev_comm")?, to: side("next_pid", "next_comm")? })
    }),
    ("irq/irq_handler_entry", |data| Some(What::Interrupted(format!("interrupt {}", data.number("irq")?)))),
    ("irq/irq_handler_exit", |_| Some(What::Resumed)),
    ("irq/softirq_entry", |data| {
        let number = data.number("vec")?;
        let name = usize::try_from(number).ok().and_then(|number| SOFTIRQS.get(number));
        Some(What::Interrupted(name.map_or_else(|| format!("softirq {number}"), |name| format!("softirq {name}"))))
    }),
    ("irq/softirq_exit", |_| Some(What::Resumed)),
    ("timer/hrtimer_start", |data| {
        let (timer, due) = (data.long("hrtimer")?, data.long("expires")?);
        Some(What::TimerSet { task: data.number("common_pid")?, timer, due })
    }),
    ("timer/hrtimer_expire_entry", |data| Some(What::TimerFired { timer: data.long("hrtimer")? })),
    // -1 as it leaves the state.
    ("power/cpu_idle", |data| Some(What::Idle { state: u32::try_from(data.number("state")?).ok() })),
    ("syscalls/sys_exit_clock_nanosleep", |data| Some(What::Returned { task: data.number("common_pid")? })),
];

/// Events of one kind on one CPU.
struct Ring {
    sampler: Sampler,
    cpu: u32,
    kind: usize,
    /// Events taken so far.
    kept: u64,
}

pub(crate) struct Trace {
    rings: Vec<Ring>,
    /// Of each kind the places of its fields.
    formats: Vec<String>,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Trace of {} rings", self.rings.len())
    }
}

impl Trace {
    pub(crate) fn begin(cpus: &[u32]) -> Result<Self, Obstacle> {
        if cpus.len() > MOST_CPUS {
            return Err(Obstacle::TooManyCpus { cpus: cpus.len() as u64, most: MOST_CPUS as u64 });
        }
        let place = TRACEFS.map(|place| Path::new(place).join("events")).into_iter().find(|place| place.is_dir());
        let place = place.ok_or(Obstacle::NoTracefs)?;
        let mut trace = Self { rings: Vec::new(), formats: Vec::new() };
        for (kind, (name, _)) in KINDS.iter().enumerate() {
            if kind >= NEEDED && !place.join(name).is_dir() {
                trace.formats.push(String::new());
                continue;
            }
            let read = |file: &str| {
                let path = place.join(name).join(file);
                let unread = |error| Obstacle::Unread { path: path.display().to_string(), cause: cause(&error) };
                std::fs::read_to_string(&path).map_err(unread)
            };
            let id = read("id")?.trim().parse::<u64>().map_err(|_| other_form(name))?;
            trace.formats.push(read("format")?);
            for &cpu in cpus {
                let refused = |error| Obstacle::EventNotPermitted { event: (*name).to_owned(), cause: cause(&error) };
                let sampler = ring(id, cpu).map_err(refused)?;
                trace.rings.push(Ring { sampler, cpu, kind, kept: 0 });
            }
        }
        for ring in &mut trace.rings {
            ring.sampler.enable().map_err(|error| Obstacle::TraceRefused { cause: cause(&error) })?;
        }
        Ok(trace)
    }

    pub(crate) fn stop(&mut self) {
        for ring in &mut self.rings {
            let _ = ring.sampler.disable();
        }
    }

    /// Adds what has happened since the last time.
    pub(crate) fn collect(&mut self, events: &mut Vec<Event>) -> Result<(), Obstacle> {
        for Ring { sampler, cpu, kind, kept } in &mut self.rings {
            let (name, read) = KINDS[*kind];
            while let Some(record) = sampler.next_record() {
                let Ok(Record::Sample(sample)) = record.parse_record() else { continue };
                let (Some(at), Some(raw)) = (sample.time(), sample.raw()) else { continue };
                let fields = Fields { format: &self.formats[*kind], raw };
                let what = read(&fields).ok_or_else(|| other_form(name))?;
                events.push(Event { at, cpu: *cpu, what });
                *kept += 1;
            }
        }
        Ok(())
    }

    /// How many events of the scheduler were lost, to be asked when it has been stopped and all is
    /// collected. A full ring says so only to the next event that fits, and some virtual machines
    /// keep none of an idle CPU.
    pub(crate) fn lost(&mut self) -> Result<u64, Obstacle> {
        let mut lost = 0;
        for Ring { sampler, kind, kept, .. } in &mut self.rings {
            let (name, _) = KINDS[*kind];
            let happened =
                sampler.as_counter_mut().read().map_err(|error| Obstacle::TraceRefused { cause: cause(&error) })?;
            // Of interrupts a lost one goes to whom it interrupted.
            let missing = if name.starts_with("sched/") { happened.saturating_sub(*kept) } else { 0 };
            if missing as f64 > MOST_LOST * happened as f64 {
                return Err(Obstacle::EventsLost { event: name.to_owned(), kept: *kept, happened });
            }
            lost += missing;
        }
        Ok(lost)
    }
}

fn other_form(event: &str) -> Obstacle {
    Obstacle::OtherForm { event: event.to_owned() }
}

/// See [`crate::trace::tasks_of`].
pub(crate) fn tasks_of(pid: u32) -> BTreeSet<i32> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// See [`crate::trace::cpus_of`].
pub(crate) fn cpus_of(pid: u32) -> BTreeSet<u32> {
    let host = Host::real();
    let list = |task: i32| {
        let status = host.read(format!("/proc/{pid}/task/{task}/status")).ok()?;
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        switchcost_model::cpu_list::parse(list.trim())
    };
    tasks_of(pid).into_iter().filter_map(list).flatten().collect()
}

/// What is added to the clock of events for ns since 1970.
pub(crate) fn unix_of_events() -> i64 {
    let now = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    };
    now(ClockId::Realtime) - now(ClockId::Monotonic)
}

fn ring(id: u64, cpu: u32) -> std::io::Result<Sampler> {
    let mut builder = Builder::new(Tracepoint::with_id(id));
    builder.any_pid().one_cpu(cpu as usize).include_kernel().include_hv().sample_period(1);
    builder.sample(SampleFlag::TIME | SampleFlag::RAW).clockid(Clock::MONOTONIC);
    builder.build()?.sampled(RING)
}

/// Data of one event, whose places the kernel tells in a file.
struct Fields<'a> {
    format: &'a str,
    raw: &'a [u8],
}

impl<'a> Fields<'a> {
    /// `field:pid_t prev_pid; offset:24; size:4; signed:1;`, with tabs.
    fn bytes(&self, name: &str) -> Option<&'a [u8]> {
        let line = self.format.lines().find(|line| {
            let declared = line.trim().strip_prefix("field:").and_then(|rest| rest.split(';').next());
            declared
                .and_then(|declared| declared.rsplit(' ').next())
                .is_some_and(|last| last.split('[').next() == Some(name))
        })?;
        let value = |key: &str| line.split(';').find_map(|part| part.trim().strip_prefix(key)?.parse::<usize>().ok());
        let from = value("offset:")?;
        self.raw.get(from..from.checked_add(value("size:")?)?)
    }

    fn number(&self, name: &str) -> Option<i32> {
        Some(i32::from_ne_bytes(self.bytes(name)?.try_into().ok()?))
    }

    fn long(&self, name: &str) -> Option<u64> {
        Some(u64::from_ne_bytes(self.bytes(name)?.try_into().ok()?))
    }

    fn text(&self, name: &str) -> Option<String> {
        let bytes = self.bytes(name)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_the_kernel_says() {
        let format = "name: sched_waking\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
            \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";
        let mut raw = vec![0_u8; 28];
        raw[8..13].copy_from_slice(b"probe");
        raw[24..28].copy_from_slice(&77_i32.to_ne_bytes());
        let fields = Fields { format, raw: &raw };
        assert_eq!((fields.number("pid"), fields.text("comm")), (Some(77), Some("probe".into())));
        assert_eq!((fields.number("prio"), Fields { format, raw: &raw[..26] }.number("pid")), (None, None));
        assert_eq!(KINDS[0].1(&fields), Some(What::Woken { task: 77 }));
    }
}
