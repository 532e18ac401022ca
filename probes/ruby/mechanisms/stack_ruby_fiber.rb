# stack/ruby-fiber: a driver resumes fibers in turn, each with the token that the one before it yielded.
#
# The driver is not a context: a switch is one fiber's yield, the driver's loop, and the resumption of the next.
require "kit/ring"

class FiberRing < Ring
  # Fibers that ran until they yielded, and how many did. Each has an object, two stacks that are mappings, and its
  # place in the list (14,500 bytes observed).
  def self.hold(contexts)
    Machine.check(contexts, 15_000, 2)
    ran = 0
    held = Array.new(contexts) do |i|
      fiber = Fiber.new do
        ran += 1
        block_given? ? yield(i) : Fiber.yield
      end
      fiber.tap(&:resume)
    end
    [held, ran]
  rescue FiberError => e
    Machine.limit("no more fibers can be made (#{e.message})")
  end

  # Fibers lie behind a drawn number of strings of every size, since the first free places of a fresh heap are the same
  # in every start. The seed is another in every start.
  def initialize(asked)
    super
    drawn, most = Random.new(asked.seed), asked.echo[:parameters]["heap_offset"] == "drawn" ? 15 : 0
    @blocks = 48.step(1024, 16).flat_map { |size| Array.new(drawn.rand(0..most)) { "-" * size } }
    stat = Machine::Stat.new
    @contexts, = FiberRing.hold(@lap) { |i| take_turns(i, stat) }
  end

  def take_turns(index, stat)
    lap, due, token = @lap, index, Fiber.yield
    while true
      if token == due
        due += lap
        token = Fiber.yield(token + 1)
      else
        token, due = obey(index, due, token, stat)
        token = Fiber.yield(token)
      end
    end
  end
end

# Make a fiber, enter it once, let it return, leave it to the collector.
class FiberCreation
  def initialize(_asked) = @entered = 0
  def lap = 1
  def reset = @entered = 0

  def run(units)
    while units > 0
      Fiber.new { @entered += 1 }.resume
      units -= 1
    end
  end

  def claim(fields) = fields.update(Machine.each_once(@entered), token: @entered)
end
