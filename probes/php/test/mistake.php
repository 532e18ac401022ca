<?php

// A mistake, for a test: contexts that are objects, called by the driver, and no fibers. The evidence is the kit's.
class Turn {
    private int $due;

    public function __construct(private int $index, private int $lap, private Closure $obey) { $this->due = $index; }

    public function resume(int $token): int {
        if ($token === $this->due) {
            $this->due += $this->lap;
            return $token + 1;
        }
        [$token, $this->due] = ($this->obey)($this->index, $this->due, $token, $GLOBALS['writer']);
        return $token;
    }
}

class FiberRing extends Ring {
    public function __construct(Plan $asked) {
        $this->lap = $asked->echo['contexts'];
        for ($i = 0; $i < $this->lap; $i++) $this->contexts[$i] = new Turn($i, $this->lap, $this->obey(...));
    }
}
