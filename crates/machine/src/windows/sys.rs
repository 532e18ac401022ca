//! Calls of the Windows API that std has no form of. The only unsafe code for Windows.

use std::ffi::{CStr, c_char};
use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr::null;
use std::sync::OnceLock;
use std::time::Duration;
use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::{FILETIME, HANDLE, INVALID_HANDLE_VALUE, WAIT_OBJECT_0};
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicAccountingInformation,
    JobObjectExtendedLimitInformation, QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleA, GetProcAddress};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::SystemInformation::{
    GetLogicalProcessorInformation, GetSystemInfo, OSVERSIONINFOW, RelationProcessorCore, SYSTEM_INFO,
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetProcessAffinityMask, GetProcessTimes, INFINITE, OpenThread, ResumeThread,
    SetProcessAffinityMask, THREAD_SUSPEND_RESUME, WaitForSingleObject,
};

/// Unit of file times.
const NS_PER_STEP: u64 = 100;

/// What the processes of a job have used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Accounting {
    /// Processes that have not ended.
    pub active: u32,
    pub user_ns: u64,
    pub system_ns: u64,
}

/// A set of processes that none of them can leave, and that ends with its handle, hence with the
/// host.
#[derive(Debug)]
pub(crate) struct Job(OwnedHandle);

impl Job {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: both may be null: no name, and a handle that no child inherits.
        let job = Self(owned(unsafe { CreateJobObjectW(null(), null()) })?);
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32;
        // SAFETY: the structure is the one that this class of information means, and lives through
        // the call.
        let answer = unsafe {
            SetInformationJobObject(job.raw(), JobObjectExtendedLimitInformation, (&raw const limits).cast(), size)
        };
        done(answer).map(|()| job)
    }

    /// Takes a process in; what it starts from then on is also in.
    pub(crate) fn take(&self, process: BorrowedHandle<'_>) -> io::Result<()> {
        // SAFETY: both handles are open.
        done(unsafe { AssignProcessToJobObject(self.raw(), process.as_raw_handle()) })
    }

    /// Ends every process in it, with this status. Harmless when there is none.
    pub(crate) fn kill(&self, status: u32) {
        // SAFETY: the handle is open.
        unsafe { TerminateJobObject(self.raw(), status) };
    }

    pub(crate) fn accounting(&self) -> Accounting {
        let mut found = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        let size = size_of::<JOBOBJECT_BASIC_ACCOUNTING_INFORMATION>() as u32;
        // SAFETY: the structure is the one that this class of information means, is as large as
        // said, and writable; its length need not be told.
        unsafe {
            QueryInformationJobObject(
                self.raw(),
                JobObjectBasicAccountingInformation,
                (&raw mut found).cast(),
                size,
                std::ptr::null_mut(),
            )
        };
        Accounting {
            active: found.ActiveProcesses,
            user_ns: found.TotalUserTime as u64 * NS_PER_STEP,
            system_ns: found.TotalKernelTime as u64 * NS_PER_STEP,
        }
    }

    fn raw(&self) -> HANDLE {
        self.0.as_raw_handle()
    }
}

fn done(answer: i32) -> io::Result<()> {
    if answer == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A handle that a call has just answered with; the two values that mean failure become the error.
fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller got it from a call that opened it for nobody else, and it is open.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// This process.
pub(crate) fn own_process() -> BorrowedHandle<'static> {
    // SAFETY: a constant that means the process which uses it, valid as long as that lives.
    unsafe { BorrowedHandle::borrow_raw(GetCurrentProcess()) }
}

/// Lets a process run that was started suspended: its threads, of which there is one.
pub(crate) fn resume(process: u32) -> io::Result<()> {
    // SAFETY: takes integers only.
    let snapshot = owned(unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) })?;
    let mut entry = THREADENTRY32 { dwSize: size_of::<THREADENTRY32>() as u32, ..THREADENTRY32::default() };
    // SAFETY: the snapshot is open, and the entry is writable and says its size.
    let mut more = unsafe { Thread32First(snapshot.as_raw_handle(), &raw mut entry) };
    let mut resumed = false;
    while more != 0 {
        if entry.th32OwnerProcessID == process {
            // SAFETY: takes integers only.
            let thread = owned(unsafe { OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID) })?;
            // SAFETY: the handle is open, with the right asked for.
            if unsafe { ResumeThread(thread.as_raw_handle()) } == u32::MAX {
                return Err(io::Error::last_os_error());
            }
            resumed = true;
        }
        // SAFETY: as for the first.
        more = unsafe { Thread32Next(snapshot.as_raw_handle(), &raw mut entry) };
    }
    if resumed { Ok(()) } else { Err(io::Error::other("its first thread is not to be found")) }
}

/// Sleeps until the process has ended (true) or the time is over; None: for ever.
pub(crate) fn wait(process: BorrowedHandle<'_>, time: Option<Duration>) -> bool {
    // Up, not down: who wakes too early would come back at once, and again.
    let milliseconds =
        time.map_or(INFINITE, |time| time.as_nanos().div_ceil(1_000_000).min(u128::from(INFINITE - 1)) as u32);
    // SAFETY: the handle is open.
    unsafe { WaitForSingleObject(process.as_raw_handle(), milliseconds) == WAIT_OBJECT_0 }
}

/// CPU time in user mode and in the kernel, ns.
pub(crate) fn times(process: BorrowedHandle<'_>) -> (u64, u64) {
    let [mut created, mut ended, mut system, mut user] = [FILETIME::default(); 4];
    // SAFETY: the handle is open, and the four are writable.
    unsafe {
        GetProcessTimes(process.as_raw_handle(), &raw mut created, &raw mut ended, &raw mut system, &raw mut user)
    };
    let ns = |time: FILETIME| (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)) * NS_PER_STEP;
    (ns(user), ns(system))
}

/// Largest resident set, bytes; 0 where it is not told.
pub(crate) fn peak_memory(process: BorrowedHandle<'_>) -> u64 {
    let size = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    let mut counters = PROCESS_MEMORY_COUNTERS { cb: size, ..PROCESS_MEMORY_COUNTERS::default() };
    // SAFETY: the handle is open, and the structure is writable and as large as said.
    unsafe { K32GetProcessMemoryInfo(process.as_raw_handle(), &raw mut counters, size) };
    counters.PeakWorkingSetSize as u64
}

/// CPUs that a process may use, and those there are, as bits.
pub(crate) fn affinity(process: BorrowedHandle<'_>) -> io::Result<(usize, usize)> {
    let (mut own, mut all) = (0, 0);
    // SAFETY: the handle is open, and both masks are writable.
    done(unsafe { GetProcessAffinityMask(process.as_raw_handle(), &raw mut own, &raw mut all) }).map(|()| (own, all))
}

/// Restricts a process, all threads of it.
pub(crate) fn set_affinity(process: BorrowedHandle<'_>, mask: usize) -> io::Result<()> {
    // SAFETY: the handle is open.
    done(unsafe { SetProcessAffinityMask(process.as_raw_handle(), mask) })
}

/// CPUs of each core, as bits.
pub(crate) fn cores() -> Vec<usize> {
    const ENTRY: usize = size_of::<SYSTEM_LOGICAL_PROCESSOR_INFORMATION>();
    let mut bytes = 0;
    // SAFETY: with no room at all the call only says how much is needed.
    unsafe { GetLogicalProcessorInformation(std::ptr::null_mut(), &raw mut bytes) };
    let mut entries = vec![SYSTEM_LOGICAL_PROCESSOR_INFORMATION::default(); bytes as usize / ENTRY];
    bytes = (entries.len() * ENTRY) as u32;
    // SAFETY: there is room for as many bytes as said.
    if unsafe { GetLogicalProcessorInformation(entries.as_mut_ptr(), &raw mut bytes) } == 0 {
        return Vec::new();
    }
    let of_cores = |entry: &&SYSTEM_LOGICAL_PROCESSOR_INFORMATION| entry.Relationship == RelationProcessorCore;
    entries.iter().filter(of_cores).map(|entry| entry.ProcessorMask).collect()
}

/// Version of the system, `10.0.22631`.
pub(crate) fn version() -> String {
    let size = size_of::<OSVERSIONINFOW>() as u32;
    let mut version = OSVERSIONINFOW { dwOSVersionInfoSize: size, ..OSVERSIONINFOW::default() };
    // SAFETY: the structure is writable and says its size.
    unsafe { RtlGetVersion(&raw mut version) };
    format!("{}.{}.{}", version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber)
}

/// Version of wine; None: this is Windows itself.
pub(crate) fn wine_version() -> Option<String> {
    // SAFETY: the texts are null-terminated; ntdll is in every process and stays.
    let get =
        unsafe { GetProcAddress(GetModuleHandleA(c"ntdll.dll".as_ptr().cast()), c"wine_get_version".as_ptr().cast()) }?;
    // SAFETY: under this name wine, and nobody else, exports a function without arguments that
    // answers with a text.
    let get: unsafe extern "C" fn() -> *const c_char = unsafe { std::mem::transmute(get) };
    // SAFETY: the text is a constant of the library, null-terminated.
    let text = unsafe { CStr::from_ptr(get()) };
    Some(text.to_string_lossy().into_owned())
}

/// Bytes of a page.
pub(crate) fn page_size() -> u32 {
    let mut info = SYSTEM_INFO::default();
    // SAFETY: the structure is writable.
    unsafe { GetSystemInfo(&raw mut info) };
    info.dwPageSize
}

static ON_REQUEST: OnceLock<fn() -> bool> = OnceLock::new();

/// From here on `stop` is called at Ctrl-C and Ctrl-Break, on a thread of its own. If it answers
/// false the process ends, as it does by default. The first caller decides what is called.
pub(crate) fn on_request(stop: fn() -> bool) -> io::Result<()> {
    unsafe extern "system" fn handler(event: u32) -> i32 {
        let known = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
        i32::from(known && ON_REQUEST.get().is_some_and(|stop| stop()))
    }
    if ON_REQUEST.set(stop).is_err() {
        return Ok(());
    }
    // SAFETY: the handler lives as long as the program, and touches only what may be used from any
    // thread.
    done(unsafe { SetConsoleCtrlHandler(Some(handler), 1) })
}
