<?php
// The kit, beside what `switchcost check-probe` asks of the whole probe: php -n test/kit.php
chdir(dirname(__DIR__));
foreach (['wire', 'plan', 'machine', 'ring', 'experiments/batches', 'experiments/footprint'] as $part) {
    require "kit/$part.php";
}
$mechanisms = require 'mechanisms/list.php';

function equal(mixed $got, mixed $wanted, string $what): void {
    if ($got === $wanted) return;
    throw new Exception("$what: " . json_encode($got) . ' where ' . json_encode($wanted) . ' belongs');
}

// What a writer writes.
function written(callable $send): array {
    $path = tempnam(sys_get_temp_dir(), 'kit');
    $writer = new Writer(1);
    (fn() => $this->file = fopen($path, 'w'))->call($writer);
    $send($writer);
    $lines = file($path);
    unlink($path);
    return $lines;
}

// A ring of three, after some laps and a reset.
function ring(): FiberRing {
    global $mechanisms;
    $words = 'run protocol=1 mechanism=stack/php-fiber experiment=switch contexts=3 timing=batch cpus= batch_units=0 ' .
        'batch_ns=1 batches=1 warmup_batches=0 verify_units=0 seed=9223372036854775807 heap_offset=drawn';
    $ring = new FiberRing(new Plan(explode(' ', $words), $mechanisms));
    $ring->run(6);
    $ring->reset();
    return $ring;
}

function claimed(Ring $ring): array {
    $fields = ['counts' => [], 'cpus' => []];
    return [$ring->claim($fields), $fields];
}

// Another order of its contexts.
function reorder(Ring $ring, array $order): void {
    (fn() => $this->contexts = array_map(fn($i) => $this->contexts[$i], $order))->call($ring);
}

$tests = [
    'messages are JSON of ASCII' => function () {
        $note = ['text' => "a\"\\\n\u{e9}", 'none' => null, 'list' => [1, -2], 'map' => new stdClass()];
        $wanted = '{"t":"note","text":"a\"\\\\\n\u00e9","none":null,"list":[1,-2],"map":{}}' . "\n";
        equal(written(fn($writer) => $writer->put('note', $note)), [$wanted], 'a note');
    },
    'no line is too long' => function () {
        $most = array_fill(0, 3500, PHP_INT_MIN);
        $lines = written(fn($writer) => $writer->put_samples([], ['measure', 0, 3500], $most, $most));
        equal(array_map(fn($line) => json_decode($line)->seq, $lines), [0, 1, 2], 'numbers');
        equal(array_sum(array_map(fn($line) => count(json_decode($line)->ticks), $lines)), 3500, 'ticks');
        equal(max(array_map(strlen(...), $lines)) < 65536, true, 'length');
    },
    'every context counts its turns' => function () {
        $ring = ring();
        $ring->run(9);
        [$fine, $fields] = claimed($ring);
        equal($fine, true, 'the ring');
        equal($fields['turns'], ['total' => 9, 'min' => 3, 'max' => 3, 'contexts' => 3], 'turns');
        equal([$fields['token'], $fields['counts']['distinct_contexts']], [9, 3], 'token and contexts');
    },
    'a wrong token is noticed' => function () {
        $ring = ring();
        $ring->pass(1, 7);
        equal(claimed($ring)[0], false, 'the ring');
    },
    'a context that is left out is noticed' => function () {
        $ring = ring();
        reorder($ring, [0, 0, 2]);
        $ring->run(9);
        [$fine, $fields] = claimed($ring);
        equal([$fine, $fields['counts']['distinct_contexts']], [false, 2], 'the ring');
    },
    'hops are in order' => function () {
        $ring = ring();
        [, $fields] = claimed($ring);
        $ring->verify(6, $fields);
        equal($fields['hops']['in_order'], 6, 'hops');
        reorder($ring, [2, 1, 0]);
        $ring->verify(6, $fields);
        equal($fields['hops']['in_order'] < 6, true, 'hops');
    },
    'the clock goes on' => function () {
        $begin = hrtime(true);
        $ruler = ruler();
        equal($ruler > 0 && hrtime(true) - $begin >= $ruler, true, 'the clock');
    },
    'mechanisms are sorted' => function () use ($mechanisms) {
        $sorted = $mechanisms;
        ksort($sorted);
        equal(array_keys($mechanisms), array_keys($sorted), 'the list');
    },
];
foreach ($tests as $name => $test) {
    $test();
    echo "ok $name\n";
}
