-- What differs between the interpreters that have this kit. The other is probes/luajit.
return {
    probe = "lua",
    lacks = _VERSION ~= "Lua 5.4" and "needs Lua 5.4, and `lua` is " .. _VERSION .. "; put Lua 5.4 first in PATH",
    -- Lua itself says only _VERSION; the headers are of the same package.
    runtime = function(machine) return "PUC-Rio " .. machine.release end,
    call = "control/lua-call",
    coroutine = "coroutine/lua",
}
