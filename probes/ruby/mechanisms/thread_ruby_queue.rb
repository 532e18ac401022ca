# thread/ruby-queue: threads hand a token round, each through the queue of the next. The main thread is context 0.
require "kit/ring"

class QueueRing < Ring
  # Each thread has its objects and two stacks that are mappings.
  def initialize(asked)
    super
    Machine.check(@lap, 60_000, 2)
    @queues, ready, @due = Array.new(@lap) { Thread::Queue.new }, Thread::Queue.new, 0
    cpus = asked.echo[:cpus].size > 1 ? asked.echo[:cpus] : [nil]
    # A thread begins where the one runs that makes it. Those of the first CPU, context 0's, come last.
    cpus.each_with_index.reverse_each do |cpu, place|
      pin(cpu) if cpu
      made = (1...@lap).select { |i| i % cpus.size == place }
      made.each { |i| Thread.new { ready.push(i) && take_turns(i, Machine::Stat.new, i, @queues[i].pop, -1) } }
    end
    (@lap - 1).times { ready.pop }
  rescue ThreadError => e
    Machine.limit("no more threads can be made (#{e.message})")
  end

  # Puts the main thread on a CPU, for which Ruby has no call.
  def pin(cpu)
    return if system("taskset", "-p", "-c", cpu.to_s, Process.pid.to_s, out: File::NULL)

    Wire.stop("unsupported", "unsupported_here", "`taskset` cannot put a thread on CPU #{cpu}; use placement one_cpu")
  end

  # So many turns of a context that has a token; without end if that is below 0.
  def take_turns(index, stat, due, token, turns)
    lap, mine, following = @lap, @queues[index], @queues[(index + 1) % @lap]
    while turns != 0
      if token == due
        due += lap
        following.push(token + 1)
      else
        token, due = obey(index, due, token, stat)
        following.push(token)
      end
      token = mine.pop
      turns -= 1
    end
    @due = due
    token
  end

  # Context 0 has the token when a pass begins and when it ends.
  def pass(laps, token) = take_turns(0, @stat, @due, token, laps)
end
