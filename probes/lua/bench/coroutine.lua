-- Two coroutines, resumed in turn. `lua bench/coroutine.lua CPU SWITCHES_PER_BATCH BATCHES`, pinned from outside.
-- By Lua's own clock, which counts CPU time in microseconds, and without anything of the probe's. Each compares the
-- token with the number it is due: that is part of what coroutine/lua says a unit is.
local yield = coroutine.yield

local function context(due)
    local token = yield()
    while token == due do
        due = due + 2
        token = yield(token + 1)
    end
end

local switches, batches, token, resume = tonumber(arg[2]), tonumber(arg[3]), 0, {}
for i = 1, 2 do
    resume[i] = coroutine.wrap(context)
    resume[i](i - 1)
end
for _ = 1, batches do
    local begin = os.clock()
    for _ = 1, switches / 2 do
        for i = 1, 2 do token = resume[i](token) end
    end
    print((os.clock() - begin) * 1e9 / switches)
end
