"""What threads and greenlets share: contexts that block until they are handed a token, by calls of a function to `put` it into
the next one's place and to `get` it out of one's own."""

from kit.clock import now
from kit.ring import RESET, CountedRing, Creation


class BlockingRing(CountedRing):
    """`media` are the two functions of each context; `spawn` runs a function in a context of its own, with its number."""

    def __init__(self, plan, media, spawn):
        super().__init__(plan.contexts)
        self.puts, self.gets = zip(*media)
        body = self.each if plan.timing == "each" else self.member
        for i in range(1, plan.contexts):
            spawn(body, i)
        # All have begun, wherever the plan wants them, when this is back.
        self.pass_round(RESET)

    def member(self, index):
        get, put, lap = self.gets[index], self.puts[(index + 1) % self.lap], self.lap
        due = index
        while True:
            token = get()
            if token == due:
                due += lap
                token += 1
            else:
                token, due = self.answer(index, due, token)
            put(token)

    def each(self, index):
        get, put, lap = self.gets[index], self.puts[(index + 1) % self.lap], self.lap
        due = index
        while True:
            token = get()
            arrived = now()
            if token == due:
                self.histogram.arrive(arrived - self.stamp)
                due += lap
                token += 1
            else:
                token, due = self.answer(index, due, token)
            self.stamp = now()
            put(token)

    def pass_round(self, token):
        self.puts[1](token)
        return self.gets[0]()

    async def round(self, token):
        return self.pass_round(token)

    async def run(self, units):
        get, put, before = self.gets[0], self.puts[1], self.lap - 1
        for token in self.tokens(units):
            put(token - before)
            if get() != token:
                self.broken = True

    async def run_each(self, units, histogram):
        self.histogram = histogram
        get, put, before = self.gets[0], self.puts[1], self.lap - 1
        for token in self.tokens(units):
            self.stamp = now()
            put(token - before)
            came = get()
            histogram.arrive(now() - self.stamp)
            if came != token:
                self.broken = True


class JoinedCreation(Creation):
    """`live` makes a context that runs a function, and waits for its end."""

    def __init__(self, live):
        self.live = live

    def body(self):
        self.entered += 1

    async def run(self, units):
        live, body = self.live, self.body
        for _ in range(units):
            live(body)

    async def run_each(self, units, histogram):
        live, body = self.live, self.body
        for _ in range(units):
            begin = now()
            live(body)
            histogram.arrive(now() - begin)
