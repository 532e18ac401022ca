package switchcost.kit;

/** Why a run does not take place or came to nothing; it becomes the `end` message. */
public final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1;

    public final String status;
    public final String code;

    private Refusal(String status, String code, String detail) {
        super(detail, null, false, false);
        this.status = status;
        this.code = code;
    }

    /** The plan is bad. */
    public static Refusal refuse(String code, String format, Object... arguments) {
        return new Refusal("refused", code, String.format(format, arguments));
    }

    /** The plan is fine, but this machine or runtime cannot carry it out. */
    public static Refusal unsupported(String code, String format, Object... arguments) {
        return new Refusal("unsupported", code, String.format(format, arguments));
    }

    /** Something broke. */
    public static Refusal failed(String code, String format, Object... arguments) {
        return new Refusal("failed", code, String.format(format, arguments));
    }
}
