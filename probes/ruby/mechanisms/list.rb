# Of each mechanism its parameters with their values, and for each experiment what carries it out and what that needs.
# Sorted; a test checks it.
require "kit/experiments/list"
require "mechanisms/control_ruby_call"
require "mechanisms/stack_ruby_fiber"
require "mechanisms/thread_ruby_queue"

MECHANISMS = {
  "control/ruby-call" => [{}, { "switch" => [Batches, Calls] }],
  "stack/ruby-fiber" => [Ring::SPREAD, experiments(FiberRing, FiberCreation, FiberRing.method(:hold))],
  "thread/ruby-queue" => [{}, { "switch" => [Batches, QueueRing] }],
}.freeze
