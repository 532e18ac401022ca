// The Node.js probe of switchcost; PROTOCOL.md says how it is spoken to.
"use strict";

require("./kit/oldest");

const { name } = require("./kit/engine");

require("./kit/main").main(name, require("./mechanisms/list").list);
