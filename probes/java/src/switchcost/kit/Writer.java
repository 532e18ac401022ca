package switchcost.kit;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Sends messages, one line each, in one system call each. */
public final class Writer {

    private static final int TICKS_A_MESSAGE = 750;
    private static final int BUCKETS_A_MESSAGE = 1400;

    private final OutputStream stream;

    Writer(OutputStream stream) {
        this.stream = stream;
    }

    /** Writes to an inherited descriptor. Java opens files only by name; to append is to keep what a redirected file holds. */
    public static Writer onDescriptor(int fd) throws IOException {
        return new Writer(
            fd == 1 ? new FileOutputStream(FileDescriptor.out) : new FileOutputStream("/dev/fd/" + fd, true)
        );
    }

    /** A host that no longer listens is the end of the run: nothing could be reported about it. */
    public void send(Message message) {
        try {
            stream.write((message.line() + "\n").getBytes(StandardCharsets.US_ASCII));
        } catch (IOException error) {
            System.err.println("cannot write a message: " + error.getMessage());
            Runtime.getRuntime().halt(1);
        }
    }

    /** Something that belongs beside the result. */
    public void note(String text) {
        send(Message.of("note").put("text", text));
    }

    /** Splits so that a line stays below 65 536 bytes even if every tick, also of three rulers, had 20 digits. Returns the next `seq`. */
    int samples(int seq, String phase, long units, long[] ticks, long[][] rulers, int from, int to) {
        for (int begin = from; begin < to; begin += TICKS_A_MESSAGE) {
            int end = Math.min(begin + TICKS_A_MESSAGE, to);
            List<Long> part = new ArrayList<>();
            for (int i = begin; i < end; i++) {
                part.add(ticks[i]);
            }
            send(
                Message.of("samples")
                    .put("seq", seq++)
                    .put("phase", phase)
                    .put("units", units)
                    .put("ticks", part)
                    .put("rulers", Ruler.slower(rulers, begin, end))
            );
        }
        return seq;
    }

    int histogram(int seq, String phase, Histogram h) {
        List<List<Long>> buckets = new ArrayList<>();
        for (int i = 0; i < h.counts.length; i++) {
            if (h.counts[i] > 0) {
                buckets.add(List.of(Histogram.lowerEdge(i), h.counts[i]));
            }
        }
        for (int begin = 0; begin < buckets.size(); begin += BUCKETS_A_MESSAGE) {
            send(
                Message.of("histogram")
                    .put("seq", seq++)
                    .put("phase", phase)
                    .put("units", h.count)
                    .put("bits", Histogram.BITS)
                    .put("buckets", buckets.subList(begin, Math.min(begin + BUCKETS_A_MESSAGE, buckets.size())))
                    .put("sum", h.sum)
                    .put("min", h.min)
                    .put("max", h.max)
                    .put("pair_sum", h.pairSum)
                    .put("pair_count", h.pairCount)
                    .put("span_counter", h.span)
                    .put("span_clock", h.span)
            );
        }
        return seq;
    }

    /** How it ended; `refusal` is null when it went well. */
    public void end(Refusal refusal, long samples) {
        Message end = Message.of("end")
            .put("status", refusal == null ? "ok" : refusal.status)
            .put("samples", samples);
        if (refusal != null) {
            end.put("code", refusal.code).put("detail", refusal.getMessage());
        }
        send(end);
    }
}
