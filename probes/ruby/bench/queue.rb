# Two threads, each waiting for its queue: `ruby bench/queue.rb CPU SWITCHES_PER_BATCH BATCHES`, pinned from outside.
switches, batches, token = ARGV[1].to_i, ARGV[2].to_i, 0
here, there = Thread::Queue.new, Thread::Queue.new
Thread.new do
  while (got = there.pop)
    here.push(got + 1)
  end
end
batches.times do
  first = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  (switches / 2).times do
    there.push(token + 1)
    token = here.pop
  end
  puts (Process.clock_gettime(Process::CLOCK_MONOTONIC) - first) * 1e9 / switches
end
