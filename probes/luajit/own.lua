-- What probes/lua, whose kit this is, asks of each interpreter.
local is = jit and jit.version or _VERSION

return {
    probe = "luajit",
    lacks = not (jit and jit.version_num >= 20100) and "needs LuaJIT 2.1, and `luajit` is " .. is,
    runtime = function() return is .. (jit.status() and ", compiler on" or ", compiler off") end,
    call = "control/luajit-call",
    coroutine = "coroutine/luajit",
}
