-- The kit, beside what `switchcost check-probe` asks of the whole probe: lua test/kit.lua FOLDER-OF-THE-MODULE
package.path, package.cpath = "./?.lua", arg[1] .. "/?.so"
local histogram = require("kit.histogram")
local list = require("mechanisms.list")
local machine = require("machine")
local own = require("own")
local plan = require("kit.plan")
local wire = require("kit.wire")

local function equal(got, wanted, what)
    if got ~= wanted then error(("%s: %s where %s belongs"):format(what, got, wanted), 2) end
end

-- What a writer writes.
local function written(send)
    local path = os.tmpname()
    local writer = wire.writer(1)
    writer.file = assert(io.open(path, "w"))
    send(writer)
    writer.file:close()
    local lines = {}
    for line in io.lines(path) do table.insert(lines, line) end
    os.remove(path)
    return lines
end

local tests = {}

function tests.messages_are_json_of_ascii()
    local lines = written(function(writer)
        writer:send("note", { text = 'a"\\\n\u{e9}', none = wire.NULL, list = { 1, -2 }, empty = wire.EMPTY, map = {} })
    end)
    local text = [["a\u0022\u005c\u000a\u00c3\u00a9"]]
    equal(lines[1], '{"empty":[],"list":[1,-2],"map":{},"none":null,"t":"note","text":' .. text .. "}", "a note")
end

function tests.no_line_is_too_long()
    local largest = {}
    for i = 1, 2500 do largest[i] = -9007199254740991 end
    local lines = written(function(writer)
        local lists = { ticks = largest, ["rulers.chain"] = largest, ["rulers.width"] = largest }
        writer:send_parts("samples", { rulers = {} }, lists, 1, 2500)
    end)
    equal(#lines, 3, "lines")
    for i, line in ipairs(lines) do
        assert(#line < 65536, #line)
        assert(line:find('"seq":' .. i - 1 .. ","), "gapless numbers")
    end
end

-- Lower edge and width of the bucket that holds a value, as the messages say.
local function bucket_of(value)
    local one = histogram("measure")
    one:arrive(value)
    local line = written(function(writer) one:send(writer) end)[1]
    return tonumber(line:match('"buckets":%[%[(%d+),1%]%]'))
end

function tests.buckets_are_narrow_and_hold_what_they_say()
    for _, value in ipairs({ 0, 1, 127, 128, 255, 256, 257, 511, 1000, 4097, 1099511627776, 4503599627382841 }) do
        local edge = bucket_of(value)
        assert(edge <= value and value - edge <= value / 128, ("%d lies in the bucket from %d"):format(value, edge))
        if value < 256 then equal(edge, value, "a small value") end
    end
end

-- The words of a plan that can be carried out, with some changed; an empty one is left out.
local function words(changed)
    local given = {
        protocol = "1", mechanism = own.coroutine, experiment = "switch", contexts = "2", timing = "batch",
        cpus = "0,3", batch_units = "0", batch_ns = "1000", batches = "3", warmup_batches = "2", verify_units = "4",
        seed = "9223372036854775807", heap_offset = "drawn",
    }
    for key, value in pairs(changed) do given[key] = value ~= "" and value or nil end
    local all = { "run" }
    for key, value in pairs(given) do table.insert(all, key .. "=" .. value) end
    return all
end

function tests.a_plan_is_taken_whole()
    local asked = plan.parse(words({ report_fd = "7" }), list)
    equal(asked.seed, tonumber("9223372036854775807"), "the seed")
    equal(table.concat(asked.echo.cpus, " "), "0 3", "CPUs")
    equal(asked.all, 5, "batches")
    equal(plan.report_fd({ "run", "report_fd=7" }), "7", "the descriptor")
    equal(plan.report_fd({ "run", "x_report_fd=7" }), 1, "the descriptor")
end

function tests.typing_errors_are_refused()
    for code, cases in pairs({
        bad_value = { { batches = "" }, { batches = "1e3" }, { seed = "9223372036854775808" }, { cpus = "0,,1" },
            { cpus = "," }, { timing = "never" }, { heap_offset = "none" }, { protocol = "2" }, { contexts = "-1" } },
        unknown_key = { { batchs = "3" } },
        unknown_mechanism = { { mechanism = "coroutine/none" } },
    }) do
        for _, changed in ipairs(cases) do
            local fine, why = pcall(plan.parse, words(changed), list)
            assert(not fine, next(changed))
            equal(why.code, code, next(changed))
        end
    end
end

-- A ring of three, after some laps and a reset.
local function ring()
    local asked = { seed = 1, echo = { contexts = 3, parameters = { heap_offset = "drawn" } } }
    local workload = list[own.coroutine].experiments.switch[2](asked)
    workload:run(6)
    workload:reset()
    return workload
end

function tests.every_context_counts_its_turns()
    local workload, fields = ring(), { counts = {} }
    workload:run(9)
    assert(workload:claim(fields), "the ring is broken")
    local due = { total = 9, min = 3, max = 3, contexts = 3 }
    for field, wanted in pairs(due) do equal(fields.turns[field], wanted, field) end
    equal(fields.token, 9, "the token")
    equal(fields.counts.distinct_frames, 3, "frames")
end

function tests.a_wrong_token_is_noticed()
    local workload = ring()
    workload.contexts[2](7)
    assert(not workload:claim({ counts = {} }), "nobody noticed")
end

function tests.hops_are_in_order()
    local workload, trace, fields = ring(), require("kit.evidence").trace(6), {}
    workload:run(3)
    workload:verify(trace)
    trace:judge(3, fields)
    equal(fields.hops.in_order, 6, "hops in order")
    trace.who[3] = 1
    trace:judge(3, fields)
    equal(fields.hops.in_order, 4, "hops in order")
end

function tests.the_clock_goes_on()
    local begin = machine.now()
    local chain, width = machine.rulers()
    assert(chain > 0 and width > 0 and machine.now() - begin >= chain + width)
end

function tests.mechanisms_are_sorted()
    for i = 2, #list do assert(list[i - 1].described.id < list[i].described.id, list[i].described.id) end
end

local names = {}
for name in pairs(tests) do table.insert(names, name) end
table.sort(names)
for _, name in ipairs(names) do
    tests[name]()
    print("ok " .. name)
end
