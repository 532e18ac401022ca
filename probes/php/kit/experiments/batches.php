<?php
// Experiments whose units are done in batches, by a workload that is made of what is asked. It has the `lap`, `run`,
// `reset` and `claim` of kit/ring.php, and `verify` if it is a ring.

// The measured region: no clock within and no branch on the plan.
function batch(object $workload, int $units): int {
    $begin = hrtime(true);
    $workload->run($units);
    return hrtime(true) - $begin;
}

function whole_laps(int $units, int $lap): int { return intdiv($units + $lap - 1, $lap) * $lap; }

// Doubles by the rule of PROTOCOL.md, section 1, which has the largest k as well.
function calibrate(object $workload, int $batch_ns): int {
    for ([$units, $long_enough] = [$workload->lap, 0]; $long_enough < 3;) {
        $enough = batch($workload, $units) >= $batch_ns;
        [$units, $long_enough] = $enough ? [$units, $long_enough + 1] : [2 * $units, 0];
        if ($units > 10 ** 12) limit('no batch lasts as long as batch_ns');
    }
    return $units;
}

function batches(Writer $writer, Plan $asked, string $kind): array {
    $workload = new $kind($asked);
    gc_collect_cycles();
    $units = whole_laps($asked->echo['batch_units'], $workload->lap) ?: calibrate($workload, $asked->batch_ns);
    $asked->echo['batch_units'] = $units;
    // The silence of PROTOCOL.md: all that is recorded has its place beforehand.
    $ticks = $cpus = array_fill(0, $asked->all, 0);
    $ruler = array_fill(0, $asked->all + 1, 0);
    cpu();
    between(observe(), observe());
    $writer->put('plan', $asked->echo);
    $workload->reset();
    $first = observe();
    $ruler[0] = ruler();
    for ($i = 0; $i < $asked->all; $i++) {
        $ticks[$i] = batch($workload, $units);
        $cpus[$i] = cpu();
        $ruler[$i + 1] = ruler();
    }
    $fields = between($first, observe()) + ['units' => $asked->all * $units, 'cpus' => $cpus];
    if (!$workload->claim($fields)) stop('failed', 'self_check_failed', 'a context got a wrong token');
    // What stands beside a batch is the slower of the readings before and after it.
    $beside = array_map(max(...), array_slice($ruler, 1), array_slice($ruler, 0, -1));
    foreach ($asked->phases as $phase) $writer->put_samples(['units' => $units], $phase, $ticks, $beside);
    if ($asked->verify_units > 0 && $workload instanceof FiberRing) {
        $workload->verify(whole_laps($asked->verify_units, $workload->lap), $fields);
    }
    sort($fields['cpus']);
    $writer->put('evidence', ['cpus' => array_values(array_unique($fields['cpus']))] + $fields);
    return ['status' => 'ok', 'samples' => $asked->all];
}
