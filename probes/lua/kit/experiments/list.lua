-- Of contexts that a driver resumes: names of the experiments, and what carries each out with what that needs.
local batches = require("kit.experiments.batches")
local footprint = require("kit.experiments.footprint")

return {
    names = { "switch", "create", "footprint" },
    ways = function(ring, creation, hold)
        return { switch = { batches, ring }, create = { batches, creation }, footprint = { footprint, hold } }
    end,
}
