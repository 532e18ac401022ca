# A probe of one mechanism of the reader's own: contexts that a driver resumes in turn, each with
# the token that the one before it handed on. `switchcost new-probe --language ruby` starts from it.
#
# The driver is not a context: a switch is one suspension and one resumption.
require "kit/oldest"
require "kit/main"
require "kit/experiments/list"
require "kit/ring"

# What the block makes, so many times.
def own_contexts(contexts, &make)
  Array.new(contexts, &make)
rescue FiberError, ThreadError => e
  Machine.limit("no more contexts can be made (#{e.message})")
end

class OwnRing < Ring
  def initialize(asked)
    super
    spread(asked)
    @contexts = own_contexts(@lap) { |i| make(self, i) }
  end
end

# What contexts that are held take for their ring: it counts those that ran.
OwnHeld = Struct.new(:lap, :ran) do
  def obey(_index, due, token) = [token, due].tap { self.ran += 1 }
end

class OwnCreation
  def initialize(_asked) = @token = 0
  def lap = 1
  def reset = @token = 0

  def run(units)
    token = @token
    while units > 0
      token = make_and_end(token)
      units -= 1
    end
    @token = token
  end

  # Each context has one turn, in which it counts the token up.
  def claim(fields) = fields.update(Machine.each_once(@token), token: @token)
end

def own_held(contexts)
  ring = OwnHeld.new(contexts, 0)
  held = own_contexts(contexts) { |i| make(ring, i) }
  held.each { |context| context.resume(Ring::RESET) }
  [held, ring.ran]
end

# The whole of a probe, by two functions of its file; does not return.
#
# make(ring, index) makes a context that is suspended, and gives what resumes it: its method
# resume(token) gives the token that the context hands on. If it is resumed with the token that it is
# due, at first its index, it hands on the next number, and is due one that is ring.lap more. Of any
# other token, ring.obey(index, due, token) gives what it hands on and what it is due.
#
# make_and_end(token) makes a context, enters it once with the token, lets it end, and gives the
# token plus one.
def own_probe(name, id)
  Probe.main(name, "1", { id => [Ring::SPREAD, experiments(OwnRing, OwnCreation, method(:own_held))] })
end
