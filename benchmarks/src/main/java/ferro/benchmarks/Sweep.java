package ferro.benchmarks;

import ferro.DataType;
import ferro.ReduceOp;
import ferro.spi.Setting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The sweep to measure. A sweep has one collective, one type, one op and several sizes. The constructor checks the
 * values.
 *
 * @param collective collective to measure
 * @param type       type of the elements
 * @param op         reduction; has no effect if the collective does not reduce
 * @param sizes      sizes in bytes, in the order of the table
 * @param time       duration of the measurement of each size, without the warm-up
 * @param queued     number of operations that are queued before the first operation is waited for; 1 for blocking calls
 * @param shared     whether the group allocates the tensors, in place of arrays
 * @param json       whether to print one JSON object per line instead of a table
 */
public record Sweep(
        BenchOperation collective,
        DataType type,
        ReduceOp op,
        List<Long> sizes,
        Duration time,
        int queued,
        boolean shared,
        boolean json) {
    /** Default sizes that follow the size of one element. */
    private static final String DEFAULT_SIZES = "64,1KiB,16KiB,256KiB,1MiB,4MiB,16MiB,64MiB";

    private static final String DEFAULT_TIME = "250ms";
    private static final String HEAP = "heap";
    private static final String SHARED = "shared";
    /** A sum of inputs times three. Three is an integer, which integer types need, and is not a power of two. */
    private static final ReduceOp PRE_MULTIPLIED = ReduceOp.preMultipliedSum(3);

    private static final String PRE_MULTIPLIED_NAME = "premulsum";
    private static final List<ReduceOp> OPS =
            List.of(ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX, ReduceOp.AVG, PRE_MULTIPLIED);
    /** Largest number of queued operations. A group can queue more operations, but a bench uses separate tensors. */
    private static final int MOST_QUEUED = 1000;
    /** Longest Java array that every JVM can allocate. */
    private static final long MOST_ELEMENTS = Integer.MAX_VALUE - 8L;

    /** {@return the element types that can be measured, as users type them} */
    public static List<String> types() {
        return MeasuredTensor.TYPES.stream().map(DataType::label).toList();
    }

    /** {@return the operations that can be measured, as users type them} */
    public static List<String> ops() {
        return OPS.stream()
                .map(op -> op == PRE_MULTIPLIED ? PRE_MULTIPLIED_NAME : op.name())
                .toList();
    }

    /**
     * Checks the values.
     *
     * @param collective collective to measure
     * @param type       type of the elements
     * @param op         reduction
     * @param sizes      sizes in bytes; a barrier has no sizes
     * @param time       time to measure each size
     * @param queued     number of operations that are queued at once, 1 to 1000
     * @param shared     whether the group allocates the tensors
     * @param json       whether to print JSON
     * @throws IllegalArgumentException if a value is invalid; the message names the value and the allowed values
     */
    public Sweep {
        if (!MeasuredTensor.TYPES.contains(type)) {
            throw new IllegalArgumentException("--type " + type.label() + ": bench can measure " + types());
        }
        if (!OPS.contains(op)) {
            throw new IllegalArgumentException("--op " + op + ": bench can measure " + ops());
        }
        if (queued < 1 || queued > MOST_QUEUED) {
            throw new IllegalArgumentException("--queued " + queued + ": need 1 to " + MOST_QUEUED);
        }
        if (queued > 1 && (collective == BenchOperation.BARRIER || collective == BenchOperation.PINGPONG)) {
            throw new IllegalArgumentException("--queued " + queued + ": " + collective.label()
                    + " has no operation to queue, use another collective");
        }
        sizes = collective == BenchOperation.BARRIER ? List.of(0L) : List.copyOf(sizes);
        for (long size : sizes) {
            checkSize(size, type);
        }
    }

    static void checkSize(long size, DataType type) {
        if (size % type.byteSize() != 0) {
            throw new IllegalArgumentException("--sizes " + size + ": need a multiple of " + type.byteSize()
                    + " bytes, the size of one " + type.label());
        }
        if (size / type.byteSize() > MOST_ELEMENTS) {
            throw new IllegalArgumentException("--sizes " + size + ": at most " + MOST_ELEMENTS + " elements of "
                    + type.label() + " fit into one array");
        }
    }

    /**
     * Reads the words after {@code ferro bench}, without the words that are for the launcher.
     *
     * @param words a collective, then options: {@code --sizes --type --op --time --queued --memory
     *     --json}
     * @return the sweep
     * @throws IllegalArgumentException if a word is invalid; the message names the word
     */
    public static Sweep parse(List<String> words) {
        if (words.isEmpty() || words.get(0).startsWith("-")) {
            throw new IllegalArgumentException("nothing to measure: name a collective first, such as allreduce, found "
                    + (words.isEmpty() ? "no word" : words.get(0)));
        }
        BenchOperation collective = BenchOperation.parse(words.get(0));
        String sizes = null;
        String type = "f32";
        String op = "sum";
        String time = DEFAULT_TIME;
        int queued = 1;
        String memory = HEAP;
        boolean json = false;
        Iterator<String> rest = words.subList(1, words.size()).iterator();
        while (rest.hasNext()) {
            String option = rest.next();
            switch (option) {
                case "--json" -> json = true;
                case "--sizes" -> sizes = value(option, rest);
                case "--type" -> type = value(option, rest);
                case "--op" -> op = value(option, rest);
                case "--time" -> time = value(option, rest);
                case "--queued" -> queued = parseQueued(value(option, rest));
                case "--memory" -> memory = value(option, rest);
                default ->
                    throw new IllegalArgumentException("no option \"" + option
                            + "\" to bench: use --sizes, --type, --op, --time, --queued, --memory or --json");
            }
        }
        DataType elements = DataType.parse(type);
        List<Long> bytes = parseSizes("--sizes", sizes == null ? elements.byteSize() + "," + DEFAULT_SIZES : sizes);
        return new Sweep(collective, elements, op(op), bytes, parseTime(time), queued, isShared(memory), json);
    }

    private static boolean isShared(String memory) {
        if (!memory.equals(HEAP) && !memory.equals(SHARED)) {
            throw new IllegalArgumentException("--memory " + memory + ": bench can measure " + HEAP + " and " + SHARED);
        }
        return memory.equals(SHARED);
    }

    private static ReduceOp op(String name) {
        return name.equals(PRE_MULTIPLIED_NAME) ? PRE_MULTIPLIED : ReduceOp.parse(name);
    }

    /** Returns a sweep of blocking calls on f32 with SUM, of one size. The caller determines how long to measure. */
    static Sweep of(BenchOperation collective, long bytes) {
        return new Sweep(collective, DataType.FLOAT32, ReduceOp.SUM, List.of(bytes), Duration.ZERO, 1, false, false);
    }

    private static String value(String option, Iterator<String> rest) {
        if (!rest.hasNext()) {
            throw new IllegalArgumentException(option + " needs a value after it");
        }
        return rest.next();
    }

    static List<Long> parseSizes(String option, String text) {
        List<Long> sizes = new ArrayList<>();
        for (String size : text.split(",", -1)) {
            try {
                sizes.add(Setting.bytes(size.trim()));
            } catch (IllegalArgumentException | ArithmeticException unreadable) {
                throw new IllegalArgumentException(
                        option + " " + text + ": \"" + size + "\" is not a size, need for example 4,1024,64KiB",
                        unreadable);
            }
        }
        return sizes;
    }

    private static int parseQueued(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException unreadable) {
            throw new IllegalArgumentException("--queued " + text + ": need a number of operations", unreadable);
        }
    }

    private static Duration parseTime(String text) {
        try {
            return Setting.duration(text);
        } catch (IllegalArgumentException unreadable) {
            throw new IllegalArgumentException("--time " + text + ": need a time such as 250ms or 2s", unreadable);
        }
    }

    /**
     * Checks that a group of this size can run the sweep.
     *
     * @param ranks world size
     * @throws IllegalArgumentException if a ping-pong has no partner
     */
    public void checkRanks(int ranks) {
        if (collective == BenchOperation.PINGPONG && ranks < 2) {
            throw new IllegalArgumentException("pingpong needs 2 ranks or more, found " + ranks);
        }
    }

    /**
     * Returns the number of elements of the full tensor for a size. If the tensor has parts, each part has the same
     * length, at least 1.
     */
    int elements(long size, int ranks) {
        long count = size / type.byteSize();
        if (!collective.inParts() || count == 0) {
            return (int) count;
        }
        return (int) Math.max(ranks, count - count % ranks);
    }

    /** Returns the op as tables show it. */
    String opLabel() {
        return collective.reduces() ? op.name() : "none";
    }
}
