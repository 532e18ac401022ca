-- control/lua-call: the loop of coroutine/lua with functions instead of coroutines: a call, an addition and a return.
local batches = require("kit.experiments.batches")
local own = require("own")
local whole = require("kit.whole")
local wire = require("kit.wire")
local now = require("machine").now

local Calls = { lap = 1 }
Calls.__index = Calls

local function add_one(token) return token + 1 end

function Calls:run(units)
    local functions, token = self.functions, self.token
    local size = #functions
    for _ = 1, whole(units, size) do
        for i = 1, size do token = functions[i](token) end
    end
    for i = 1, units % size do token = functions[i](token) end
    self.token = token
end

function Calls:run_each(units, histogram)
    local functions, token = self.functions, self.token
    for _ = 1, units do
        local begin = now()
        token = functions[1](token)
        histogram:arrive(now() - begin)
    end
    self.token = token
end

function Calls:reset() self.token = 0 end

function Calls:claim(fields)
    fields.token = self.token
    return true
end

local function set_up() return setmetatable({ functions = { add_one, add_one }, token = 0 }, Calls) end

return {
    described = {
        id = own.call,
        experiments = { "switch" },
        timings = { "batch", "each" },
        parameters = wire.EMPTY,
        available = true,
    },
    experiments = { switch = { batches, set_up } },
    parameters = {},
}
