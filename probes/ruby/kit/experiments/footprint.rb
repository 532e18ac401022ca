# Experiment footprint: memory of live, suspended contexts, by the kernel's figures. Nothing is timed: ticks are bytes.
# hold.call(contexts) makes so many, lets each run once and suspend, and gives what keeps them and how many ran.
require "kit/machine"

module Footprint
  # What kit/machine.rb gives of memory.
  QUANTITIES = %w[resident_bytes virtual_bytes kernel_bytes].freeze

  # So many at most are made first and kept: the pages of code are there then, and what start-up left free is used up.
  REHEARSED = 1000

  def self.carry_out(writer, asked, hold)
    contexts = asked.echo[:batch_units] = asked.echo[:contexts]
    Machine.memory
    writer.put("plan", asked.echo)
    # Contexts of earlier cycles stay alive, so that none is made of what another left.
    alive, entered = [hold.call([contexts, REHEARSED].min)], 0
    gains = Array.new(asked.all) do
      before = Machine.memory
      alive << hold.call(contexts)
      entered += alive.last[1]
      Machine.memory.zip(before).map { |bytes, earlier| bytes - earlier }
    end
    Wire.stop("failed", "self_check_failed", "only #{entered} contexts ran") if entered != asked.all * contexts
    asked.phases.product(QUANTITIES.zip(gains.transpose)) do |phase, (quantity, ticks)|
      writer.put_samples({ units: contexts, quantity: quantity }, { ticks: ticks }, phase)
    end
    writer.put("note", text: "kernel_bytes is the change of this process's page tables (VmPTE)")
    writer.put("evidence", Machine.each_once(entered).update(units: entered, token: nil, kernel: nil))
    { status: "ok", samples: asked.all * QUANTITIES.size }
  end
end
