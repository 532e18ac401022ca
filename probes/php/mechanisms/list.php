<?php
// Of each mechanism its parameters with their values, and for each experiment what carries it out and what that needs.
// Sorted; a test checks it.
require 'mechanisms/control_php_call.php';
require 'mechanisms/stack_php_fiber.php';

return [
    "control/php-call" => [[], ['switch' => ['batches', 'Calls']]],
    "stack/php-fiber" => [['heap_offset' => ['drawn', 'fixed']], [
        'switch' => ['batches', 'FiberRing'],
        'create' => ['batches', 'FiberCreation'],
        'footprint' => ['footprint', 'FiberRing::hold'],
    ]],
];
