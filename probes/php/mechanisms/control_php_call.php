<?php
// control/php-call: the loop of stack/php-fiber with objects instead of fibers: a call, an addition and a return.

class Callee {
    public function resume(int $token): int { return $token + 1; }
}

class Calls extends Ring {
    public function __construct() {
        $this->lap = 2;
        $this->contexts = [new Callee(), new Callee()];
    }

    public function reset(): void { $this->sequence = 0; }

    // No contexts count, and none are in an order.
    public function claim(array &$fields): bool {
        $fields['token'] = $this->sequence;
        return !$this->broken;
    }
}
