-- What the probe says about itself.
local machine = require("machine")
local own = require("own")
local whole = require("kit.whole")
local wire = require("kit.wire")

-- Mean of the quickest of some short rows of readings, rounded up.
local function read_cost()
    local now, quickest = machine.now, math.huge
    for _ = 1, 20 do
        local begin = now()
        for _ = 1, 99 do now() end
        quickest = math.min(quickest, now() - begin)
    end
    return whole(quickest, 100) + 1
end

return function(version)
    local clock = { name = "CLOCK_MONOTONIC", ticks_per_second = 1000000000, read_cost_ticks = read_cost() }
    local fields = { protocol = 1, probe = own.probe, version = version, pid = machine.pid }
    fields.runtime, fields.compiler, fields.flags = own.runtime(machine), wire.NULL, wire.NULL
    fields.clock, fields.counter = clock, { name = clock.name }
    return fields
end
