# A mistake, for a test: contexts that are objects, called by the driver, and no generators. The evidence is the kit's.
class _Turn:
    def __init__(self, ring, index):
        self.ring, self.index, self.lap = ring, index, 1

    def __next__(self):
        pass

    def send(self, token):
        if token == self.lap - (self.index == 0):
            self.lap += 1
            return self.lap - 1
        token = self.ring.obey(self.index, self.lap - 1, token)
        self.lap = 1
        return token


class _Ring(_Ring):  # noqa: F821 — that of the module to which this is appended
    def begin(self, generators):
        super().begin([_Turn(self, i) for i in range(len(generators))])
