// What the fake probe can do; shared with the tests that install it.
&["honest", "spread", "liar", "no-turns", "few-turns", "blind", "wrong-cpu", "other-plan", "impossible", "hang", "hang-family", "escape", "crash", "garbage", "flood", "short", "cut", "mute", "unsupported", "refused", "failed", "noise", "exit-one", "warm-up", "spin", "sized", "touch", "preempts"]
