# Of contexts that a driver resumes: the experiments, with what carries each out and what that needs.
require "kit/experiments/batches"
require "kit/experiments/footprint"

def experiments(ring, creation, hold)
  { "switch" => [Batches, ring], "create" => [Batches, creation], "footprint" => [Footprint, hold] }
end
