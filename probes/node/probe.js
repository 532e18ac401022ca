// The Node.js probe of switchcost; PROTOCOL.md says how it is spoken to.
"use strict";

require("./kit/oldest");

require("./kit/main").main("node", require("./mechanisms/list").list);
