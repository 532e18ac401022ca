# Measures stack/@name@. Put your library's calls into the three functions; the kit does the rest.

# A link to the installed kit. In another checkout: ln -sfn "$(switchcost new-probe --kit ruby)" kit
$LOAD_PATH.unshift "#{__dir__}/kit"
require "kit/own"

# What a context does: it suspends, takes the token that comes, and hands it on.
def live(ring, index)
  due, token = index, Fiber.yield
  while true
    if token == due
      due += ring.lap
      token = Fiber.yield(token + 1)
    else
      token, due = ring.obey(index, due, token)
      token = Fiber.yield(token)
    end
  end
end

# Makes a context that is suspended. Its method resume(token) gives the token that it hands on.
def make(ring, index)
  Fiber.new { live(ring, index) }.tap(&:resume)
end

# Makes a context, enters it once with the token, lets it end. Gives the token plus one.
def make_and_end(token)
  Fiber.new { |entered| entered + 1 }.resume(token)
end

own_probe("@name@", "stack/@name@")
