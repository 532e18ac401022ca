<?php
// Experiment footprint: memory of live, suspended contexts, by the kernel's figures. Nothing is timed: ticks are bytes.
// hold(contexts) makes so many, lets each run once and suspend, and gives what keeps them and how many ran.

function footprint(Writer $writer, Plan $asked, callable $hold): array {
    $contexts = $asked->echo['batch_units'] = $asked->echo['contexts'];
    memory();
    $writer->put('plan', $asked->echo);
    // So many at most are made first and kept: the pages of code are there then, and what start-up left free is used
    // up. Contexts of earlier cycles stay alive, so that none is made of what another left.
    $alive = [$hold(min($contexts, 1000))];
    $gains = [];
    for ($cycle = 1; $cycle <= $asked->all; $cycle++) {
        $before = memory();
        $alive[$cycle] = $hold($contexts);
        $gains[] = array_map(fn($after, $bytes) => $after - $bytes, memory(), $before);
    }
    $entered = array_sum(array_column($alive, 1)) - $alive[0][1];
    if ($entered !== $asked->all * $contexts) stop('failed', 'self_check_failed', "only $entered contexts ran");
    foreach ($asked->phases as $phase) {
        foreach (['resident_bytes', 'virtual_bytes', 'kernel_bytes'] as $i => $quantity) {
            $fields = ['units' => $contexts, 'quantity' => $quantity];
            $writer->put_samples($fields, $phase, array_column($gains, $i));
        }
    }
    $writer->put('note', ['text' => "kernel_bytes is the change of this process's page tables (VmPTE)"]);
    $fields = once_each($entered) + ['units' => $entered, 'token' => null, 'kernel' => null];
    $writer->put('evidence', $fields);
    return ['status' => 'ok', 'samples' => $asked->all * 3];
}
