-- Measures coroutine/@name@. Put your library's calls into the three functions; the kit does the rest.

-- A link to the installed kit. In another checkout: ln -sfn "$(switchcost new-probe --kit lua)" kit
package.path = "./kit/?.lua;./?.lua;" .. package.path
local own_probe = require("kit.own_probe")

-- What a context does: it suspends, takes the token that comes, and hands it on.
local function live(ring, index)
    local lap, due = ring.lap, index
    local token = coroutine.yield()
    while true do
        if token == due then
            due = due + lap
            token = coroutine.yield(token + 1)
        else
            token, due = ring:obey(index, due, token)
            token = coroutine.yield(token)
        end
    end
end

-- Makes a context that is suspended. Gives what resumes it: it takes a token and gives the one handed on.
local function make(ring, index)
    local context = coroutine.wrap(live)
    context(ring, index)
    return context
end

-- Makes a context, enters it once with the token, lets it end. Gives the token plus one.
local function make_and_end(token)
    return coroutine.wrap(function(entered) return entered + 1 end)(token)
end

own_probe("@name@", "coroutine/@name@", make, make_and_end)
