package switchcost.kit;

import java.util.List;
import java.util.Map;

/** One JSON object of PROTOCOL.md, written field by field: ASCII, integers only. */
public final class Message {

    private final StringBuilder text = new StringBuilder("{");

    public static Message of(String kind) {
        return new Message().put("t", kind);
    }

    /** Text, integer, truth, null, list, map or another message. */
    public Message put(String name, Object value) {
        if (text.length() > 1) {
            text.append(',');
        }
        quote(name);
        text.append(':');
        write(value);
        return this;
    }

    /** One line, without its end. */
    public String line() {
        return text + "}";
    }

    private void write(Object value) {
        if (value == null || value instanceof Long || value instanceof Integer || value instanceof Boolean) {
            text.append(value);
        } else if (value instanceof Message message) {
            text.append(message.line());
        } else if (value instanceof List<?> list) {
            text.append('[');
            for (int i = 0; i < list.size(); i++) {
                text.append(i == 0 ? "" : ",");
                write(list.get(i));
            }
            text.append(']');
        } else if (value instanceof Map<?, ?> map) {
            Message inner = new Message();
            map.forEach((key, entry) -> inner.put(key.toString(), entry));
            text.append(inner.line());
        } else {
            quote(value.toString());
        }
    }

    private void quote(String value) {
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < 0x20 || c > 0x7e) {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }
}
