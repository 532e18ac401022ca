-- coroutine/lua: a driver resumes coroutines in turn, each with the token that the one before it yielded.
--
-- The driver is not a context: a switch is one coroutine's yield, the driver's loop, and the resumption of the next.
--
-- The token counts every switch. Each context compares it with the number it is due, which advances by one lap a turn
-- and so is its count of turns. Everything else is a command (a negative token), which takes the path of a wrong token:
-- the measured loop pays one comparison for all of it.
local batches = require("kit.experiments.batches")
local evidence = require("kit.evidence")
local footprint = require("kit.experiments.footprint")
local memory = require("kit.memory")
local now = require("machine").now
local own = require("own")
local whole = require("kit.whole")
local wrap, yield = coroutine.wrap, coroutine.yield

-- A coroutine with its stack, its function and its place in the list (1,130 bytes observed).
local BYTES_EACH = 1200

local RESET, PUBLISH = -1, -2
-- And below: the verification pass, VERIFY - sequence number.
local VERIFY = -1000

-- Contexts lie behind a drawn number of blocks of every size, since the first free places of a fresh heap are the same
-- in every start. The seed is another in every start.
local MOST_BLOCKS = { drawn = 15, fixed = 0 }

-- To be kept as long as the contexts live. A string of more than 40 bytes has memory of its own.
local function blocks(asked)
    local kept, most = {}, MOST_BLOCKS[asked.echo.parameters.heap_offset]
    math.randomseed(asked.seed, 0)
    for size = 48, 1024, 16 do
        for _ = 1, math.random(0, most) do table.insert(kept, ("-"):rep(size)) end
    end
    return kept
end

local Ring = {}
Ring.__index = Ring

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

-- Called by a context with what is not the token it was due. Gives what it hands on, and what it is due next.
function Ring:obey(index, due, token)
    if token == RESET then return token, index end
    if token == PUBLISH then
        evidence.count(self.fields, 1, whole(due - index, self.lap))
        self.frames[coroutine.running() or self] = true
    elseif token <= VERIFY then
        self.trace:visit(VERIFY - token, index)
        return token - 1, due
    else
        self.broken = true
    end
    return token, due
end

-- Passes a token round so many times, and gives what came back.
function Ring:pass(laps, token)
    local contexts, lap = self.contexts, self.lap
    for _ = 1, laps do
        for i = 1, lap do token = contexts[i](token) end
    end
    return token
end

function Ring:run(units)
    local token = self:pass(whole(units, self.lap), self.sequence)
    self.sequence = self.sequence + units
    if token ~= self.sequence then self.broken = true end
end

function Ring:run_each(units, histogram)
    self.histogram = histogram
    -- The first interval of a batch begins here and not in a coroutine.
    self.stamp = now()
    self:run(units)
end

function Ring:reset()
    self.sequence = 0
    self:pass(1, RESET)
end

function Ring:claim(fields)
    self.fields, self.frames = fields, {}
    self:pass(1, PUBLISH)
    local distinct = 0
    for _ in pairs(self.frames) do distinct = distinct + 1 end
    fields.counts.distinct_frames, fields.token = distinct, self.sequence
    return not self.broken
end

function Ring:verify(trace)
    self.trace = trace
    -- Where the token begins: it has just come from the last context.
    trace:visit(0, self.lap - 1)
    self:pass(whole(trace.units, self.lap), VERIFY - 1)
end

local function ring(asked)
    local lap = asked.echo.contexts
    memory.check(lap, BYTES_EACH)
    local self = setmetatable({ lap = lap, sequence = 0, contexts = {}, blocks = blocks(asked) }, Ring)
    local body = asked.each and member_each or member
    for i = 1, lap do
        local context = wrap(body)
        context(self, i - 1)
        self.contexts[i] = context
    end
    return self
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
        experiments = { "switch", "create", "footprint" },
        timings = { "batch", "each" },
        parameters = { "heap_offset" },
        available = true,
    },
    experiments = {
        switch = { batches, ring },
        create = { batches, creation },
        footprint = { footprint, hold },
    },
    parameters = { heap_offset = MOST_BLOCKS },
}
