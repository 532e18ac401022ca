# The kit, beside what `switchcost check-probe` asks of the whole probe: ruby test/kit.rb
require "json"
require "tempfile"
$LOAD_PATH.unshift File.expand_path("..", __dir__)
require "kit/plan"
require "mechanisms/list"

def equal(got, wanted, what) = got == wanted || raise("#{what}: #{got} where #{wanted} belongs")

# What a writer writes.
def written
  Tempfile.create do |file|
    yield Wire::Writer.new(file.fileno)
    File.readlines(file.path)
  end
end

# A ring of three, after some laps and a reset.
def ring(id = "stack/ruby-fiber")
  echo = { contexts: 3, cpus: [], parameters: { "heap_offset" => "drawn" } }
  made = MECHANISMS[id][1]["switch"][1].new(Plan::Asked.new(echo, nil, nil, nil, 0, 0, 1))
  made.run(6)
  made.tap(&:reset)
end

def claimed(ring)
  fields = { counts: {}, cpus: [] }
  [ring.claim(fields), fields]
end

RINGS = %w[stack/ruby-fiber thread/ruby-queue].freeze

TESTS = {
  "messages are JSON of ASCII" => lambda do
    lines = written { |writer| writer.put("note", text: "a\"\\\n\u00e9", none: nil, list: [1, -2]) }
    equal(lines, ["{\"t\":\"note\",\"text\":\"a\\\"\\\\\\n\\u00e9\",\"none\":null,\"list\":[1,-2]}\n"], "a note")
  end,
  "no line is too long" => lambda do
    most = Array.new(3500, -2**63)
    lists = { ticks: most, rulers: { width: most } }
    lines = written { |writer| writer.put_samples({ units: 1 }, lists, ["measure", 0, 3500]) }
    equal(lines.map { |line| JSON.parse(line)["seq"] }, [0, 1, 2], "numbers")
    equal(lines.sum { |line| JSON.parse(line)["ticks"].size }, 3500, "ticks")
    raise "too long" if lines.any? { |line| line.size > 65_536 }
  end,
  "every context counts its turns" => lambda do
    RINGS.each do |id|
      made = ring(id)
      made.run(9)
      fine, fields = claimed(made)
      equal(fine, true, "the ring")
      equal(fields[:turns], { total: 9, min: 3, max: 3, contexts: 3 }, id)
      equal(fields.values_at(:token, :counts), [9, { distinct_contexts: 3 }], id)
    end
  end,
  "a wrong token is noticed" => lambda do
    RINGS.each do |id|
      made = ring(id)
      made.pass(1, 7)
      equal(claimed(made)[0], false, id)
    end
  end,
  "a context that is left out is noticed" => lambda do
    made = ring
    left = made.instance_variable_get(:@contexts)
    left[1] = left[0]
    made.run(9)
    fine, fields = claimed(made)
    equal([fine, fields[:counts][:distinct_contexts]], [false, 2], "the ring")
  end,
  "hops are in order" => lambda do
    made = ring
    made.run(3)
    _, fields = claimed(made)
    made.verify(6, fields)
    equal(fields[:hops][:in_order], 6, "hops")
    made.instance_variable_get(:@contexts).reverse!
    made.verify(6, fields)
    equal(fields[:hops][:in_order] < 6, true, "hops")
  end,
  "the clock goes on" => lambda do
    first = Machine.now
    ruler = Machine.ruler
    raise "it stands" if ruler <= 0 || Machine.now - first < ruler
  end,
  "mechanisms are sorted" => -> { equal(MECHANISMS.keys, MECHANISMS.keys.sort, "the list") },
}.freeze

TESTS.each do |name, test|
  test.call
  puts "ok #{name}"
end
