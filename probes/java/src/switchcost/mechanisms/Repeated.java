package switchcost.mechanisms;

import switchcost.kit.Histogram;
import switchcost.kit.Workload;

/** A workload whose units are whole acts of the driver, one after another. */
abstract class Repeated implements Workload {

    /** One unit. */
    abstract void act();

    @Override
    public long lap() {
        return 1;
    }

    @Override
    public void run(long units) {
        for (; units > 0; units--) {
            act();
        }
    }

    @Override
    public void runEach(long units, Histogram histogram) {
        for (; units > 0; units--) {
            long begin = System.nanoTime();
            act();
            histogram.arrive(begin);
        }
    }
}
