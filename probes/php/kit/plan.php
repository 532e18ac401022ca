<?php
// One `run` or `describe`, as asked. The host sends every key and stays within limits: only typing errors are refused.

class Plan {
    // The message `plan`.
    public array $echo;
    // What carries the experiment out, and what it needs for that.
    public array $way;
    // Of warm-up and measurement: name, the first batch and the one behind the last.
    public array $phases;
    public int $all, $batch_ns, $verify_units, $seed;
    private array $values;

    public function __construct(array $words, array $mechanisms) {
        $this->values = self::split($words);
        $id = $this->take('mechanism');
        [$parameters, $ways] = $mechanisms[$id] ?? stop('refused', 'unknown_mechanism', "it has no `$id`");
        $this->one_of('protocol', ['1']);
        $experiment = $this->one_of('experiment', array_keys($ways));
        $this->echo = ['mechanism' => $id, 'experiment' => $experiment, 'timing' => $this->one_of('timing', ['batch'])];
        $said = ['contexts', 'batch_units', 'batches', 'warmup_batches'];
        foreach ($said as $key) $this->echo[$key] = self::number($key, $this->take($key));
        foreach (['batch_ns', 'verify_units', 'seed'] as $key) $this->$key = self::number($key, $this->take($key));
        $cpus = $this->take('cpus');
        $cpus = $cpus === '' ? [] : explode(',', $cpus);
        $this->echo['cpus'] = array_map(fn($cpu) => self::number('cpus', $cpu), $cpus);
        $this->echo['parameters'] = new stdClass();
        foreach ($parameters as $name => $known) $this->echo['parameters']->$name = $this->one_of($name, $known);
        self::check_rest($this->values, "`run` or of $id");
        $this->way = $ways[$experiment];
        $this->all = ($warmup = $this->echo['warmup_batches']) + $this->echo['batches'];
        $this->phases = [['warmup', 0, $warmup], ['measure', $warmup, $this->all]];
    }

    private static function number(string $key, string $text): int {
        $fits = preg_match('/^\d{1,19}$/D', $text) && (strlen($text) < 19 || strcmp($text, PHP_INT_MAX) <= 0);
        return $fits ? (int) $text : stop('refused', 'bad_value', "`$key=$text` must be an integer");
    }

    private function take(string $key): string {
        $why = "`$key` is missing; a plan has every key and parameter";
        $text = $this->values[$key] ?? stop('refused', 'bad_value', $why);
        unset($this->values[$key]);
        return $text;
    }

    // Takes the key, whose value must be among these.
    private function one_of(string $key, array $known): string {
        $text = $this->take($key);
        $why = "`$key=$text` is not among what it has";
        return in_array($text, $known, true) ? $text : stop('refused', 'bad_value', $why);
    }

    // Looked for before anything else is judged, so that even a refusal reaches the host.
    public static function report_fd(array $words): int {
        return preg_match('/ report_fd=(\d+) /', implode(' ', $words) . ' ', $found) ? (int) $found[1] : 1;
    }

    // Key to value, but for report_fd.
    public static function split(array $words): array {
        $values = [];
        foreach (array_slice($words, 1) as $word) {
            [$key, $value] = explode('=', $word, 2) + ['', null];
            if ($key === '' || $value === null) stop('refused', 'unknown_key', 'an argument is not a key=value');
            $foreign = preg_match('{[^A-Za-z0-9._,/+-]}', $value);
            if ($foreign) stop('refused', 'bad_value', "`$key` has a character that no value has");
            if (isset($values[$key])) stop('refused', 'bad_value', "`$key` is given twice; give it once");
            $values[$key] = $value;
        }
        unset($values['report_fd']);
        return $values;
    }

    // To be called when all that is known was taken.
    public static function check_rest(array $values, string $what): void {
        foreach ($values as $key => $value) stop('refused', 'unknown_key', "`$key` is not a key of $what");
    }
}
