-- Contexts that a driver resumes in turn, each with the token that the one before it handed on.
--
-- The token counts every switch. Each context compares it with the number it is due, which advances by one lap a turn
-- and so is its count of turns. Everything else is a command (a negative token), which takes the path of a wrong token:
-- the measured loop pays one comparison for all of it.
local evidence = require("kit.evidence")
local now = require("machine").now
local whole = require("kit.whole")

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

-- make(ring, index) makes a context that is suspended, and gives the function that resumes it.
local function new(asked, make)
    local lap = asked.echo.contexts
    local self = setmetatable({ lap = lap, sequence = 0, contexts = {}, blocks = blocks(asked) }, Ring)
    for i = 1, lap do self.contexts[i] = make(self, i - 1) end
    return self
end

return { new = new, RESET = RESET, PARAMETERS = { heap_offset = MOST_BLOCKS } }
