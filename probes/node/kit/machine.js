// What the operating system says about this process. Nothing here is called within a batch.
"use strict";

const fs = require("fs");
const path = require("path");

function read(path) {
  try {
    return fs.readFileSync(path, "latin1");
  } catch {
    return null;
  }
}

// The number after a name; NaN where there is none, or no text.
function field(text, name) {
  const at = text === null ? -1 : text.indexOf(name);
  return at < 0 ? NaN : parseInt(text.slice(at + name.length), 10);
}

// The CPUs that the process may run on, such as "0-2,5"; null where it cannot be told.
function allowedCpus() {
  const status = read("/proc/self/status");
  const found = status && /^Cpus_allowed_list:\s*(\S+)$/m.exec(status);
  return found ? found[1] : null;
}

// A function that gives the CPU of the calling thread, -1 where it cannot be told. Its entry in /proc is all
// that JavaScript can ask: some microseconds a call, which is why recording a CPU is a pass of its own.
function cpuReader() {
  let descriptor;
  try {
    descriptor = fs.openSync("/proc/thread-self/stat");
  } catch {
    return () => -1;
  }
  const buffer = Buffer.alloc(1024);
  return () => {
    const text = buffer.latin1Slice(0, fs.readSync(descriptor, buffer, 0, buffer.length, 0));
    // Field 39. Field 2, the name, may hold anything, so counting begins behind it, at field 3.
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[39 - 3]);
  };
}

// A function that gives the kernel's number of the calling thread, -1 where it cannot be told: some microseconds a call.
function threadReader() {
  return () => {
    try {
      return Number(path.basename(fs.readlinkSync("/proc/thread-self")));
    } catch {
      return -1;
    }
  };
}

// What the kernel believes it can give to this process, in bytes; Infinity where it cannot be told.
function availableMemory() {
  return field(read("/proc/meminfo"), "MemAvailable:") * 1024 || Infinity;
}

// Mappings that this process may still make; Infinity where there is no such limit.
const availableMappings = () =>
  (Number(read("/proc/sys/vm/max_map_count")) || Infinity) - (read("/proc/self/maps") || "").split("\n").length;

// Memory of this process in bytes; null where it cannot be read. Resident is a walk of the page tables (smaps_rollup); statm is
// only approximate.
function memory() {
  const rollup = read("/proc/self/smaps_rollup");
  const status = read("/proc/self/status");
  const found = {
    resident: field(rollup, "\nRss:") * 1024,
    mapped: field(status, "\nVmSize:") * 1024,
    kernel: field(status, "\nVmPTE:") * 1024,
  };
  return Object.values(found).some(Number.isNaN) ? null : found;
}

// Map from thread id to its switches so far, for every thread of the process; null where they cannot be read.
function taskSwitches() {
  const tasks = new Map();
  let ids;
  try {
    ids = fs.readdirSync("/proc/self/task");
  } catch {
    return null;
  }
  for (const id of ids) {
    const status = read(`/proc/self/task/${id}/status`);
    if (status === null) continue; // The thread has ended since the folder was read.
    const counts = {
      voluntary: field(status, "\nvoluntary_ctxt_switches:"),
      involuntary: field(status, "nonvoluntary_ctxt_switches:"),
    };
    if (Object.values(counts).some(Number.isNaN)) return null;
    tasks.set(id, counts);
  }
  return tasks;
}

module.exports = { allowedCpus, availableMappings, availableMemory, cpuReader, memory, taskSwitches, threadReader };
