-- One `run` or `describe`, as asked. The host sends every key and stays within limits: only typing errors are refused.
local wire = require("kit.wire")

local plan = {}

-- What the message `plan` repeats, and what it does not.
local ECHOED = { "contexts", "batch_units", "batches", "warmup_batches" }
local OTHERS = { "batch_ns", "verify_units", "seed" }

local function refuse(code, detail, ...) wire.stop("refused", code, detail, ...) end

local function number(key, text)
    local fits = #text < 19 or #text == 19 and text <= "9223372036854775807"
    if fits and text:match("^%d+$") then return tonumber(text) end
    refuse("bad_value", "`%s=%s` must be an integer", key, text)
end

-- Looked for before anything else is judged, so that even a refusal reaches the host.
function plan.report_fd(words) return (table.concat(words, " ") .. " "):match(" report_fd=(%d+) ") or 1 end

-- Key to value, but for report_fd.
function plan.split(words)
    local values = {}
    for i = 2, #words do
        local key, value = words[i]:match("^([^=]+)=(.*)$")
        if not key then refuse("unknown_key", "argument %d is not of the form key=value", i) end
        if value:find("[^A-Za-z0-9._,/+-]") then refuse("bad_value", "`%s` has a character that no value has", key) end
        if values[key] then refuse("bad_value", "`%s` is given twice; give it once", key) end
        values[key] = value
    end
    values.report_fd = nil
    return values
end

-- To be called when all that is known was taken.
function plan.check_rest(values, what)
    local key = next(values)
    if key then refuse("unknown_key", "`%s` is not a key of %s", key, what) end
end

-- What was asked, with `echo`, the message `plan`, and `experiment`: what carries it out, and what it needs for that.
function plan.parse(words, mechanisms)
    local values, echo, asked = plan.split(words), { cpus = {}, parameters = {} }, {}
    local function take(key)
        local text = values[key] or refuse("bad_value", "`%s` is missing; a plan has every key and parameter", key)
        values[key] = nil
        return text
    end
    -- The word, and its entry in a table of those that may be said.
    local function one_of(key, known)
        local text = take(key)
        return text, known[text] or refuse("bad_value", "`%s=%s` is not among what it has", key, text)
    end
    echo.mechanism = take("mechanism")
    local mechanism = mechanisms[echo.mechanism] or refuse("unknown_mechanism", "it has no `%s`", echo.mechanism)
    one_of("protocol", { ["1"] = true })
    echo.experiment, asked.experiment = one_of("experiment", mechanism.experiments)
    echo.timing = one_of("timing", { batch = true, each = true })
    asked.each = echo.timing == "each"
    for _, key in ipairs(ECHOED) do echo[key] = number(key, take(key)) end
    for _, key in ipairs(OTHERS) do asked[key] = number(key, take(key)) end
    for cpu in take("cpus"):gsub("(.)$", "%1,"):gmatch("([^,]*),") do table.insert(echo.cpus, number("cpus", cpu)) end
    for name, known in pairs(mechanism.parameters) do echo.parameters[name] = one_of(name, known) end
    plan.check_rest(values, "`run` or of " .. echo.mechanism)
    if #echo.cpus == 0 then echo.cpus = wire.EMPTY end
    asked.echo, asked.all = echo, echo.warmup_batches + echo.batches
    asked.phases = { { "warmup", 1, echo.warmup_batches }, { "measure", echo.warmup_batches + 1, asked.all } }
    return asked
end

return plan
