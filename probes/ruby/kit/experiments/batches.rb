# Experiments whose units are done in batches, by a workload that is made of what is asked. It has the `lap`, `run`,
# `reset` and `claim` of kit/ring.rb, and `verify` if it is a ring.
require "kit/machine"

module Batches
  module_function

  # The measured region: no clock within and no branch on the plan.
  def batch(workload, units)
    first = Machine.now
    workload.run(units)
    Machine.now - first
  end

  def whole_laps(units, lap) = (units + lap - 1) / lap * lap

  # Doubles by the rule of PROTOCOL.md, section 1, which has the largest k as well.
  def calibrate(workload, batch_ns)
    units, long_enough = workload.lap, 0
    while long_enough < 3
      enough = batch(workload, units) >= batch_ns
      long_enough = enough ? long_enough + 1 : 0
      units *= 2 if !enough
      Machine.limit("no batch lasts as long as batch_ns") if units > 10**12
    end
    units
  end

  # The silence of PROTOCOL.md: all that is recorded has its place beforehand. The ruler's first reading is before the
  # first batch, and what stands beside a batch is the slower of two.
  def measure(writer, asked, workload)
    ticks, cpus, ruler = Array.new(3) { Array.new(asked.all + 1, 0) }
    stat, units = Machine::Stat.new, asked.echo[:batch_units]
    Machine.between(Machine.observe(stat), Machine.observe(stat))
    writer.put("plan", asked.echo)
    workload.reset
    first = Machine.observe(stat)
    ruler[0] = Machine.ruler
    asked.all.times do |i|
      ticks[i] = batch(workload, units)
      cpus[i] = stat.cpu
      ruler[i + 1] = Machine.ruler
    end
    fields = Machine.between(first, Machine.observe(stat)).update(units: asked.all * units, cpus: cpus[...-1].uniq)
    [{ ticks: ticks, rulers: { width: ruler.each_cons(2).map(&:max) } }, fields]
  end

  def carry_out(writer, asked, kind)
    workload = kind.new(asked)
    GC.start
    units = whole_laps(asked.echo[:batch_units], workload.lap)
    asked.echo[:batch_units] = units > 0 ? units : calibrate(workload, asked.batch_ns)
    lists, fields = measure(writer, asked, workload)
    Wire.stop("failed", "self_check_failed", "a context got a wrong token") if !workload.claim(fields)
    asked.phases.each { |phase| writer.put_samples({ units: asked.echo[:batch_units] }, lists, phase) }
    verified = whole_laps(asked.verify_units, workload.lap)
    workload.verify(verified, fields) if verified > 0 && workload.respond_to?(:verify)
    writer.put("evidence", fields.update(cpus: fields[:cpus].sort))
    { status: "ok", samples: asked.all }
  end
end
