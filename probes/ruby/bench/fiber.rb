# Two fibers, resumed in turn: `ruby bench/fiber.rb CPU SWITCHES_PER_BATCH BATCHES`, pinned from outside. Each compares
# the token with the number it is due: that is part of what stack/ruby-fiber says a unit is.
switches, batches, token = ARGV[1].to_i, ARGV[2].to_i, 0
fibers = Array.new(2) do |i|
  fiber = Fiber.new do
    due, got = i, Fiber.yield
    while got == due
      due += 2
      got = Fiber.yield(got + 1)
    end
  end
  fiber.tap(&:resume)
end
batches.times do
  first = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  laps = switches / 2
  while laps > 0
    i = 0
    while i < 2
      token = fibers[i].resume(token)
      i += 1
    end
    laps -= 1
  end
  puts (Process.clock_gettime(Process::CLOCK_MONOTONIC) - first) * 1e9 / switches
end
