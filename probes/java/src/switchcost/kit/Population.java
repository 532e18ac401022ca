package switchcost.kit;

/** Threads of experiment footprint: they have run once and are suspended, and stay so unless they are released. */
public interface Population {
    /** How many of them ran. */
    long ran();

    /** Lets them end and waits for that. */
    void release();
}
