# thread/ruby-queue: threads hand a token round, each through the queue of the next. The main thread is context 0.
require "kit/ring"

class QueueRing < Ring
  # Each thread has its objects and two stacks that are mappings.
  def initialize(asked)
    super
    Machine.check(@lap, 60_000, 2)
    @queues, ready, @due, @stat = Array.new(@lap) { Thread::Queue.new }, Thread::Queue.new, 0, Machine::Stat.new
    (1...@lap).each do |i|
      Thread.new { ready.push([i, task]) && take_turns(i, Machine::Stat.new, i, @queues[i].pop, -1) }
    end
    tasks = [[0, task], *Array.new(@lap - 1) { ready.pop }]
    cpus = asked.echo[:cpus]
    tasks.each { |index, task| pin(task, cpus[index % cpus.size]) } if cpus.size > 1
  rescue ThreadError => e
    Machine.limit("no more threads can be made (#{e.message})")
  end

  def task = File.basename(File.readlink("/proc/thread-self"))

  # Ruby has no call for it.
  def pin(task, cpu)
    return if system("taskset", "-p", "-c", cpu.to_s, task, out: File::NULL)

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
