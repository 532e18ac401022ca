-- What shows that the units claimed did happen.
local machine = require("machine")

local evidence = {}

-- What can be read from outside the contexts. Lua has one thread, which is the process. It does not count collections,
-- and a finaliser that did so would add a tenth to `create`.
function evidence.observe() return { machine.usage() } end

-- The fields of the evidence message that are differences of two observations.
function evidence.between(begin, last)
    for i, value in ipairs(begin) do last[i] = last[i] - value end
    return {
        kernel = { voluntary = last[1], involuntary = last[2], tasks = 1, source = "getrusage_self" },
        page_faults = { minor = last[3], major = last[4] },
        counts = { cpu_time_ns = last[5] },
    }
end

-- Adds the turns of so many contexts, each that many, to those that contexts counted themselves. They do so in this
-- process's own memory, which nothing of another address space can reach.
function evidence.count(fields, contexts, of_one)
    local turns = fields.turns or { total = 0, min = of_one, max = of_one, contexts = 0 }
    turns.total, turns.contexts = turns.total + contexts * of_one, turns.contexts + contexts
    turns.min, turns.max = math.min(turns.min, of_one), math.max(turns.max, of_one)
    fields.turns, fields.address_spaces = turns, 1
end

-- The CPUs of a list of readings, ascending, each once.
function evidence.cpus(readings)
    local seen, cpus = {}, {}
    for _, cpu in ipairs(readings) do
        if not seen[cpu] then seen[cpu], cpus[#cpus + 1] = true, cpu end
    end
    table.sort(cpus)
    return cpus
end

-- The record of the verification pass: who had the token and on which CPU, by the token's sequence number.
local Trace = {}
Trace.__index = Trace

function evidence.trace(units) return setmetatable({ who = {}, cpu = {}, units = units }, Trace) end

-- Called by a context that came to run with the token.
function Trace:visit(sequence, context) self.who[sequence], self.cpu[sequence] = context, machine.cpu() end

-- Compares every hop with the one before it. The pass comes after the timed batches, by the same contexts.
function Trace:judge(contexts, fields)
    local hops, migrations = { count = self.units, in_order = 0, same_cpu = 0, timed = false }, 0
    for i = 0, self.units do
        local who, cpu = self.who[i], self.cpu[i]
        if i >= contexts and cpu ~= self.cpu[i - contexts] then migrations = migrations + 1 end
        if i > 0 and who == (self.who[i - 1] + 1) % contexts then hops.in_order = hops.in_order + 1 end
        if i > 0 and cpu == self.cpu[i - 1] then hops.same_cpu = hops.same_cpu + 1 end
    end
    fields.hops, fields.migrations = hops, migrations
end

return evidence
