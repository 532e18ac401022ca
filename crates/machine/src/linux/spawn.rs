//! Processes: start, wait, kill, reap.

use super::cpus::CpuSet;
use super::dropped::Dropped;
use super::hogs::{self, Hogs, Nest};
use super::host::cause;
use super::sys::Usage;
use super::{inherited, rights, strays};
use crate::interrupt::Interrupt;
use crate::list;
use crate::spawn::{Exit, ExitStatus, Heard, SCRATCH, SpawnError, SpawnRequest, Used, resolve};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};
use std::ffi::{CString, c_char};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use switchcost_model::{Capabilities, Tree};

/// See [`crate::spawn::adopt_orphans`].
pub(crate) use super::strays::{abandon, adopt_orphans, reap_strays};
/// See [`crate::spawn::tasks_created`].
pub(crate) use super::tree::tasks_created;

/// Not one of the standard descriptors: runtimes print there.
pub(crate) const REPORT_FD: i32 = 3;

/// See [`crate::spawn::ENVIRONMENT`].
pub(crate) const ENVIRONMENT: &[&str] = &["PATH"];

/// Most bytes taken from a pipe at once; a pipe holds as many.
const CHUNK: usize = 64 * 1024;

/// Errors of the steps before exec travel to the parent as error numbers; these two never come from
/// exec.
const NOT_GRANTED: Errno = Errno::CHRNG;
const PARENT_DIED: Errno = Errno::OWNERDEAD;

/// A child that has not been reaped.
#[derive(Debug)]
pub(crate) struct Running {
    report: OwnedFd,
    log: OwnedFd,
    log_open: bool,
    buffer: Vec<u8>,
    pub(super) pid: Pid,
    pidfd: Option<OwnedFd>,
    mark: Option<String>,
    scratch: Option<PathBuf>,
    dropped: Dropped,
    pub(super) hogs: Option<Hogs>,
    reaped: bool,
}

impl Running {
    pub(crate) fn start(request: &SpawnRequest) -> Result<Self, SpawnError> {
        let program = resolve(request, fault)?;
        let other = |error: io::Error| SpawnError::Other(program.clone(), cause(&error));
        if request.report_fd < 3 {
            return Err(SpawnError::Other(program, format!("report_fd={} is one of 0, 1, 2", request.report_fd)));
        }
        super::own_ids().map_err(|why| SpawnError::Other(program.clone(), why))?;
        let set = match &request.cpus {
            Some(cpus) => Some(super::cpus::cpu_set(cpus).map_err(|why| SpawnError::Other(program.clone(), why))?),
            None => None,
        };
        let (report, report_write) = nonblocking_pipe().map_err(other)?;
        let (log, log_write) = nonblocking_pipe().map_err(other)?;
        // This occupies the number `report_fd`, if it was free. So std's own pipe, which tells of a
        // failed exec, cannot get that number, and the dup2 in the child cannot close it.
        let report_write =
            rustix::io::fcntl_dupfd_cloexec(&report_write, request.report_fd).map_err(|error| other(error.into()))?;
        let mut command = Command::new(&program);
        command.stdin(Stdio::null());
        command.stdout(log_write.try_clone().map_err(other)?).stderr(log_write);
        if let Some(directory) = &request.directory {
            command.current_dir(directory);
        }
        let hogs = request.hogs.as_ref().map(hogs::prepare).transpose();
        let (hogs, nest) = hogs.map_err(|why| SpawnError::Other(program.clone(), why))?.unzip();
        let before_exec = BeforeExec {
            set,
            parent: rustix::process::getpid(),
            report_write: report_write.as_raw_fd(),
            report_fd: request.report_fd,
            kept: rights::to_reach(&program, request.capabilities),
            timer_slack_ns: request.timer_slack_ns,
            nest,
        };
        let mark = strays::mark();
        let image = Image::new(&program, request, mark.as_deref()).map_err(other)?;
        // SAFETY: between fork and exec only async-signal-safe calls are allowed, because another
        // thread may have held any lock at the fork. `BeforeExec::apply` and `Image::exec` make
        // system calls only; the closure owns all that they use.
        unsafe { command.pre_exec(move || before_exec.apply().and_then(|()| image.exec())) };
        let dropped = Dropped::begin(request.directory.as_deref());
        let mut live = strays::live();
        let child = command.spawn().map_err(|error| explain(&error, program.clone(), request))?;
        let pid = Pid::from_raw(child.id() as i32).ok_or_else(|| SpawnError::Other(program, "no id".to_owned()))?;
        live.insert(pid.as_raw_pid());
        drop(live);
        let pidfd = rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok();
        let scratch = request.environment.iter().find(|(name, _)| name == SCRATCH).map(|(_, path)| path.into());
        let (log_open, buffer, reaped) = (true, vec![0; CHUNK], false);
        Ok(Self { report, log, log_open, buffer, pid, pidfd, mark, scratch, dropped, hogs, reaped })
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid.as_raw_pid()
    }

    pub(crate) fn listen(&mut self, until: Instant, interrupt: Option<&Interrupt>) -> Heard {
        loop {
            let now = Instant::now();
            if now >= until {
                return Heard::Time;
            }
            let mut fds = vec![PollFd::new(&self.report, PollFlags::IN)];
            fds.extend(interrupt.map(|interrupt| PollFd::from_borrowed_fd(interrupt.0.as_fd(), PollFlags::IN)));
            if self.log_open {
                fds.push(PollFd::new(&self.log, PollFlags::IN));
            }
            if poll(&mut fds, Some(&timespec(until - now))).is_err() {
                continue; // EINTR; the time bounds the loop.
            }
            let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
            if interrupt.is_some() && ready[1] {
                return Heard::Interrupted;
            }
            // The report first: what is printed can wait, and so can who prints it.
            if ready[0] {
                match rustix::io::read(&self.report, &mut self.buffer[..]) {
                    Ok(0) => return Heard::Closed,
                    Ok(count) => return Heard::Report(self.buffer[..count].to_vec()),
                    Err(_) => {} // EAGAIN or EINTR: poll again.
                }
            }
            if self.log_open
                && ready.last() == Some(&true)
                && let Some(bytes) = self.printed()
            {
                return Heard::Printed(bytes);
            }
        }
    }

    pub(crate) fn printed(&mut self) -> Option<Vec<u8>> {
        match rustix::io::read(&self.log, &mut self.buffer[..]) {
            Ok(0) => {
                self.log_open = false;
                None
            }
            Ok(count) => Some(self.buffer[..count].to_vec()),
            Err(_) => None, // Nothing there, or EINTR.
        }
    }

    pub(crate) fn task_tree(&self, reported_pid: u64) -> Option<Tree> {
        let tree = super::tree::read(self.pid(), reported_pid, &self.hog_ids());
        let idle = poll(&mut [PollFd::new(&self.report, PollFlags::IN)], Some(&timespec(Duration::ZERO))) == Ok(0);
        tree.filter(|_| idle)
    }

    /// Sleeps until the end of the child (true) or the deadline.
    pub(crate) fn wait_until(&self, deadline: Option<Instant>) -> bool {
        match (&self.pidfd, deadline) {
            (_, None) => {
                wait_without_reaping(self.pid);
                true
            }
            (Some(pidfd), Some(deadline)) => poll_until(pidfd, deadline),
            (None, Some(deadline)) => wait_by_thread(self.pid, deadline),
        }
    }

    pub(crate) fn kill_group(&self) {
        // Not reaped (`end` consumes the public handle), so neither id can belong to anybody else.
        strays::kill_group(self.pid);
    }

    pub(crate) fn left_behind(&self) -> Option<usize> {
        Some(strays::left_behind(self.pid))
    }

    pub(crate) fn end(&mut self) -> Exit {
        self.end_hogs();
        strays::let_go(self.pid);
        self.kill_group();
        strays::all_ended_by(Instant::now() + strays::GOING, &[self.pid]);
        // Again, for a process that had not joined the group yet. Before reaping: until then nobody
        // can get the id.
        self.kill_group();
        let reaped = strays::release(self.pid);
        let left = u32::from(matches!(reaped, Ok(None)));
        let reaped = reaped.ok().flatten();
        self.reaped = true;
        let (count, of_strays) = match &self.mark {
            _ if strays::adopting() => strays::sweep(),
            Some(mark) => (strays::sweep_marked(mark, self.pid), Usage::default()),
            None => (0, Usage::default()),
        };
        self.scratch.iter().for_each(|path| remove_own(path));
        let status = reaped.map_or(ExitStatus::Unknown, |(status, _)| ended(status));
        if status != ExitStatus::Exited(0) {
            self.dropped.clear(self.pid());
        }
        Exit {
            status,
            used: reaped.map(|(_, usage)| used(usage.plus(of_strays))),
            beside_ns: self.hogs.as_ref().map_or(0, Hogs::used_ns),
            strays: count + left,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.reaped {
            self.end();
        }
    }
}

/// Removes a folder, if it is this user's.
fn remove_own(path: &Path) {
    let own = |data: &std::fs::Metadata| data.is_dir() && data.uid() == rustix::process::geteuid().as_raw();
    if std::fs::symlink_metadata(path).is_ok_and(|data| own(&data)) {
        // What cannot be removed is told by nobody: the next start of such a probe tries again.
        let _ = std::fs::remove_dir_all(path);
    }
}

fn used(usage: Usage) -> Used {
    Used {
        cpu_ns: usage.user_ns + usage.system_ns,
        voluntary: usage.voluntary,
        involuntary: usage.involuntary,
        max_rss: usage.max_rss,
        page_faults: Some(usage.page_faults),
    }
}

/// A wait status in words.
pub(super) fn ended(status: i32) -> ExitStatus {
    if libc::WIFSIGNALED(status) {
        ExitStatus::Signalled(libc::WTERMSIG(status))
    } else {
        ExitStatus::Exited(libc::WEXITSTATUS(status))
    }
}

/// What the child does to itself between fork and exec.
struct BeforeExec {
    set: Option<CpuSet>,
    parent: Pid,
    report_write: i32,
    report_fd: i32,
    kept: Capabilities,
    timer_slack_ns: Option<u32>,
    nest: Option<Nest>,
}

impl BeforeExec {
    /// Async-signal-safe: system calls only (rustix makes them directly or through thin C
    /// wrappers), no allocation, no lock, no panic. std has already emptied the signal mask.
    fn apply(&self) -> io::Result<()> {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // A parent that died before the line above sends no signal any more.
        if rustix::process::getppid() != Some(self.parent) {
            return Err(PARENT_DIED.into());
        }
        if let Some(set) = &self.set {
            set.apply().map_err(|_| NOT_GRANTED)?;
            if CpuSet::of(0)? != *set {
                return Err(NOT_GRANTED.into());
            }
        }
        inherited::begin_anew()?;
        self.nest.as_ref().map_or(Ok(()), Nest::fork)?;
        if let Some(slack) = self.timer_slack_ns.and_then(|ns| std::num::NonZeroU64::new(ns.into())) {
            rustix::thread::set_current_timer_slack(Some(slack))?;
        }
        hand_over(self.report_write, self.report_fd)?;
        inherited::close_on_exec(3, self.report_fd - 1);
        inherited::close_on_exec(self.report_fd + 1, i32::MAX);
        rights::drop_all_but(self.kept);
        Ok(())
    }
}

/// Program, arguments and environment in the form that exec takes, made before the fork.
///
/// std would exec by `execvp`, and that hands a file which is not a program of this machine to
/// `/bin/sh`: a binary of another architecture would be run as a shell script.
struct Image {
    program: CString,
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    /// What the pointers point to; a CString's text stays where it is when the CString moves.
    _texts: Vec<CString>,
}

// SAFETY: the pointers lead into memory that the same value owns, on the heap, and nothing writes
// to it.
unsafe impl Send for Image {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for Image {}

impl Image {
    fn new(program: &Path, request: &SpawnRequest, mark: Option<&str>) -> io::Result<Self> {
        let program = CString::new(program.as_os_str().as_bytes())?;
        let mut texts = vec![program.clone()];
        let mut list = |words: Vec<String>, mut pointers: Vec<*const c_char>| -> io::Result<Vec<*const c_char>> {
            for word in words {
                let text = CString::new(word)?;
                pointers.push(text.as_ptr());
                texts.push(text);
            }
            pointers.push(std::ptr::null());
            Ok(pointers)
        };
        let variables = request.environment.iter().map(|(name, value)| format!("{name}={value}"));
        let envp = list(variables.chain(mark.map(str::to_owned)).collect(), Vec::new())?;
        let arguments = list(request.arguments.clone(), Vec::new())?;
        let argv = std::iter::once(texts[0].as_ptr()).chain(arguments).collect();
        Ok(Self { program, argv, envp, _texts: texts })
    }

    /// Becomes the program. Returns only why not; async-signal-safe.
    fn exec(&self) -> io::Result<()> {
        // SAFETY: the three pointers lead to null-terminated text and null-terminated lists of
        // such, owned by `self`.
        unsafe { libc::execve(self.program.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr()) };
        Err(io::Error::last_os_error())
    }
}

/// Puts the descriptor at the number asked for, open across exec.
fn hand_over(from: i32, to: i32) -> io::Result<()> {
    // SAFETY: both calls are async-signal-safe and touch descriptors of the child only. At `to`
    // there is either `from` itself or a descriptor that was to be closed at exec anyway; nothing
    // of Rust uses it before.
    let answer = unsafe { if from == to { libc::fcntl(to, libc::F_SETFD, 0) } else { libc::dup2(from, to) } };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A pipe whose read end does not block.
fn nonblocking_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    let flags = rustix::fs::fcntl_getfl(&read)?;
    rustix::fs::fcntl_setfl(&read, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok((read, write))
}

/// As `poll` takes it.
pub(super) fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) }
}

fn poll_until(pidfd: &OwnedFd, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&timespec(left))) {
            Ok(0) | Err(Errno::INTR) if Instant::now() < deadline => {}
            Ok(count) => return count > 0,
            Err(_) => return false,
        }
    }
}

/// For kernels without pidfd: a thread sleeps in waitid, this one on a channel.
fn wait_by_thread(pid: Pid, deadline: Instant) -> bool {
    let ended: Receiver<()> = {
        let (tell, ended) = channel();
        let wait = move || {
            wait_without_reaping(pid);
            let _ = tell.send(());
        };
        if std::thread::Builder::new().name("wait".to_owned()).spawn(wait).is_err() {
            return false;
        }
        ended
    };
    let left = deadline.saturating_duration_since(Instant::now());
    ended.recv_timeout(left.max(Duration::from_millis(1))).is_ok()
}

fn wait_without_reaping(pid: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(rustix::process::waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
}

/// What is wrong with a file that should be a program.
pub(crate) fn fault(file: &Path) -> Option<SpawnError> {
    match std::fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Some(SpawnError::Permission(file.to_owned())),
        Err(_) => Some(SpawnError::NotFound(file.to_owned())),
        Ok(data) if !data.is_file() => Some(SpawnError::NotExecutable(file.to_owned(), "it is not a file".to_owned())),
        Ok(data) if data.permissions().mode() & 0o111 == 0 => {
            Some(SpawnError::NotExecutable(file.to_owned(), "its execute permission is not set".to_owned()))
        }
        Ok(_) => None,
    }
}

/// The cause of a failed start, in words.
fn explain(error: &io::Error, program: PathBuf, request: &SpawnRequest) -> SpawnError {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
    let cpus = || list::format(request.cpus.as_deref().unwrap_or_default());
    match errno {
        NOT_GRANTED => SpawnError::Cpus(program, cpus()),
        PARENT_DIED => SpawnError::Other(program, "the host was killed meanwhile".to_owned()),
        Errno::NOENT => {
            SpawnError::NotExecutable(program, "the interpreter or dynamic loader it names does not exist".to_owned())
        }
        Errno::NOEXEC => SpawnError::NotExecutable(program, "its format is not one of this machine's".to_owned()),
        Errno::ACCESS | Errno::PERM => SpawnError::Permission(program),
        _ => SpawnError::Other(program, cause(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper(seconds: &str) -> Running {
        let request = SpawnRequest {
            program: "/bin/sleep".into(),
            arguments: vec![seconds.to_owned()],
            environment: Vec::new(),
            cpus: None,
            directory: None,
            capabilities: Capabilities::ALL,
            hogs: None,
            timer_slack_ns: None,
            report_fd: 3,
        };
        Running::start(&request).unwrap()
    }

    #[test]
    fn a_kernel_without_pidfd_is_enough() {
        let mut child = sleeper("1000");
        child.pidfd = None;
        assert!(!child.wait_until(Some(Instant::now() + Duration::from_millis(5))));
        child.kill_group();
        assert!(child.wait_until(Some(Instant::now() + Duration::from_secs(300))));
        assert_eq!(child.end().status, ExitStatus::Signalled(9));
    }

    #[test]
    fn a_text_with_a_null_byte_is_refused() {
        let mut request = SpawnRequest {
            program: "/bin/sleep".into(),
            arguments: vec!["1\0".to_owned()],
            environment: Vec::new(),
            cpus: None,
            directory: None,
            capabilities: Capabilities::ALL,
            hogs: None,
            timer_slack_ns: None,
            report_fd: 3,
        };
        assert!(Running::start(&request).unwrap_err().to_string().contains("nul byte"));
        request.arguments.clear();
        request.environment.push(("A".to_owned(), "\0".to_owned()));
        assert!(Running::start(&request).is_err());
    }
}
