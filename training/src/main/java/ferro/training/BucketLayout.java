package ferro.training;

import ferro.DataType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Which parameter lies in which bucket, and where.
 *
 * <p>A function of the parameters, the settings and the number of ranks alone, so that all ranks have the same one without asking
 * each other. The order is the reverse of that in which parameters are listed, since gradients become ready from the last layer to
 * the first. A bucket holds one element type, and is closed before a parameter that would not fit any more; a parameter that is
 * larger than a bucket has one of its own. The elements of a bucket are padded to a multiple of 64 bytes per rank, so that it can
 * be cut into one part per rank. The padding of the last bucket has at least one element, in which a rank tells the others something
 * with every step.
 *
 * <p>Immutable; any thread may use it.
 */
public final class BucketLayout {
    /** The alignment of each rank's part, in bytes: a line of the caches of today's processors. */
    private static final int PART_BYTES = 64;

    private final List<Parameter> parameters;
    private final BucketSettings settings;
    private final int worldSize;
    private final List<Bucket> buckets;
    private final int[] bucketOf;
    private final long[] offsetOf;

    /**
     * A bucket: which parameters it holds, one behind the other, and how long it is.
     *
     * @param dataType the type of its elements
     * @param members indices of its parameters in the list of parameters, in the order in which they lie there
     * @param usedCount how many elements they have together
     * @param elementCount how many elements the bucket has with its padding, a multiple of the number of ranks
     */
    public record Bucket(DataType dataType, List<Integer> members, long usedCount, long elementCount) {
        /**
         * Copies the indices.
         *
         * @param dataType the type of its elements
         * @param members indices of its parameters
         * @param usedCount how many elements they have together
         * @param elementCount how many elements the bucket has with its padding
         */
        public Bucket {
            members = List.copyOf(members);
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
     * Lays parameters out.
     *
     * @param parameters all parameters that have a gradient; names must differ
     * @param settings sizes and order
     * @param worldSize how many ranks share the work
     * @return the layout
     * @throws IllegalArgumentException if there is no parameter, a name occurs twice, the settings order names that are no
     *     parameters, or a world of that size cannot be
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
                        "two of " + parameters.size() + " parameters are called \"" + parameter.name() + "\"");
            }
        }
        return new BucketLayout(List.copyOf(parameters), settings, worldSize);
    }

    /** Indices of the parameters in the order in which their gradients travel. */
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
                            + missing + ", unknown " + unknown + ", again " + again);
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
        long most = isFirstBucket ? settings.firstBytes() : settings.bytes();
        return parameter.dataType() == first.dataType()
                && (used + parameter.elementCount()) * parameter.dataType().byteSize() <= most;
    }

    private Bucket bucket(List<Integer> members, long used, long needed) {
        DataType type = parameters.get(members.get(0)).dataType();
        long unit = (long) worldSize * PART_BYTES / type.byteSize();
        return new Bucket(type, members, used, (needed + unit - 1) / unit * unit);
    }

    /**
     * Says what it lays out.
     *
     * @return the parameters, in the order in which they were listed
     */
    public List<Parameter> parameters() {
        return parameters;
    }

    /**
     * Says by which settings.
     *
     * @return the settings
     */
    public BucketSettings settings() {
        return settings;
    }

    /**
     * Says for how many ranks.
     *
     * @return at least 1
     */
    public int worldSize() {
        return worldSize;
    }

    /**
     * Says which buckets there are.
     *
     * @return the buckets, in the order in which they travel
     */
    public List<Bucket> buckets() {
        return buckets;
    }

    /**
     * Says in which bucket a parameter lies.
     *
     * @param parameter its index in the list of parameters
     * @return the index of the bucket
     * @throws IndexOutOfBoundsException if there is no such parameter
     */
    public int bucketOf(int parameter) {
        return bucketOf[parameter];
    }

    /**
     * Says where a parameter begins in its bucket.
     *
     * @param parameter its index in the list of parameters
     * @return its first element, counted in the bucket
     * @throws IndexOutOfBoundsException if there is no such parameter
     */
    public long offsetOf(int parameter) {
        return offsetOf[parameter];
    }

    @Override
    public String toString() {
        return parameters.size() + " parameters in " + buckets.size() + " buckets for " + worldSize + " ranks";
    }
}
