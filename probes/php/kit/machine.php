<?php
// What a probe needs of the machine: a ruler, the CPU, the kernel's counts, memory. The clock is PHP's hrtime.

// The CPU this process runs on, which is the 39th number of its line in /proc. The name in brackets may have spaces.
function cpu(): int {
    static $file = null;
    stream_set_read_buffer($file ??= fopen('/proc/self/stat', 'r'), 0);
    rewind($file);
    return (int) explode(' ', substr(strrchr(fread($file, 1024), ')'), 2))[36];
}

// Steps of which a core takes several per cycle: a neighbour on the core takes its share of them. It is the
// interpreter's own code, and only reads. First untimed: after a batch the code is not in the nearest cache.
function ruler(): int {
    static $text = null;
    strspn($text ??= str_repeat('a', 1024), 'a');
    $begin = hrtime(true);
    strspn($text, 'a');
    strspn($text, 'a');
    return hrtime(true) - $begin;
}

// Everything that evidence takes from outside the contexts. PHP has one thread, which is the process.
function observe(): array {
    $used = getrusage();
    $microseconds = $used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec'];
    $cpu_time = 1000 * (1000000 * ($used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']) + $microseconds);
    $counts = array_map(fn($name) => $used["ru_$name"], ['nvcsw', 'nivcsw', 'minflt', 'majflt']);
    return [...$counts, gc_status()['runs'], $cpu_time];
}

// The fields of the evidence message that are differences of two observations.
function between(array $first, array $last): array {
    [$voluntary, $involuntary, $minor, $major, $collections, $time] = array_map(fn($a, $b) => $b - $a, $first, $last);
    $kernel = ['voluntary' => $voluntary, 'involuntary' => $involuntary, 'tasks' => 1, 'source' => 'getrusage_self'];
    return ['kernel' => $kernel, 'page_faults' => ['minor' => $minor, 'major' => $major],
        'gc_cycles' => $collections, 'counts' => ['cpu_time_ns' => $time]];
}

// What shows that so many contexts ran once each, in this process's own memory.
function once_each(int $contexts): array {
    return ['turns' => ['total' => $contexts, 'min' => 1, 'max' => 1, 'contexts' => $contexts], 'address_spaces' => 1];
}

function bytes(string $path, string $name): int {
    preg_match("/^$name:\s*(\d+) kB/m", file_get_contents($path), $found);
    return 1024 * $found[1];
}

// Resident, mapped and page tables of this process once what can be freed is freed. Resident is a walk of the page
// tables; statm is only approximate.
function memory(): array {
    gc_collect_cycles();
    $status = '/proc/self/status';
    return [bytes('/proc/self/smaps_rollup', 'Rss'), bytes($status, 'VmSize'), bytes($status, 'VmPTE')];
}

// Stops a plan for which there is no room: memory, and mappings, of which Linux gives a process 65,530 and
// other things take some.
function check(int $contexts, int $bytes_each, int $mappings_each): void {
    [$needed, $available] = [$contexts * $bytes_each >> 20, bytes('/proc/meminfo', 'MemAvailable') >> 20];
    if ($needed > $available) limit("$contexts contexts need about $needed MB and $available MB are available");
    $most = (int) file_get_contents('/proc/sys/vm/max_map_count');
    if ($contexts * $mappings_each + 1000 > $most) limit("$contexts contexts need more mappings than vm.max_map_count");
}

// Mean of the quickest of some short rows of readings, rounded up.
function read_cost(): int {
    $quickest = PHP_INT_MAX;
    for ($row = 0; $row < 20; $row++) {
        $begin = hrtime(true);
        for ($i = 0; $i < 99; $i++) hrtime(true);
        $quickest = min($quickest, hrtime(true) - $begin);
    }
    return intdiv($quickest, 100) + 1;
}

function hello(string $probe, string $version): array {
    $clock = ['name' => 'CLOCK_MONOTONIC', 'ticks_per_second' => 1000000000, 'read_cost_ticks' => read_cost()];
    $jit = function_exists('opcache_get_status') && (opcache_get_status(false)['jit']['on'] ?? false) ? 'on' : 'off';
    $runtime = 'PHP ' . PHP_VERSION . (PHP_ZTS ? ' ZTS' : ' NTS') . ", JIT $jit";
    return ['protocol' => 1, 'probe' => $probe, 'version' => $version, 'runtime' => $runtime, 'compiler' => null,
        'flags' => null, 'pid' => getmypid(), 'clock' => $clock, 'counter' => null];
}
