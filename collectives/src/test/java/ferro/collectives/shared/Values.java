package ferro.collectives.shared;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What an element is made of: the operand of a rank, or two values combined; equal values have equal numbers. */
final class Values {
    private static final int OPERAND = 1 << 31;
    /** In the key of a value that is complete; numbers of values are smaller. */
    private static final long COMPLETE = 1L << 62;

    /** In the key of an operand that was multiplied where it was first read. */
    private static final long MULTIPLIED = 1L << 61;

    private final Map<Long, Integer> numbers = new HashMap<>();
    private long[] keys = new long[1024];

    /** Returns an element of a rank's operand. */
    int operand(int operation, int rank, int element) {
        return number((long) (OPERAND | operation << 8 | rank) << 32 | element);
    }

    /** Returns two values combined, in either order; refuses those that nothing may be combined with. */
    int combined(int first, int second) {
        if (first < 0 || second < 0) {
            throw new ProgramProof.Refuted("combines what was never written");
        }
        if (isComplete(first) || isComplete(second)) {
            throw new ProgramProof.Refuted("combines what is complete");
        }
        return number((long) Math.min(first, second) << 32 | Math.max(first, second));
    }

    /** Returns a value that a combine has completed, as an average divides it. */
    int completed(int value) {
        return number(COMPLETE | value);
    }

    boolean isComplete(int value) {
        return is(COMPLETE, value);
    }

    /** Returns an operand multiplied, as a sum of multiplied inputs needs it; refuses one that is. */
    int multiplied(int operand) {
        if (isMultiplied(operand)) {
            throw new ProgramProof.Refuted("multiplies an operand twice");
        }
        return number(MULTIPLIED | operand);
    }

    boolean isMultiplied(int value) {
        return is(MULTIPLIED, value);
    }

    private boolean is(long mark, int value) {
        return value >= 0 && keys[value] > 0 && (keys[value] & mark) != 0;
    }

    private int number(long key) {
        Integer known = numbers.get(key);
        if (known != null) {
            return known;
        }
        int number = numbers.size();
        if (number == keys.length) {
            keys = Arrays.copyOf(keys, 2 * number);
        }
        keys[number] = key;
        numbers.put(key, number);
        return number;
    }

    /** Adds the operands that a value is made of, each as often as it counts. */
    void operands(int value, List<Integer> into) {
        long key = keys[value];
        if (key < 0 || isMultiplied(value)) {
            into.add(value);
        } else if (isComplete(value)) {
            operands((int) key, into);
        } else {
            operands((int) (key >> 32), into);
            operands((int) key, into);
        }
    }

    /** Returns a text that is equal for values made alike of the operands of the same ranks, in whichever operation. */
    String expression(int value) {
        long key = keys[value];
        if (key < 0) {
            return (key >> 32 & 255) + "[" + (int) key + "]";
        }
        if (isComplete(value) || isMultiplied(value)) {
            return expression((int) key);
        }
        String one = expression((int) (key >> 32));
        String other = expression((int) key);
        return one.compareTo(other) < 0 ? "(" + one + "+" + other + ")" : "(" + other + "+" + one + ")";
    }

    String text(int value) {
        if (value < 0) {
            return "nothing";
        }
        long key = keys[value];
        if (isComplete(value)) {
            return text((int) key) + " complete";
        }
        if (isMultiplied(value)) {
            return "factor x " + text((int) key);
        }
        int high = (int) (key >> 32);
        return key >= 0
                ? "(" + text(high) + " + " + text((int) key) + ")"
                : "operation " + ((high & ~OPERAND) >> 8) + " rank " + (high & 255) + " element " + (int) key;
    }
}
