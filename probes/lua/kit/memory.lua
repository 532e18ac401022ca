-- Memory, as the kernel tells it.
local wire = require("kit.wire")

local memory = {}

-- Bytes, as a file of the kernel says behind a name; nil if it does not.
local function read(path, name)
    local file = io.open(path)
    local found = file and ("\n" .. file:read("*a")):match("\n" .. name .. ":%s*(%d+) kB")
    if file then file:close() end
    return found and tonumber(found) * 1024
end

-- Resident, mapped and page tables of this process, once what can be freed is freed. Resident is a walk of the page
-- tables; statm is only approximate.
function memory.used()
    collectgarbage()
    local resident = read("/proc/self/smaps_rollup", "Rss")
    if not resident then wire.stop("unsupported", "unsupported_here", "there is no /proc/self/smaps_rollup") end
    return { resident, read("/proc/self/status", "VmSize"), read("/proc/self/status", "VmPTE") }
end

-- Raises the answer to contexts for which there is no room.
function memory.check(contexts, bytes_each)
    local needed, available = contexts * bytes_each, read("/proc/meminfo", "MemAvailable")
    if available and needed > available then
        local detail = "%d contexts need about %.0f MB and %.0f MB are available; ask for fewer"
        wire.stop("unsupported", "limit_reached", detail, contexts, needed / 2 ^ 20, available / 2 ^ 20)
    end
end

return memory
