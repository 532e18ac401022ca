-- Experiment footprint: memory of live, suspended contexts, by the kernel's figures. Nothing is timed: ticks are bytes.
-- hold(contexts) makes so many, lets each run once and suspend, and gives what keeps them and how many ran.
local evidence = require("kit.evidence")
local memory = require("kit.memory")
local wire = require("kit.wire")

local QUANTITIES = { "resident_bytes", "virtual_bytes", "kernel_bytes" }

-- So many at most are made first and kept: the pages of code are there then, and what start-up left free is used up.
local REHEARSED = 1000

return function(writer, asked, hold)
    local contexts, entered, gains = asked.echo.contexts, 0, { {}, {}, {} }
    memory.used()
    asked.echo.batch_units = contexts
    writer:send("plan", asked.echo)
    -- Contexts of earlier cycles stay alive, so that none is made of what another left.
    local alive, ran = { [0] = hold(math.min(contexts, REHEARSED)) }, nil
    for cycle = 1, asked.all do
        local before = memory.used()
        alive[cycle], ran = hold(contexts)
        for i, bytes in ipairs(memory.used()) do gains[i][cycle] = bytes - before[i] end
        entered = entered + ran
    end
    local fields = { units = asked.all * contexts, token = wire.NULL, kernel = wire.NULL }
    if entered ~= fields.units then wire.stop("failed", "self_check_failed", "only %d contexts ran", entered) end
    for _, phase in ipairs(asked.phases) do
        for i, quantity in ipairs(QUANTITIES) do
            local message = { phase = phase[1], units = contexts, quantity = quantity }
            writer:send_parts("samples", message, { ticks = gains[i] }, phase[2], phase[3])
        end
    end
    writer:send("note", { text = "kernel_bytes is the change of this process's page tables (VmPTE)" })
    evidence.count(fields, entered, 1)
    fields.why = { token = "no token is passed in this experiment" }
    writer:send("evidence", fields)
    writer:send("end", { status = "ok", samples = asked.all * #QUANTITIES })
end
