# The whole of a probe with these mechanisms, whose form is that of mechanisms/list.rb.
require "json"
require "kit/plan"

module Probe
  module_function

  def carry_out(writer, mechanisms)
    case ARGV[0]
    when "run"
      asked = Plan.parse(ARGV, mechanisms)
      way, needed = asked.experiment
      way.carry_out(writer, asked, needed)
    when "describe"
      Plan.check_rest(Plan.split(ARGV), "`describe`; only report_fd is")
      mechanisms.each do |id, (parameters, ways)|
        has = { experiments: ways.keys, timings: ["batch"], parameters: parameters.keys, available: true }
        writer.put("mechanism", id: id, **has)
      end
      { status: "ok", samples: 0 }
    else Wire.stop("refused", "bad_value", "the first word must be `describe` or `run`")
    end
  end

  # Ends the process.
  def main(name, version, mechanisms)
    writer = Wire::Writer.new(Plan.report_fd(ARGV))
    writer.put("hello", Machine.hello(name, version))
    ending = catch(:ending) { carry_out(writer, mechanisms) }
    writer.put("end", ending)
    # At once: other threads still wait, and taking a million contexts down in order would last
    # longer than the host waits.
    exit!(%w[ok unsupported].include?(ending[:status]))
  end
end
