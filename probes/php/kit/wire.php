<?php
// The messages of PROTOCOL.md, section 2: one JSON object per line, ASCII, integers only.

// Becomes the `end` message.
class Stop extends Exception {
    public array $fields;
}

// refused: the plan is bad. unsupported: this machine cannot carry it out. failed: something broke.
function stop(string $status, string $code, string $detail): never {
    $stop = new Stop($detail);
    $stop->fields = ['status' => $status, 'code' => $code, 'detail' => $detail, 'errno' => null, 'samples' => 0];
    throw $stop;
}

function limit(string $why): never { stop('unsupported', 'limit_reached', "$why; ask for fewer"); }

class Writer {
    // A line stays below 65,536 bytes even if every number of it, in two lists, had 20 digits.
    private const ENTRIES_PER_LINE = 1500;

    private $file;
    private int $sequence = 0;

    public function __construct(int $descriptor) { $this->file = fopen("php://fd/$descriptor", 'w'); }

    // A host that no longer listens is the end of the run: nothing could be reported about it.
    public function put(string $kind, array $fields): void {
        $line = json_encode(['t' => $kind] + $fields, JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE) . "\n";
        if (@fwrite($this->file, $line) !== strlen($line)) exit(1);
    }

    // As many messages as the batches of a phase take. `ticks` and, unless null, `ruler` are of all batches.
    public function put_samples(array $fields, array $phase, array $ticks, ?array $ruler = null): void {
        [$name, $first, $last] = $phase;
        for ($from = $first; $from < $last; $from += self::ENTRIES_PER_LINE) {
            $count = min(self::ENTRIES_PER_LINE, $last - $from);
            $part = ['phase' => $name, 'seq' => $this->sequence++, 'ticks' => array_slice($ticks, $from, $count)];
            $rulers = $ruler ? ['rulers' => ['width' => array_slice($ruler, $from, $count)]] : [];
            $this->put('samples', $fields + $part + $rulers);
        }
    }
}
