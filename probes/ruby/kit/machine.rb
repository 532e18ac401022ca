# What a probe needs of the machine: a clock, a ruler, the CPU, the kernel's counts, memory. Ruby has a clock of
# nanoseconds; the rest are files of the kernel, so that nothing is compiled.
require "kit/wire"

module Machine
  module_function

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

  # The line in /proc of the task that opens it, kept open. Numbers by their place in proc(5).
  class Stat
    def initialize
      @file, @text = File.open("/proc/thread-self/stat"), String.new(capacity: 512)
    end

    # The name before the third, in brackets, may have spaces.
    def read(*places)
      @file.pread(512, 0, @text)
      @text[@text.rindex(")") + 2..].split.values_at(*places.map { |place| place - 3 }).map(&:to_i)
    end

    def cpu = read(39)[0]
  end

  # Steps of which a core takes several per cycle: a neighbour on the core takes its share of them. It is the
  # interpreter's own code, and only reads. First untimed: after a batch the code is not in the nearest cache.
  TEXT = ("a" * 1024).freeze
  def ruler
    2.times { TEXT.count("b") }
    first = now
    TEXT.count("b")
    TEXT.count("b")
    now - first
  end

  # Voluntary and involuntary switches of all tasks of this process.
  def switches
    tasks = Dir.glob("/proc/self/task/*/status").map { |path| File.read(path).scan(/ctxt_switches:\s*(\d+)/).flatten }
    tasks.transpose.map { |counts| counts.sum(&:to_i) } << tasks.size
  end

  # Everything that evidence takes from outside the contexts.
  def observe(stat)
    cpu_time = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
    [GC.count, *stat.read(10, 12), cpu_time, *switches]
  end

  # The fields of the evidence message that are differences of two observations.
  def between(first, last)
    collections, minor, major, cpu_time, voluntary, involuntary = last.zip(first).map { |b, a| b - a }
    { kernel: { voluntary: voluntary, involuntary: involuntary, tasks: last.last, source: "/proc/self/task" },
      page_faults: { minor: minor, major: major }, gc_cycles: collections, counts: { cpu_time_ns: cpu_time } }
  end

  # What shows that so many contexts ran once each, in this process.
  def each_once(contexts) = { turns: { total: contexts, min: 1, max: 1, contexts: contexts }, address_spaces: 1 }

  def bytes(path, name) = File.read(path)[/^#{name}:\s*(\d+) kB/, 1].to_i * 1024

  # Resident, mapped and page tables of this process once what can be freed is freed. Resident is a walk of the page
  # tables; statm is only approximate.
  def memory
    GC.start
    [bytes("/proc/self/smaps_rollup", "Rss"), bytes("/proc/self/status", "VmSize"), bytes("/proc/self/status", "VmPTE")]
  end

  # Stops a plan for which there is no room: memory, and mappings, of which Linux gives a process 65,530 and
  # other things take some.
  def check(contexts, bytes_each, mappings_each)
    needed, available = contexts * bytes_each >> 20, bytes("/proc/meminfo", "MemAvailable") >> 20
    limit("#{contexts} contexts need about #{needed} MB and #{available} MB are available") if needed > available
    most = File.read("/proc/sys/vm/max_map_count").to_i
    limit("#{contexts} contexts need more mappings than vm.max_map_count") if contexts * mappings_each + 1000 > most
  end

  def limit(why) = Wire.stop("unsupported", "limit_reached", "#{why}; ask for fewer")

  # Mean of the quickest of some short rows of readings, rounded up.
  def read_cost = Array.new(20) { now.then { |first| Array.new(99) { now }.last - first } }.min / 100 + 1

  # The description says which Ruby, and whether it compiles while it runs (+YJIT).
  def hello(probe, version)
    clock = { name: "CLOCK_MONOTONIC", ticks_per_second: 1_000_000_000, read_cost_ticks: read_cost }
    { protocol: 1, probe: probe, version: version, runtime: RUBY_DESCRIPTION, compiler: nil, flags: nil,
      pid: Process.pid, clock: clock, counter: nil }
  end
end
