-- The whole of a probe with one mechanism of the reader's own. `switchcost new-probe --language lua`
-- starts from it.
--
-- The driver is not a context: a switch is one suspension and one resumption.

-- The module is that of the installed probe, beside the kit to which ./kit is a link.
package.cpath = "./kit/../../probes/lua/lib/?.so;" .. package.cpath
local main = require("kit.main")
local evidence = require("kit.evidence")
local list = require("kit.experiments.list")
local now = require("machine").now
local own = require("own")
local rings = require("kit.ring")

local function run_each(ring, units, histogram)
    local contexts, lap, token = ring.contexts, ring.lap, ring.sequence
    ring.sequence = token + units
    while token < ring.sequence and not ring.broken do
        for i = 1, lap do
            local begin = now()
            local due = token + 1
            token = contexts[i](token)
            histogram:arrive(now() - begin)
            if token ~= due then ring.broken = true end
        end
    end
end

local Creation = { lap = 1 }
Creation.__index = Creation

function Creation:run(units)
    local make_and_end, token = self.make_and_end, self.token
    for _ = 1, units do token = make_and_end(token) end
    self.token = token
end

function Creation:run_each(units, histogram)
    for _ = 1, units do
        local begin = now()
        self.token = self.make_and_end(self.token)
        histogram:arrive(now() - begin)
    end
end

function Creation:reset() self.token = 0 end

-- Each context has one turn, in which it counts the token up.
function Creation:claim(fields)
    evidence.count(fields, self.token, 1)
    fields.token = self.token
    return true
end

-- make(ring, index) makes a context that is suspended, and gives what resumes it: a function of a token
-- that gives the one that the context hands on. If it is resumed with the token that it is due, at
-- first its index, it hands on the next number, and is due one that is ring.lap more. Of any other
-- token, ring:obey(index, due, token) gives what it hands on and what it is due.
--
-- make_and_end(token) makes a context, enters it once with the token, lets it end, and gives the token
-- plus one.
return function(name, id, make, make_and_end)
    own.probe = name
    local function ring(asked)
        local made = rings.new(asked, make)
        made.run_each = run_each
        return made
    end
    local function creation() return setmetatable({ token = 0, make_and_end = make_and_end }, Creation) end
    -- Contexts that ran once. What they take for their ring counts them.
    local function hold(contexts)
        local held, ran = {}, 0
        local asleep = { lap = contexts }
        function asleep:obey(_, due, token)
            ran = ran + 1
            return token, due
        end
        for i = 1, contexts do
            held[i] = make(asleep, i - 1)
            held[i](rings.RESET)
        end
        return held, ran
    end
    local described = { id = id, experiments = list.names, timings = { "batch", "each" }, available = true }
    described.parameters = { "heap_offset" }
    local mechanism = { described = described, parameters = rings.PARAMETERS }
    mechanism.experiments = list.ways(ring, creation, hold)
    main({ mechanism, [id] = mechanism })
end
