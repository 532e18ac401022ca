<?php
// stack/php-fiber: a driver resumes fibers in turn, each with the token that the one before it suspended itself with.
//
// The driver is not a context: a switch is one fiber's suspension, the driver's loop, and the resumption of the next.

class FiberRing extends Ring {
    private array $blocks = [];

    // Fibers lie behind a drawn number of strings of every size, since the first free places of a fresh heap are the
    // same in every start. The seed is another in every start.
    public function __construct(Plan $asked) {
        $this->lap = $asked->echo['contexts'];
        mt_srand($asked->seed);
        $most = $asked->echo['parameters']->heap_offset === 'drawn' ? 15 : 0;
        for ($size = 48; $size <= 1024; $size += 16) {
            for ($count = mt_rand(0, $most); $count > 0; $count--) $this->blocks[] = str_repeat('-', $size);
        }
        [$this->contexts] = self::hold($this->lap, $this->take_turns(...));
    }

    // Fibers that ran until they suspended themselves, and how many did. Each has an object, a C stack that is a
    // mapping with a page before it, and a stack of PHP's (13,500 bytes observed).
    public static function hold(int $contexts, ?callable $body = null): array {
        check($contexts, 14000, 2);
        $ran = 0;
        $body ??= fn() => Fiber::suspend();
        $held = [];
        for ($i = 0; $i < $contexts; $i++) {
            $held[$i] = new Fiber(function () use ($i, $body, &$ran) {
                $ran++;
                $body($i);
            });
            $held[$i]->start();
        }
        return [$held, $ran];
    }

    private function take_turns(int $index): void {
        $lap = $this->lap;
        $due = $index;
        $token = Fiber::suspend();
        while (true) {
            while ($token === $due) {
                $due += $lap;
                $token = Fiber::suspend($token + 1);
            }
            [$token, $due] = $this->obey($index, $due, $token, Fiber::getCurrent());
            $token = Fiber::suspend($token);
        }
    }
}

// Make a fiber, enter it once, let it return, drop it.
class FiberCreation {
    public int $lap = 1;
    private int $entered = 0;

    public function run(int $units): void {
        for (; $units > 0; $units--) {
            $fiber = new Fiber(function () {
                $this->entered++;
            });
            $fiber->start();
        }
    }

    public function reset(): void { $this->entered = 0; }

    // Each fiber counts once, by its one entry.
    public function claim(array &$fields): bool {
        $fields = once_each($this->entered) + ['token' => $this->entered] + $fields;
        return true;
    }
}
