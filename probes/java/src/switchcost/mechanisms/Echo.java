package switchcost.mechanisms;

import java.util.Arrays;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;
import switchcost.kit.Histogram;
import switchcost.kit.Turns;

/**
 * A payload to the partner and back. To hand a reference over would cost the same for every size; a message is a
 * payload that the receiver owns afterwards, so each side copies what it is sent into its own array. What is handed
 * over is the number of the message.
 */
final class Echo extends Repeated {

    private static final long STOP = -1;

    private final Context driver;
    private final Context partner;
    private final byte[] sent;
    private final byte[] own; // The partner's.
    private final byte[] returned;
    private long messages;
    private byte mark;
    private boolean broken;

    Echo(ThreadFactory threads, Supplier<Context> kind, int size) {
        driver = kind.get();
        partner = kind.get();
        sent = filled(size, 1);
        own = filled(size, 2);
        returned = filled(size, 3);
        partner.thread = threads.newThread(this::serve);
        Threads.start(partner.thread, 1, 2);
    }

    private static byte[] filled(int size, int value) {
        byte[] array = new byte[size];
        Arrays.fill(array, (byte) value); // Touches the pages.
        return array;
    }

    private void serve() {
        for (long due = 1; partner.take(due - 1) == due; due++) {
            System.arraycopy(sent, 0, own, 0, sent.length);
            partner.turns++;
            driver.put(due);
        }
    }

    @Override
    void act() {
        mark++;
        sent[0] = mark;
        sent[sent.length - 1] = mark;
        messages++;
        partner.put(messages);
        long answered = driver.take(messages - 1);
        System.arraycopy(own, 0, returned, 0, returned.length);
        if (answered != messages || returned[0] != mark || returned[returned.length - 1] != mark) {
            broken = true;
        }
        driver.turns++;
    }

    @Override
    public void run(long units) {
        driver.thread = Thread.currentThread();
        super.run(units);
    }

    @Override
    public void runEach(long units, Histogram histogram) {
        driver.thread = Thread.currentThread();
        super.runEach(units, histogram);
    }

    @Override
    public void reset() {
        driver.turns = 0;
        partner.turns = 0;
    }

    /** The unit is a round trip, which is a turn of the partner and one of the driver. */
    @Override
    public Turns turns() {
        return new Turns().count(driver.turns).count(partner.turns);
    }

    @Override
    public long token() {
        return driver.turns + partner.turns;
    }

    @Override
    public boolean broken() {
        return broken;
    }

    @Override
    public void close() {
        partner.put(STOP);
    }
}
