-- The whole of a probe with these mechanisms, by number and by id; does not return.
local own = require("own")

-- The host shows the last line of a probe that says nothing else. By 127 it knows that a package may help.
local function give_up(why)
    io.stderr:write(why, "\n")
    os.exit(127)
end

-- Before any file that an older Lua cannot read.
if own.lacks then give_up(own.lacks) end
if not package.searchpath("machine", package.cpath) then give_up("there is no lib/machine.so; run `make build`") end
local hello = require("kit.hello")
local plan = require("kit.plan")
local wire = require("kit.wire")

local function carry_out(writer, mechanisms)
    if arg[1] == "run" then
        local asked = plan.parse(arg, mechanisms)
        return asked.experiment[1](writer, asked, asked.experiment[2])
    end
    if arg[1] ~= "describe" then wire.stop("refused", "bad_value", "the first word must be `describe` or `run`") end
    plan.check_rest(plan.split(arg), "`describe`; only report_fd is")
    for _, mechanism in ipairs(mechanisms) do writer:send("mechanism", mechanism.described) end
    writer:send("end", { status = "ok", samples = 0 })
end

return function(mechanisms)
    local writer = wire.writer(plan.report_fd(arg))
    writer:send("hello", hello("1"))
    local fine, why = pcall(carry_out, writer, mechanisms)
    if type(why) == "string" and why:find("not enough memory", 1, true) then
        why = "the interpreter has no more memory; ask for fewer"
        fine, why = pcall(wire.stop, "unsupported", "limit_reached", why)
    end
    if type(why) == "string" then error(why, 0) end
    if not fine then writer:send("end", why) end
    -- At once: taking a million contexts down in order would last longer than the host waits.
    os.exit(fine or why.status == "unsupported")
end
