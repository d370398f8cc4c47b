package ferro.training;

import ferro.DataType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The bucket of each parameter, and the position of the parameter in that bucket.
 *
 * <p>The layout depends only on the parameters, the settings and the number of ranks. All ranks therefore have the same
 * layout without communication. By default the order in the buckets is the reverse of the order in which parameters are
 * listed, because gradients become ready from the last layer to the first.
 *
 * <p>All elements of a bucket have the same type. A bucket ends before a parameter that does not fit. A parameter that
 * is larger than a bucket has its own bucket. Each bucket is padded to a multiple of 64 bytes per rank, so that a
 * bucket can be divided into one part per rank. The padding of the last bucket has at least one element. In each step,
 * a {@link Join} uses the first element of this padding to send whether the rank has another batch.
 *
 * <p>A layout is immutable, and any thread may use a layout.
 */
public final class BucketLayout {
    /** Alignment of each rank's part in bytes, which is one cache line of current processors. */
    private static final int PART_BYTES = 64;

    private final List<Parameter> parameters;
    private final BucketSettings settings;
    private final int worldSize;
    private final List<Bucket> buckets;
    private final int[] bucketOf;
    private final long[] offsetOf;

    /** A bucket, which consists of parameters one after another, and padding. */
    public static final class Bucket {
        private final DataType dataType;
        private final List<Integer> members;
        private final long usedCount;
        private final long elementCount;

        private Bucket(DataType dataType, List<Integer> members, long usedCount, long elementCount) {
            this.members = List.copyOf(members);
            this.dataType = dataType;
            this.usedCount = usedCount;
            this.elementCount = elementCount;
        }

        /** {@return the type of the elements} */
        public DataType dataType() {
            return dataType;
        }

        /** {@return the indices of the bucket's parameters in the list of parameters, in the order in the bucket} */
        public List<Integer> members() {
            return members;
        }

        /** {@return the number of elements of all parameters in the bucket} */
        public long usedCount() {
            return usedCount;
        }

        /** {@return the number of elements including the padding, a multiple of the number of ranks} */
        public long elementCount() {
            return elementCount;
        }

        @Override
        public String toString() {
            return "Bucket[dataType=" + dataType + ", members=" + members + ", usedCount=" + usedCount
                    + ", elementCount=" + elementCount + "]";
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Bucket that && values().equals(that.values());
        }

        @Override
        public int hashCode() {
            return values().hashCode();
        }

        private List<Object> values() {
            return List.of(dataType, members, usedCount, elementCount);
        }
    }

    private BucketLayout(List<Parameter> parameters, BucketSettings settings, int worldSize) {
        this.parameters = parameters;
        this.settings = settings;
        this.worldSize = worldSize;
        bucketOf = new int[parameters.size()];
        offsetOf = new long[parameters.size()];
        buckets = Collections.unmodifiableList(fill(order()));
    }

    /**
     * Computes the layout of parameters.
     *
     * @param parameters all parameters that have a gradient; their names must be different
     * @param settings sizes and order
     * @param worldSize number of ranks
     * @return layout
     * @throws IllegalArgumentException if the list of parameters is empty, if two parameters have the same name, if the
     *     settings give an order that does not contain each parameter exactly once, or if the number of ranks is not
     *     positive
     */
    public static BucketLayout of(List<Parameter> parameters, BucketSettings settings, int worldSize) {
        if (parameters.isEmpty()) {
            throw new IllegalArgumentException("need at least one parameter, found " + parameters);
        }
        if (worldSize < 1) {
            throw new IllegalArgumentException("need at least one rank, found " + worldSize);
        }
        Set<String> names = new HashSet<>();
        for (Parameter parameter : parameters) {
            if (!names.add(parameter.name())) {
                throw new IllegalArgumentException(
                        "two of " + parameters.size() + " parameters have the name \"" + parameter.name() + "\"");
            }
        }
        return new BucketLayout(List.copyOf(parameters), settings, worldSize);
    }

    /** Returns the indices of the parameters in the order in which their gradients are sent. */
    private List<Integer> order() {
        List<Integer> order = new ArrayList<>();
        if (settings.order().isEmpty()) {
            for (int index = parameters.size() - 1; index >= 0; index--) {
                order.add(index);
            }
            return order;
        }
        List<String> names = parameters.stream().map(Parameter::name).toList();
        if (settings.order().size() != names.size() || !new HashSet<>(settings.order()).equals(new HashSet<>(names))) {
            List<String> missing = new ArrayList<>(names);
            missing.removeAll(settings.order());
            List<String> unknown = new ArrayList<>(settings.order());
            unknown.removeAll(names);
            Set<String> once = new HashSet<>();
            List<String> again =
                    settings.order().stream().filter(name -> !once.add(name)).toList();
            throw new IllegalArgumentException(
                    "the order has " + settings.order().size() + " names for " + names.size() + " parameters: missing "
                            + missing + ", unknown " + unknown + ", repeated " + again);
        }
        settings.order().forEach(name -> order.add(names.indexOf(name)));
        return order;
    }

    private List<Bucket> fill(List<Integer> order) {
        List<Bucket> filled = new ArrayList<>();
        List<Integer> members = new ArrayList<>();
        long used = 0;
        for (int index : order) {
            Parameter parameter = parameters.get(index);
            if (!members.isEmpty() && !fits(parameter, parameters.get(members.get(0)), used, filled.isEmpty())) {
                filled.add(bucket(members, used, used));
                members.clear();
                used = 0;
            }
            bucketOf[index] = filled.size();
            offsetOf[index] = used;
            members.add(index);
            used += parameter.elementCount();
        }
        filled.add(bucket(members, used, used + 1));
        return filled;
    }

    private boolean fits(Parameter parameter, Parameter first, long used, boolean isFirstBucket) {
        long maxBytes = isFirstBucket ? settings.firstBytes() : settings.bytes();
        return parameter.dataType() == first.dataType()
                && (used + parameter.elementCount()) * parameter.dataType().byteSize() <= maxBytes;
    }

    private Bucket bucket(List<Integer> members, long used, long needed) {
        DataType type = parameters.get(members.get(0)).dataType();
        long unit = (long) worldSize * PART_BYTES / type.byteSize();
        return new Bucket(type, members, used, (needed + unit - 1) / unit * unit);
    }

    /** {@return the parameters of this layout, in the order in which they were listed} */
    public List<Parameter> parameters() {
        return parameters;
    }

    /** {@return the settings of this layout} */
    public BucketSettings settings() {
        return settings;
    }

    /** {@return the number of ranks of this layout, 1 or more} */
    public int worldSize() {
        return worldSize;
    }

    /** {@return all buckets, in the order in which they are sent} */
    public List<Bucket> buckets() {
        return buckets;
    }

    /**
     * {@return the index of the bucket of a parameter}
     *
     * @param parameter index in the list of parameters
     * @throws IndexOutOfBoundsException if no parameter has this index
     */
    public int bucketOf(int parameter) {
        return bucketOf[parameter];
    }

    /**
     * Returns the position of a parameter in its bucket.
     *
     * @param parameter index in the list of parameters
     * @return index in the bucket of the first element of the parameter
     * @throws IndexOutOfBoundsException if no parameter has this index
     */
    public long offsetOf(int parameter) {
        return offsetOf[parameter];
    }

    @Override
    public String toString() {
        return parameters.size() + " parameters in " + buckets.size() + " buckets for " + worldSize + " ranks";
    }
}
