package switchcost.kit;

import java.util.SplittableRandom;

/**
 * Where contexts lie inside their pages: behind a block of drawn size, since the first free place of a young generation that
 * has just been collected is the same in every start. The seed is another in every start.
 */
public final class HeapOffset {

    public static final Parameter PARAMETER = Parameter.words("heap_offset", "drawn", "fixed");

    private static final int PAGE = 4096;
    private static final int STEP = 8; // Objects begin at multiples of it.

    // As long as the process lives. Two, as each thread of the kernel takes from a piece of its own: what the maker of the contexts
    // makes is behind one, what they make themselves behind the other.
    private static volatile byte[] makers;
    private static volatile byte[] contexts;

    private HeapOffset() {}

    /** Takes the blocks and returns their bytes. None where the plan says so. */
    static int take(Plan plan) {
        if (!"drawn".equals(plan.parameters().get(PARAMETER.name()))) {
            return 0;
        }
        int bytes = STEP * (1 + new SplittableRandom(plan.seed()).nextInt(PAGE / STEP));
        makers = new byte[bytes];
        Thread thread = plan
            .mechanism()
            .threads()
            .newThread(() -> contexts = new byte[bytes]);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
        return makers.length;
    }
}
