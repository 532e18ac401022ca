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

  def initialize(asked)
    super
    spread(asked)
    @contexts, = FiberRing.hold(@lap) { |i| take_turns(i) }
  end

  def take_turns(index)
    lap, due, token = @lap, index, Fiber.yield
    while true
      if token == due
        due += lap
        token = Fiber.yield(token + 1)
      else
        token, due = obey(index, due, token)
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
