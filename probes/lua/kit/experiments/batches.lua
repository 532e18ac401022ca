-- Experiments whose units are done in batches, by a workload that set_up(asked) makes:
--   lap             the smallest number of units after which everything stands where it began
--   run(units)      the measured region: so many units, no clock and no branch on the plan
--   run_each(units, histogram)   the same, and records every unit
--   reset()         sets the counts of turns to zero
--   claim(fields)   adds what was counted since: turns, token, counts; false if a context got a token that was not its
--   verify(trace)   passes the token as often as the trace says, and records each visit; nil if there is no ring
local evidence = require("kit.evidence")
local histogram = require("kit.histogram")
local machine = require("machine")
local whole = require("kit.whole")
local wire = require("kit.wire")
local unpack = table.unpack or unpack

-- The largest k of PROTOCOL.md, section 1.
local MOST_UNITS = 1000000000000

local function batch(workload, units, each)
    local begin = machine.now()
    if each then workload:run_each(units, each) else workload:run(units) end
    return machine.now() - begin
end

local function whole_laps(units, lap) return whole(units + lap - 1, lap) * lap end

-- Doubles by the rule of PROTOCOL.md, section 1.
local function calibrate(asked, workload, each)
    local units, long_enough = workload.lap, 0
    while long_enough < 3 do
        local enough = batch(workload, units, each) >= asked.batch_ns
        long_enough = enough and long_enough + 1 or 0
        if not enough then units = 2 * units end
        if units > MOST_UNITS then wire.stop("unsupported", "limit_reached", "no batch lasts as long as batch_ns") end
    end
    return units
end

-- The silence of PROTOCOL.md: all that is recorded has its place beforehand. Place 0 is for readings before batch 1.
local function prepare(asked)
    local record = { ticks = {}, cpus = {}, chain = {}, width = {} }
    for _, readings in pairs(record) do
        for i = 0, asked.all do readings[i] = 0 end
    end
    if asked.each then record.warmup, record.measure = histogram("warmup"), histogram("measure") end
    return record
end

local function carry_out_phase(record, workload, units, phase, first, last)
    local each, begin = record[phase], machine.now()
    for i = first, last do
        record.ticks[i] = batch(workload, units, each)
        record.cpus[i] = machine.cpu()
        if not each then record.chain[i], record.width[i] = machine.rulers() end
    end
    -- Clock and counter are the same here.
    local span = machine.now() - begin
    if each then each.fields.span_clock, each.fields.span_counter = span, span end
end

-- Of each ruler the slower of the readings before and after a batch.
local function beside(readings)
    for i = #readings, 1, -1 do readings[i] = math.max(readings[i], readings[i - 1]) end
    return readings
end

return function(writer, asked, set_up)
    local workload = set_up(asked)
    collectgarbage()
    local units = whole_laps(asked.echo.batch_units, workload.lap)
    if units == 0 then units = calibrate(asked, workload, asked.each and histogram()) end
    asked.echo.batch_units = units
    local record = prepare(asked)
    writer:send("plan", asked.echo)
    workload:reset()
    local begin = evidence.observe()
    record.chain[0], record.width[0] = machine.rulers()
    for _, phase in ipairs(asked.phases) do carry_out_phase(record, workload, units, unpack(phase)) end
    local fields = evidence.between(begin, evidence.observe())
    if not workload:claim(fields) then wire.stop("failed", "self_check_failed", "a context got a wrong token") end
    local samples, lists = asked.all, { ticks = record.ticks }
    lists["rulers.chain"], lists["rulers.width"] = beside(record.chain), beside(record.width)
    for _, phase in ipairs(asked.each and {} or asked.phases) do
        local message = { phase = phase[1], units = units, rulers = {} }
        writer:send_parts("samples", message, lists, phase[2], phase[3])
    end
    if asked.each then samples = record.warmup:send(writer) + record.measure:send(writer) end
    fields.units, fields.cpus = asked.all * units, evidence.cpus(record.cpus)
    if asked.verify_units > 0 and workload.verify then
        local trace = evidence.trace(whole_laps(asked.verify_units, workload.lap))
        workload:verify(trace)
        trace:judge(asked.echo.contexts, fields)
    end
    writer:send("evidence", fields)
    writer:send("end", { status = "ok", samples = samples })
end
