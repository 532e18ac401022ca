package switchcost.kit;

/** Kernel switches, of one thread or of several. */
record Switches(long voluntary, long involuntary) {
    static final Switches NONE = new Switches(0, 0);

    Switches plus(Switches other) {
        return new Switches(voluntary + other.voluntary, involuntary + other.involuntary);
    }

    Switches minus(Switches other) {
        return new Switches(voluntary - other.voluntary, involuntary - other.involuntary);
    }

    Message message(int tasks, String source) {
        return new Message()
            .put("voluntary", voluntary)
            .put("involuntary", involuntary)
            .put("tasks", tasks)
            .put("source", source);
    }
}
