<?php
// Contexts that take turns. The token counts every switch. A context is due a number that advances by one lap per
// turn, and so is its count of turns. Everything else is a command (a negative token) and takes the path of a wrong
// token: the measured loop pays one comparison for all of it.

abstract class Ring {
    private const RESET = -1, PUBLISH = -2;
    // And below: the verification pass, VERIFY - sequence number.
    private const VERIFY = -1000;

    public int $lap;
    protected array $contexts = [];
    protected int $sequence = 0;
    protected bool $broken = false;
    private array $turns = [], $distinct = [], $who = [], $cpus = [];

    // Passes the token round so often and gives what came back.
    public function pass(int $laps, int $token): int {
        $contexts = $this->contexts;
        $lap = $this->lap;
        for (; $laps > 0; $laps--) {
            for ($i = 0; $i < $lap; $i++) $token = $contexts[$i]->resume($token);
        }
        return $token;
    }

    // What a context hands on that got no token, and what it is due next.
    protected function obey(int $index, int $due, int $token, object $current): array {
        if ($token === self::RESET) return [$token, $index];
        if ($token === self::PUBLISH) {
            $this->turns[] = intdiv($due - $index, $this->lap);
            $this->distinct[spl_object_id($current)] = true;
            [$this->who[0], $this->cpus[0]] = [$index, cpu()];
        } elseif ($token <= self::VERIFY) {
            [$this->who[self::VERIFY - $token], $this->cpus[self::VERIFY - $token]] = [$index, cpu()];
            return [$token - 1, $due];
        } else $this->broken = true;
        return [$token, $due];
    }

    public function run(int $units): void {
        $token = $this->pass(intdiv($units, $this->lap), $this->sequence);
        $this->sequence += $units;
        $this->broken = $this->broken || $token !== $this->sequence;
    }

    // Counts begin anew.
    public function reset(): void {
        $this->sequence = 0;
        $this->pass(1, self::RESET);
    }

    // Adds what was counted since. False: a context got a token that was not its.
    public function claim(array &$fields): bool {
        $this->pass(1, self::PUBLISH);
        [$all, $count] = [array_sum($this->turns), count($this->turns)];
        $turns = ['total' => $all, 'min' => min($this->turns), 'max' => max($this->turns), 'contexts' => $count];
        $fields = ['turns' => $turns, 'token' => $this->sequence, 'address_spaces' => 1] + $fields;
        $fields['counts']['distinct_contexts'] = count($this->distinct);
        return !$this->broken;
    }

    // Who had the token and on which CPU, by its number: it begins where it came from last.
    public function verify(int $units, array &$fields): void {
        $this->pass(intdiv($units, $this->lap), self::VERIFY - 1);
        [$hops, $migrations] = [['count' => $units, 'timed' => false, 'in_order' => 0, 'same_cpu' => 0], 0];
        for ($i = 1; $i <= $units; $i++) {
            $hops['in_order'] += (int) (($this->who[$i] ?? null) === ($this->who[$i - 1] + 1) % $this->lap);
            $hops['same_cpu'] += (int) ($this->cpus[$i] === $this->cpus[$i - 1]);
            $migrations += (int) ($i >= $this->lap && $this->cpus[$i] !== $this->cpus[$i - $this->lap]);
        }
        $fields = ['hops' => $hops, 'migrations' => $migrations] + $fields;
        $fields['cpus'] = [...$fields['cpus'], ...$this->cpus];
    }
}
