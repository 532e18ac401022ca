-- coroutine/lua: a driver resumes coroutines in turn, each with the token that the one before it yielded.
--
-- The driver is not a context: a switch is one coroutine's yield, the driver's loop, and the resumption of the next.
local evidence = require("kit.evidence")
local list = require("kit.experiments.list")
local memory = require("kit.memory")
local now = require("machine").now
local own = require("own")
local rings = require("kit.ring")
local wrap, yield = coroutine.wrap, coroutine.yield

-- A coroutine with its stack, its function and its place in the list (1,130 bytes observed).
local BYTES_EACH = 1200

local function member(ring, index)
    local lap, due = ring.lap, index
    local token = yield()
    while true do
        if token == due then
            due = due + lap
            token = yield(token + 1)
        else
            token, due = ring:obey(index, due, token)
            token = yield(token)
        end
    end
end

-- Any context of timing=each.
local function member_each(ring, index)
    local lap, due = ring.lap, index
    local token = yield()
    while true do
        local arrived = now()
        if token == due then
            ring.histogram:arrive(arrived - ring.stamp)
            due = due + lap
            ring.stamp = now()
            token = yield(token + 1)
        else
            token, due = ring:obey(index, due, token)
            token = yield(token)
        end
    end
end

local function ring(asked)
    memory.check(asked.echo.contexts, BYTES_EACH)
    local body = asked.each and member_each or member
    return rings.new(asked, function(self, index)
        local context = wrap(body)
        context(self, index)
        return context
    end)
end

-- Make a coroutine, enter it once, let it return, leave it to the collector.
local Creation = { lap = 1 }
Creation.__index = Creation

local function brief(creation) creation.entered = creation.entered + 1 end

function Creation:run(units)
    for _ = 1, units do wrap(brief)(self) end
end

function Creation:run_each(units, histogram)
    for _ = 1, units do
        local begin = now()
        wrap(brief)(self)
        histogram:arrive(now() - begin)
    end
end

function Creation:reset() self.entered = 0 end

function Creation:claim(fields)
    evidence.count(fields, self.entered, 1)
    fields.token = self.entered
    return true
end

local function creation() return setmetatable({ entered = 0 }, Creation) end

-- Coroutines at their first yield.
local function hold(contexts)
    memory.check(contexts, BYTES_EACH)
    local held, ran = {}, 0
    local function body()
        ran = ran + 1
        yield()
    end
    for i = 1, contexts do
        held[i] = wrap(body)
        held[i]()
    end
    return held, ran
end

return {
    described = {
        id = own.coroutine,
        experiments = list.names,
        timings = { "batch", "each" },
        parameters = { "heap_offset" },
        available = true,
    },
    experiments = list.ways(ring, creation, hold),
    parameters = rings.PARAMETERS,
}
