-- The whole quotient of two numbers without a fraction. Lua 5.4 has an operator for it, which LuaJIT cannot read: there
-- every number is a double, which holds integers up to 2^53.
return load("local a, b = ... return a // b") or function(a, b) return (a - a % b) / b end
