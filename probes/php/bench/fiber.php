<?php
// Two fibers, resumed in turn: `php -n bench/fiber.php CPU SWITCHES_PER_BATCH BATCHES`, pinned from outside. Each
// compares the token with the number it is due: that is part of what stack/php-fiber says a unit is. Their number is a
// variable, since PHP has quicker steps for a constant.
function bench(int $lap, int $switches, int $batches): void {
    $fibers = [];
    for ($i = 0; $i < $lap; $i++) {
        $fibers[$i] = new Fiber(function (int $due) use ($lap) {
            $got = Fiber::suspend();
            while ($got === $due) {
                $due += $lap;
                $got = Fiber::suspend($got + 1);
            }
        });
        $fibers[$i]->start($i);
    }
    for ($token = 0; $batches > 0; $batches--) {
        $begin = hrtime(true);
        for ($laps = intdiv($switches, $lap); $laps > 0; $laps--) {
            for ($i = 0; $i < $lap; $i++) $token = $fibers[$i]->resume($token);
        }
        echo (hrtime(true) - $begin) / $switches, "\n";
    }
}

bench(2, (int) $argv[2], (int) $argv[3]);
