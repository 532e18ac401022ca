<?php
// The PHP probe of switchcost; PROTOCOL.md says how it is spoken to. This file is read by any PHP 5 or newer.

// By 127 the host knows that a package may help.
if (PHP_VERSION_ID < 80100) {
    fwrite(STDERR, "needs PHP 8.1 or newer, and `php` is " . PHP_VERSION . "; put a newer one first in PATH\n");
    exit(127);
}
chdir(__DIR__);
require 'kit/wire.php';
require 'kit/plan.php';
require 'kit/machine.php';
require 'kit/ring.php';
require 'kit/experiments/batches.php';
require 'kit/experiments/footprint.php';
$mechanisms = require 'mechanisms/list.php';

function carry_out($words, $mechanisms, $writer) {
    if ($words[0] === 'run') {
        $asked = new Plan($words, $mechanisms);
        return $asked->way[0]($writer, $asked, $asked->way[1]);
    }
    if ($words[0] !== 'describe') stop('refused', 'bad_value', 'the first word must be `describe` or `run`');
    Plan::check_rest(Plan::split($words), '`describe`; only report_fd is');
    foreach ($mechanisms as $id => list($parameters, $ways)) {
        $has = ['experiments' => array_keys($ways), 'timings' => ['batch'], 'parameters' => array_keys($parameters)];
        $writer->put('mechanism', ['id' => $id, 'available' => true] + $has);
    }
    return ['status' => 'ok', 'samples' => 0];
}

$words = array_slice($argv, 1) ?: [''];
$writer = new Writer(Plan::report_fd($words));
$writer->put('hello', hello('php', '1'));
try {
    $end = carry_out($words, $mechanisms, $writer);
} catch (Stop $stop) {
    $end = $stop->fields;
}
$writer->put('end', $end);
exit(in_array($end['status'], ['ok', 'unsupported'], true) ? 0 : 1);
