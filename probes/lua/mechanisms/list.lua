-- One file per mechanism, by its name. Sorted; a test checks it.
local NAMES = {
    "control_lua_call",
    "coroutine_lua",
}

-- By number and by id.
local list = {}
for i, name in ipairs(NAMES) do
    list[i] = require("mechanisms." .. name)
    list[list[i].described.id] = list[i]
end
return list
