# The Ruby probe of switchcost; PROTOCOL.md says how it is spoken to.
$LOAD_PATH.unshift __dir__
require "kit/oldest"
require "kit/main"
require "mechanisms/list"

Probe.main("ruby", "1", MECHANISMS)
