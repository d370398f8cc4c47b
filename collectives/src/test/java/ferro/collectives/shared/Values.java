package ferro.collectives.shared;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What an element is made of: the operand of a rank, or two values combined; equal values have equal numbers. */
final class Values {
    private static final int OPERAND = 1 << 31;

    private final Map<Long, Integer> numbers = new HashMap<>();
    private long[] keys = new long[1024];

    /** Returns an element of a rank's operand. */
    int operand(int operation, int rank, int element) {
        return number((long) (OPERAND | operation << 8 | rank) << 32 | element);
    }

    /** Returns two values combined, in either order. */
    int combined(int first, int second) {
        return number((long) Math.min(first, second) << 32 | Math.max(first, second));
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
        if (key < 0) {
            into.add(value);
        } else {
            operands((int) (key >> 32), into);
            operands((int) key, into);
        }
    }

    String text(int value) {
        if (value < 0) {
            return "nothing";
        }
        long key = keys[value];
        int high = (int) (key >> 32);
        return key >= 0
                ? "(" + text(high) + " + " + text((int) key) + ")"
                : "operation " + ((high & ~OPERAND) >> 8) + " rank " + (high & 255) + " element " + (int) key;
    }
}
