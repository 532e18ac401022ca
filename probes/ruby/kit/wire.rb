# The messages of PROTOCOL.md, section 2: one JSON object per line, ASCII, integers only.
module Wire
  # A line stays below 65,536 bytes even if every number of it, in two lists, had 20 digits.
  ENTRIES_PER_LINE = 1500

  # Ends the probe with this `end` message. refused: the plan is bad. unsupported: this machine cannot carry it out.
  # failed: something broke.
  def self.stop(status, code, detail)
    throw(:ending, { status: status, code: code, detail: detail, errno: nil, samples: 0 })
  end

  class Writer
    def initialize(descriptor)
      @file, @seq = IO.for_fd(descriptor, "w", autoclose: false), -1
      @file.sync = true
    end

    # A host that no longer listens is the end of the run: nothing could be reported about it.
    def put(kind, fields)
      @file.write(JSON.generate({ t: kind, **fields }, ascii_only: true), "\n")
    rescue SystemCallError
      exit!(false)
    end

    # As many messages as the batches of a phase take; `lists` are of all batches, and may lie in a hash.
    def put_samples(fields, lists, (phase, first, last))
      first.step(last - 1, ENTRIES_PER_LINE) do |from|
        cut = ->(of) { of.is_a?(Hash) ? of.transform_values(&cut) : of[from...[from + ENTRIES_PER_LINE, last].min] }
        put("samples", fields.merge(cut.call(lists), phase: phase, seq: @seq += 1))
      end
    end
  end
end
