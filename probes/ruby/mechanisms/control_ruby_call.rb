# control/ruby-call: the loop of stack/ruby-fiber with objects instead of fibers: a call, an addition and a return.
require "kit/ring"

class Callee
  def resume(token) = token + 1
end

class Calls < Ring
  def initialize(asked)
    super
    @lap, @contexts = 2, [Callee.new, Callee.new]
  end

  # No contexts count, and none are in an order.
  undef_method :verify
  def reset = @sequence = 0
  def claim(fields) = fields.update(token: @sequence) && !@broken
end
