# The Ruby probe of switchcost; PROTOCOL.md says how it is spoken to.

# Before any file that an older Ruby cannot read. By 127 the host knows that a package may help.
if RUBY_VERSION.to_f < 3.1
  warn "needs Ruby 3.1 or newer, and `ruby` is #{RUBY_VERSION}; put a newer one first in PATH"
  exit! 127
end
require "json"
$LOAD_PATH.unshift __dir__
require "kit/plan"
require "mechanisms/list"

def carry_out(writer)
  case ARGV[0]
  when "run"
    asked = Plan.parse(ARGV, MECHANISMS)
    way, needed = asked.experiment
    way.carry_out(writer, asked, needed)
  when "describe"
    Plan.check_rest(Plan.split(ARGV), "`describe`; only report_fd is")
    MECHANISMS.each do |id, (parameters, ways)|
      has = { experiments: ways.keys, timings: ["batch"], parameters: parameters.keys, available: true }
      writer.put("mechanism", id: id, **has)
    end
    { status: "ok", samples: 0 }
  else Wire.stop("refused", "bad_value", "the first word must be `describe` or `run`")
  end
end

writer = Wire::Writer.new(Plan.report_fd(ARGV))
writer.put("hello", Machine.hello("ruby", "1"))
ending = catch(:ending) { carry_out(writer) }
writer.put("end", ending)
# At once: other threads still wait, and taking a million contexts down in order would last longer than the host waits.
exit!(%w[ok unsupported].include?(ending[:status]))
