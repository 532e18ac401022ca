-- The Lua probe of switchcost; PROTOCOL.md says how it is spoken to.
package.path, package.cpath = "./?.lua", "./lib/?.so"
local main = require("kit.main")
main(require("mechanisms.list"))
