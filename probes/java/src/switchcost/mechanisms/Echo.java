package switchcost.mechanisms;

import java.util.Arrays;
import switchcost.kit.Histogram;
import switchcost.kit.Trace;
import switchcost.kit.Turns;
import switchcost.kit.Workload;

/**
 * A payload to the partner and back. To hand a reference over would cost the same for every size; a message is a
 * payload that the receiver owns afterwards, so each side copies what it is handed into its own array.
 */
abstract class Echo implements Workload {

    final byte[] sent;
    final byte[] own; // The partner's.
    private final byte[] returned;
    long answered; // Turns of the partner.
    private long came; // Turns of the driver.
    private byte mark;
    boolean broken;

    Echo(int size) {
        sent = filled(size, 1);
        own = filled(size, 2);
        returned = filled(size, 3);
    }

    private static byte[] filled(int size, int value) {
        byte[] array = new byte[size];
        Arrays.fill(array, (byte) value); // Touches the pages.
        return array;
    }

    /** Hands `sent` to the partner and waits until it has handed `own` back. */
    abstract void trip();

    /** What the partner does with a message. */
    final void answer() {
        System.arraycopy(sent, 0, own, 0, sent.length);
        answered++;
    }

    private void exchange() {
        mark++;
        sent[0] = mark;
        sent[sent.length - 1] = mark;
        trip();
        System.arraycopy(own, 0, returned, 0, returned.length);
        if (returned[0] != mark || returned[returned.length - 1] != mark) {
            broken = true;
        }
        came++;
    }

    @Override
    public long lap() {
        return 1;
    }

    @Override
    public void run(long units) {
        for (; units > 0; units--) {
            exchange();
        }
    }

    @Override
    public void runEach(long units, Histogram histogram) {
        for (; units > 0; units--) {
            long begin = System.nanoTime();
            exchange();
            histogram.arrive(begin);
        }
    }

    @Override
    public void reset() {
        answered = 0;
        came = 0;
    }

    /** The unit is a round trip, which is a turn of the partner and one of the driver. */
    @Override
    public Turns turns() {
        return new Turns().count(came).count(answered);
    }

    @Override
    public long token() {
        return came + answered;
    }

    @Override
    public boolean broken() {
        return broken;
    }

    @Override
    public boolean verify(long units, Trace trace) {
        return false;
    }
}
