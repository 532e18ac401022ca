//! Processes: started suspended, put into a job, heard by threads.

use super::{cpus, sys};
use crate::cause::cause;
use crate::interrupt::Interrupt;
use crate::list;
use crate::spawn::{Exit, ExitStatus, Heard, SpawnError, SpawnRequest, Used, resolve};
use crossbeam_channel::{Receiver, bounded, never, select_biased};
use std::io::{self, PipeReader, Read};
use std::os::windows::io::AsHandle;
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use switchcost_model::Tree;
use windows_sys::Win32::Foundation::ERROR_BAD_EXE_FORMAT;
use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, CREATE_SUSPENDED};

/// Standard output: Windows itself hands over three handles, and what else a C library passes on,
/// other runtimes do not understand.
pub(crate) const REPORT_FD: i32 = 1;

/// See [`crate::spawn::ENVIRONMENT`]: without the system's folder no network and no random numbers.
pub(crate) const ENVIRONMENT: &[&str] = &["PATH", "SystemRoot", "TEMP", "TMP"];

/// Most bytes taken from a pipe at once, and most such pieces that wait: who writes more waits as
/// well.
const CHUNK: usize = 16 * 1024;
const CHUNKS: usize = 4;

/// How long what was printed before the end may be on its way through a reader.
const ON_ITS_WAY: Duration = Duration::from_millis(20);

/// How long killed processes may take to go.
const GOING: Duration = Duration::from_secs(2);

/// Status of what the host killed; nobody takes it for the program's own.
const KILLED: u32 = 1;

/// A child that has not been reaped.
#[derive(Debug)]
pub(crate) struct Running {
    job: sys::Job,
    child: Child,
    report: Receiver<Vec<u8>>,
    log: Receiver<Vec<u8>>,
    log_open: bool,
    ended: bool,
}

impl Running {
    pub(crate) fn start(request: &SpawnRequest) -> Result<Self, SpawnError> {
        let program = executable(&resolve(request, fault)?);
        let other = |error: io::Error| SpawnError::Other(program.clone(), cause(&error));
        if request.report_fd != REPORT_FD {
            let why = format!("report_fd={} is not {REPORT_FD}, which alone it inherits here", request.report_fd);
            return Err(SpawnError::Other(program, why));
        }
        let (report, report_write) = io::pipe().map_err(other)?;
        let (log, log_write) = io::pipe().map_err(other)?;
        let mut command = Command::new(&program);
        command.args(&request.arguments).env_clear().envs(request.environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(report_write).stderr(log_write);
        // A group of its own, so that Ctrl-C is for the host alone.
        command.creation_flags(CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP);
        if let Some(directory) = &request.directory {
            command.current_dir(directory);
        }
        let job = sys::Job::new().map_err(other)?;
        let child = command.spawn().map_err(|error| explain(&error, program.clone()))?;
        drop(command); // With it our write ends, or the pipes would never end.
        let [report, log] = [reader(report), reader(log)];
        let closed = || never();
        let readers = [&report, &log].into_iter().find_map(|reader| reader.as_ref().err().map(cause));
        // From here on a failure drops it, which ends the child.
        let running = Self {
            job,
            child,
            report: report.unwrap_or_else(|_| closed()),
            log: log.unwrap_or_else(|_| closed()),
            log_open: true,
            ended: false,
        };
        if let Some(why) = readers {
            return Err(SpawnError::Other(program, why));
        }
        running.job.take(running.child.as_handle()).map_err(other)?;
        if let Some(cpus) = &request.cpus {
            cpus::restrict(running.child.as_handle(), cpus)
                .map_err(|_| SpawnError::Cpus(program.clone(), list::format(cpus)))?;
        }
        sys::resume(running.child.id()).map_err(other)?;
        Ok(running)
    }

    pub(crate) fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub(crate) fn listen(&mut self, until: Instant, interrupt: Option<&Interrupt>) -> Heard {
        let nothing = never();
        let stop = interrupt.map_or(&nothing, |interrupt| interrupt.0.closing());
        loop {
            // Looked at first: who never stops talking would else never be late.
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Heard::Time;
            }
            let log = if self.log_open { self.log.clone() } else { never() };
            select_biased! {
                recv(stop) -> _ => return Heard::Interrupted,
                recv(self.report) -> bytes => return bytes.map_or(Heard::Closed, Heard::Report),
                recv(log) -> bytes => match bytes {
                    Ok(bytes) => return Heard::Printed(bytes),
                    Err(_) => self.log_open = false,
                },
                default(left) => return Heard::Time,
            }
        }
    }

    pub(crate) fn printed(&mut self) -> Option<Vec<u8>> {
        self.log.recv_timeout(ON_ITS_WAY).ok()
    }

    pub(crate) fn task_tree(&self, _reported_pid: u64) -> Option<Tree> {
        None
    }

    pub(crate) fn wait_until(&self, deadline: Option<Instant>) -> bool {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        sys::wait(self.child.as_handle(), left)
    }

    #[expect(clippy::unused_self, reason = "as elsewhere")]
    pub(crate) fn left_behind(&self) -> Option<usize> {
        None // Those of the job are counted as strays.
    }

    pub(crate) fn kill_group(&self) {
        self.job.kill(KILLED);
    }

    pub(crate) fn end(&mut self) -> Exit {
        let alive = !self.wait_until(Some(Instant::now()));
        let strays = self.job.accounting().active.saturating_sub(u32::from(alive));
        self.kill_group();
        let _ = self.child.kill(); // If it never came into the job.
        let status = self.child.wait().ok().and_then(|status| status.code());
        self.ended = true;
        let until = Instant::now() + GOING;
        while self.job.accounting().active > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        // A job also counts those of its processes that are gone; wine's counts no time.
        let (own, all) = (sys::times(self.child.as_handle()), self.job.accounting());
        Exit {
            status: status.map_or(ExitStatus::Unknown, ExitStatus::Exited),
            used: Some(Used {
                cpu_ns: own.0.max(all.user_ns) + own.1.max(all.system_ns),
                voluntary: 0,
                involuntary: 0,
                max_rss: sys::peak_memory(self.child.as_handle()),
                page_faults: None,
            }),
            beside_ns: 0,
            strays,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            self.end();
        }
    }
}

/// Hands on what a pipe brings, until everybody has closed it or nobody listens any more.
fn reader(mut pipe: PipeReader) -> io::Result<Receiver<Vec<u8>>> {
    let (hand_on, heard) = bounded(CHUNKS);
    let read = move || {
        let mut buffer = vec![0; CHUNK];
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            if hand_on.send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    };
    std::thread::Builder::new().name("reader".to_owned()).spawn(read)?;
    Ok(heard)
}

/// The file with the ending that programs have here: probes' descriptions name them without.
fn executable(file: &Path) -> PathBuf {
    if file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("exe")) {
        return file.to_owned();
    }
    let mut name = file.as_os_str().to_owned();
    name.push(".exe");
    name.into()
}

/// What is wrong with a file that should be a program.
pub(crate) fn fault(file: &Path) -> Option<SpawnError> {
    let file = executable(file);
    match std::fs::metadata(&file) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Some(SpawnError::Permission(file)),
        Err(_) => Some(SpawnError::NotFound(file)),
        Ok(data) if !data.is_file() => Some(SpawnError::NotExecutable(file, "it is not a file".to_owned())),
        Ok(_) => None,
    }
}

/// The cause of a failed start, in words.
fn explain(error: &io::Error, program: PathBuf) -> SpawnError {
    match error.kind() {
        _ if error.raw_os_error() == Some(ERROR_BAD_EXE_FORMAT as i32) => {
            SpawnError::NotExecutable(program, "its format is not one of this machine's".to_owned())
        }
        io::ErrorKind::PermissionDenied => SpawnError::Permission(program),
        _ => SpawnError::Other(program, cause(error)),
    }
}

/// See [`crate::spawn::adopt_orphans`]: nobody can leave a job.
pub(crate) fn adopt_orphans() {}

/// See [`crate::spawn::abandon`]: a job ends with its last handle.
pub(crate) fn abandon() {}

/// See [`crate::spawn::reap_strays`].
pub(crate) fn reap_strays() -> u32 {
    0
}

/// See [`crate::spawn::tasks_created`].
pub(crate) fn tasks_created() -> Option<u64> {
    None
}
