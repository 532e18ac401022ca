# One `run` or `describe`, as asked. The host sends every key and stays within limits: only typing errors are refused.
require "kit/wire"

module Plan
  # The message `plan` does not repeat these.
  UNSAID = %i[batch_ns verify_units seed].freeze
  NUMBERS = %i[contexts batch_units batches warmup_batches].freeze + UNSAID

  # `echo` is the message `plan`; `experiment`: what carries it out, and what it needs for that; `all`: batches of both
  # phases, of each of which `phases` has the name, the first batch and the one behind the last.
  Asked = Struct.new(:echo, :experiment, :all, :phases, :batch_ns, :verify_units, :seed)

  module_function

  def refuse(code, detail) = Wire.stop("refused", code, detail)

  def number(key, text)
    return text.to_i if text.match?(/\A\d{1,19}\z/) && text.to_i < 2**63

    refuse("bad_value", "`#{key}=#{text}` must be an integer")
  end

  # Looked for before anything else is judged, so that even a refusal reaches the host.
  def report_fd(words) = (words.filter_map { |word| word[/\Areport_fd=(\d+)\z/, 1] }.first || 1).to_i

  # Key to value, but for report_fd.
  def split(words)
    values = {}
    words.drop(1).each do |word|
      key, value = word.match(/\A([^=]+)=(.*)\z/m)&.captures
      refuse("unknown_key", "an argument is not of the form key=value") if !key
      refuse("bad_value", "`#{key}` has a character that no value has") if value.match?(%r{[^A-Za-z0-9._,/+-]})
      refuse("bad_value", "`#{key}` is given twice; give it once") if values.key?(key)
      values[key] = value
    end
    values.tap { values.delete("report_fd") }
  end

  # To be called when all that is known was taken.
  def check_rest(values, what)
    refuse("unknown_key", "`#{values.keys.first}` is not a key of #{what}") if !values.empty?
  end

  def take(values, key)
    values.delete(key) || refuse("bad_value", "`#{key}` is missing; a plan has every key and parameter")
  end

  # Takes the key, whose value must be among these.
  def one_of(values, key, known)
    text = take(values, key)
    known.include?(text) ? text : refuse("bad_value", "`#{key}=#{text}` is not among what it has")
  end

  def parse(words, mechanisms)
    values = split(words)
    id = take(values, "mechanism")
    parameters, experiments = mechanisms[id] || refuse("unknown_mechanism", "it has no `#{id}`")
    one_of(values, "protocol", ["1"])
    experiment, timing = one_of(values, "experiment", experiments.keys), one_of(values, "timing", ["batch"])
    numbers = NUMBERS.to_h { |key| [key, number(key, take(values, key.to_s))] }
    cpus = take(values, "cpus").split(",", -1).map { |cpu| number("cpus", cpu) }
    parameters = parameters.to_h { |name, known| [name, one_of(values, name, known)] }
    check_rest(values, "`run` or of #{id}")
    warmup, all = numbers[:warmup_batches], numbers[:warmup_batches] + numbers[:batches]
    echo = { mechanism: id, experiment: experiment, timing: timing, cpus: cpus, parameters: parameters, **numbers }
    Asked.new(echo, experiments[experiment], all, [["warmup", 0, warmup], ["measure", warmup, all]],
              *UNSAID.map { |key| echo.delete(key) })
  end
end
