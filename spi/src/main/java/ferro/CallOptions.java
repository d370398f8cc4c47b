package ferro;

import java.time.Duration;
import java.util.Objects;

/**
 * The options of a call: its time limit and its label. A view of a group creates its options once and passes these
 * options with every call, so a label needs no allocation per call.
 *
 * <p>A label identifies a call of the program, for example by the parameter whose gradient is reduced. Every message
 * about the call contains the label. The fingerprint of a collective contains the label too. If ranks give different
 * labels to the same collective, the group fails with MISMATCH.
 */
public final class CallOptions {
    private static final int LABEL_MOST = 128;

    private final Duration timeout;
    private final String label;

    private CallOptions(Duration timeout, String label) {
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(label, "label");
        if (!label.isEmpty()) {
            check(label);
        }
        this.timeout = timeout;
        this.label = label;
    }

    /**
     * Returns the options of a call that may have a label.
     *
     * @param timeout time limit from the call to its end; more than a century means no timeout, zero or less means a
     *     limit that has already expired
     * @param label 1 to 128 characters, not blank, without quotation marks, control characters or format characters;
     *     empty for no label
     * @return options
     * @throws IllegalArgumentException if the label is blank, has more than 128 characters, or contains a forbidden
     *     character
     */
    public static CallOptions of(Duration timeout, String label) {
        return new CallOptions(timeout, label);
    }

    /**
     * {@return the time limit from the call to its end; more than a century means no timeout, zero or less means a
     * limit that has already expired}
     */
    public Duration timeout() {
        return timeout;
    }

    /** {@return the label; empty for no label} */
    public String label() {
        return label;
    }

    /**
     * Returns the options of a call without a label.
     *
     * @param timeout time limit from the call to its end
     * @return options
     */
    public static CallOptions of(Duration timeout) {
        return new CallOptions(timeout, "");
    }

    /**
     * Returns these options with another time limit.
     *
     * @param timeout time limit from the call to its end
     * @return options with the same label
     */
    public CallOptions within(Duration timeout) {
        return new CallOptions(timeout, label);
    }

    /**
     * Returns these options with another label.
     *
     * @param label 1 to 128 characters
     * @return options with the same time limit
     * @throws IllegalArgumentException if the label is empty or blank, has more than 128 characters, or contains a
     *     forbidden character
     */
    public CallOptions labelled(String label) {
        if (Objects.requireNonNull(label, "label").isEmpty()) {
            throw new IllegalArgumentException("need a label of 1 to " + LABEL_MOST
                    + " characters, found \"\": for a call without a label, do not use labelled()");
        }
        return new CallOptions(timeout, label);
    }

    /**
     * Returns the name of a call for messages.
     *
     * @param operation for example {@code allReduce}
     * @return the operation, followed by the label in quotation marks if these options have a label
     */
    public String named(String operation) {
        return named(operation, label);
    }

    /**
     * Returns the name of a call for messages.
     *
     * @param operation for example {@code allReduce}
     * @param label     label; empty for no label
     * @return the operation, followed by the label in quotation marks if the label is not empty
     */
    public static String named(String operation, String label) {
        Objects.requireNonNull(operation, "operation");
        return Objects.requireNonNull(label, "label").isEmpty() ? operation : operation + " \"" + label + '"';
    }

    private static void check(String label) {
        if (label.length() > LABEL_MOST) {
            throw new IllegalArgumentException("a label has 1 to " + LABEL_MOST + " characters, found " + label.length()
                    + " that begin with \"" + label.substring(0, 40).replaceAll("\\p{C}", "?") + '"');
        }
        if (label.isBlank()) {
            throw new IllegalArgumentException("a label must not be blank, found " + label.length() + " characters");
        }
        for (int at = 0; at < label.length(); at += Character.charCount(label.codePointAt(at))) {
            int character = label.codePointAt(at);
            // a quotation mark would end the label
            if (character == '"' || !isPlain(character)) {
                throw new IllegalArgumentException(
                        String.format("a label must not contain U+%04X, found as character %d", character, at + 1));
            }
        }
    }

    /** Returns whether a character neither moves nor hides other text of a line, and can be sent. */
    static boolean isPlain(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    @Override
    public String toString() {
        return "CallOptions[timeout=" + timeout + ", label=" + label + "]";
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CallOptions that && timeout.equals(that.timeout) && label.equals(that.label);
    }

    @Override
    public int hashCode() {
        return Objects.hash(timeout, label);
    }
}
