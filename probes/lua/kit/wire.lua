-- The messages of PROTOCOL.md, section 2: one JSON object per line, ASCII, integers only.
local wire = {}

-- A line stays below 65,536 bytes even if every number of it, in three lists, had 20 digits.
local ENTRIES_PER_LINE = 1000

-- What Lua's tables cannot say: null, since a field that is nil is absent, and a list of nothing.
wire.NULL, wire.EMPTY = {}, {}

-- Raises what becomes the `end` message. refused: the plan is bad. unsupported: this machine cannot carry it out.
-- failed: something broke.
function wire.stop(status, code, detail, ...)
    error({ status = status, code = code, detail = detail:format(...), errno = wire.NULL, samples = 0 }, 0)
end

local function escaped(character) return ("\\u%04x"):format(character:byte()) end

local function encode(value)
    if value == wire.NULL then return "null" end
    if value == wire.EMPTY then return "[]" end
    if type(value) == "string" then return '"' .. value:gsub('[%c"\\\x7f-\xff]', escaped) .. '"' end
    if type(value) == "number" then return ("%d"):format(value) end
    if type(value) ~= "table" then return tostring(value) end
    local parts = {}
    if #value > 0 then
        for i, part in ipairs(value) do parts[i] = encode(part) end
        return "[" .. table.concat(parts, ",") .. "]"
    end
    for key, part in pairs(value) do table.insert(parts, encode(key) .. ":" .. encode(part)) end
    table.sort(parts)
    return "{" .. table.concat(parts, ",") .. "}"
end

local Writer = {}
Writer.__index = Writer

-- Lua writes to files only. A descriptor has a name, and what is opened by that is the same pipe.
function wire.writer(descriptor)
    local file = assert(io.open("/dev/fd/" .. descriptor, "a"))
    file:setvbuf("no")
    return setmetatable({ file = file, seq = 0 }, Writer)
end

-- A host that no longer listens is the end of the run: nothing could be reported about it.
function Writer:send(kind, fields)
    fields.t = kind
    if not self.file:write(encode(fields), "\n") then os.exit(false) end
end

-- Sends as many messages as the entries from `first` to `last` of some lists take, each with these fields. A list whose
-- name has a dot lies within a field.
function Writer:send_parts(kind, fields, lists, first, last)
    for begin = first, last, ENTRIES_PER_LINE do
        for name, values in pairs(lists) do
            local outer, inner = name:match("^(%a+)%.?(%a*)$")
            local part = table.move(values, begin, math.min(begin + ENTRIES_PER_LINE - 1, last), 1, {})
            if inner == "" then fields[outer] = part else fields[outer][inner] = part end
        end
        fields.seq, self.seq = self.seq, self.seq + 1
        self:send(kind, fields)
    end
end

return wire
