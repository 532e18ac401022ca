# Contexts that take turns. The token counts every switch. A context is due a number that advances by one lap per turn,
# and so is its count of turns. Everything else is a command (a negative token) and takes the path of a wrong token: the
# measured loop pays one comparison for all of it.
require "kit/machine"

class Ring
  RESET, PUBLISH = -1, -2
  # And below: the verification pass, VERIFY - sequence number.
  VERIFY = -1000

  # The parameter of `spread`.
  SPREAD = { "heap_offset" => %w[drawn fixed] }.freeze

  attr_reader :lap

  def initialize(asked)
    @lap, @sequence, @turns, @distinct, @who, @cpus = asked.echo[:contexts], 0, [], {}, [], []
    @stat = Machine::Stat.new
  end

  # What is made next lies behind a drawn number of strings of every size, since the first free places
  # of a fresh heap are the same in every start. The seed is another in every start.
  def spread(asked)
    drawn, most = Random.new(asked.seed), asked.echo[:parameters]["heap_offset"] == "drawn" ? 15 : 0
    @blocks = 48.step(1024, 16).flat_map { |size| Array.new(drawn.rand(0..most)) { "-" * size } }
  end

  # Passes the token round so often and gives what came back. This is the way of contexts that a loop resumes.
  def pass(laps, token)
    contexts, lap = @contexts, @lap
    while laps > 0
      i = 0
      while i < lap
        token = contexts[i].resume(token)
        i += 1
      end
      laps -= 1
    end
    token
  end

  # What a context hands on that got no token, and what it is due next.
  def obey(index, due, token, stat = @stat)
    case token
    when RESET then due = index
    when PUBLISH
      @turns << (due - index) / @lap
      @distinct[Fiber.current] = true
      @who[0], @cpus[0] = index, stat.cpu
    when ..VERIFY
      @who[VERIFY - token], @cpus[VERIFY - token] = index, stat.cpu
      token -= 1
    else @broken = true
    end
    [token, due]
  end

  def run(units)
    token = pass(units / @lap, @sequence)
    @sequence += units
    @broken = true if token != @sequence
  end

  # Counts begin anew.
  def reset
    @sequence = 0
    pass(1, RESET)
  end

  # Adds what was counted since, by all in this process's own memory, which nothing of another address space can reach.
  # False: a context got a token that was not its.
  def claim(fields)
    pass(1, PUBLISH)
    fields[:turns] = { total: @turns.sum, min: @turns.min, max: @turns.max, contexts: @turns.size }
    fields[:counts][:distinct_contexts] = @distinct.size
    fields.update(token: @sequence, address_spaces: 1)
    !@broken
  end

  # Who had the token and on which CPU, by its number: it begins where it came from last.
  def verify(units, fields)
    pass(units / @lap, VERIFY - 1)
    hops = (1..units)
    in_order = hops.count { |i| @who[i] == (@who[i - 1].to_i + 1) % @lap }
    same_cpu = hops.count { |i| @cpus[i] == @cpus[i - 1] }
    fields[:hops] = { count: units, timed: false, in_order: in_order, same_cpu: same_cpu }
    fields[:migrations] = (@lap..units).count { |i| @cpus[i] != @cpus[i - @lap] }
    fields[:cpus] |= @cpus
  end
end
