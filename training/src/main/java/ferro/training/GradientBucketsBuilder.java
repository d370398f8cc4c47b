package ferro.training;

import ferro.DataType;
import ferro.group.ProcessGroup;
import ferro.training.BucketLayout.Bucket;
import ferro.training.agreement.ParameterComparer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/** A builder of {@link GradientBuckets}. Only one thread may use a builder. */
public final class GradientBucketsBuilder {
    private final ProcessGroup group;
    private List<Parameter> parameters = List.of();
    private BucketSettings settings = BucketSettings.DEFAULT;
    private GradientHook hook = GradientHook.average();
    private boolean sharded;
    private boolean zerosForUnused;

    GradientBucketsBuilder(ProcessGroup group) {
        this.group = group;
    }

    /**
     * Sets the parameters that have a gradient, in the order in which the model uses them. Other methods refer to a
     * parameter by its index in this list, from 0.
     *
     * @param all parameters, the same on all ranks; f32 or f64
     * @return this
     */
    public GradientBucketsBuilder parameters(List<Parameter> all) {
        parameters = List.copyOf(Objects.requireNonNull(all, "all"));
        return this;
    }

    /**
     * Sets the sizes of the buckets, and the order of gradients in the buckets.
     *
     * @param chosen settings, the same on all ranks; {@link BucketSettings#DEFAULT} by default
     * @return this
     */
    public GradientBucketsBuilder settings(BucketSettings chosen) {
        settings = Objects.requireNonNull(chosen, "chosen");
        return this;
    }

    /**
     * Sets whether each rank gets only the averages of its own part of each bucket. An optimizer that updates only the
     * rank's part of each bucket needs no other averages. A sharded bucket is sent by a reduce-scatter, which moves
     * half of the bytes of an all-reduce. The averages have the same bits with a reduce-scatter as with an all-reduce.
     *
     * @param on whether buckets are sharded, the same on all ranks; false by default
     * @return this
     */
    public GradientBucketsBuilder sharded(boolean on) {
        sharded = on;
        return this;
    }

    /**
     * Sets the hook that determines the data that ranks send for a bucket.
     *
     * @param chosen hook, the same on all ranks; {@link GradientHook#average()} by default
     * @return this
     */
    public GradientBucketsBuilder hook(GradientHook chosen) {
        hook = Objects.requireNonNull(chosen, "chosen");
        return this;
    }

    /**
     * Treats gradients that are not ready at the end of a step as zeros. By default, gradients that are not ready are
     * an error. With this setting, a gradient that only some ranks have is averaged over all ranks.
     *
     * @return this
     */
    public GradientBucketsBuilder zerosForUnused() {
        zerosForUnused = true;
        return this;
    }

    /**
     * Builds the buckets. This is a collective call of the group. All ranks must make this call with the same
     * parameters and settings. The call compares the parameters and settings of all ranks, and creates a separate group
     * for the buckets.
     *
     * @return buckets, with gradients of zeros
     * @throws IllegalArgumentException if ranks have different parameters or settings; the message gives the first
     *     difference. This exception is also thrown if the parameters of a rank have no layout
     *     ({@link BucketLayout#of}), if a type is neither f32 nor f64, if the hook does not support the type, or if a
     *     bucket is longer than one buffer (2 GiB). All ranks throw this exception, and the group stays usable
     * @throws UnsupportedOperationException if the back end cannot create groups
     * @throws ferro.FerroException if the group fails or has failed, or if a custom hook has thrown an exception on
     *     another rank; the message has the text of that exception
     */
    public GradientBuckets build() {
        BucketLayout layout = null;
        IllegalArgumentException invalid = null;
        try {
            layout = BucketLayout.of(parameters, settings, group.worldSize());
            layout.parameters().forEach(GradientBucketsBuilder::checkType);
            layout.buckets().forEach(this::checkSize);
            checkHook(layout.buckets());
        } catch (IllegalArgumentException found) {
            invalid = found;
        }
        ParameterComparer.compare(group, "buckets", lines(), invalid == null ? "" : invalid.getMessage());
        if (invalid != null) {
            throw invalid;
        }
        ProcessGroup own = group.newGroup(IntStream.range(0, group.worldSize()).toArray());
        try {
            return new GradientBuckets(this, layout, own);
        } catch (RuntimeException | Error failure) {
            own.abort(failure);
            own.close();
            throw failure;
        }
    }

    private static void checkType(Parameter parameter) {
        DataType type = parameter.dataType();
        if (type != DataType.FLOAT32 && type != DataType.FLOAT64) {
            throw new IllegalArgumentException("parameter \"" + parameter.name() + "\" is " + type.label()
                    + ", need f32 or f64: a 16-bit float loses updates that are smaller than its last bit; keep parameters"
                    + " in f32, and send half of the bytes with GradientHook.bf16()");
        }
    }

    private void checkHook(List<Bucket> buckets) {
        for (int index = 0; index < buckets.size(); index++) {
            DataType type = buckets.get(index).dataType();
            String start = "bucket " + index + " has gradients of " + type.label() + ", and ";
            hook.unsupportedBecause(type).ifPresent(why -> {
                throw new IllegalArgumentException(start + why);
            });
        }
    }

    private void checkSize(Bucket bucket) {
        long bytes = bucket.elementCount() * bucket.dataType().byteSize();
        if (bytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("the bucket of parameter \""
                    + parameters.get(bucket.members().get(0)).name() + "\" has " + bytes
                    + " bytes, but a buffer holds at most "
                    + Integer.MAX_VALUE + ": use smaller buckets, or split the parameter");
        }
    }

    /** Returns one line for each property that must be equal on all ranks, beginning with the parameters. */
    private List<String> lines() {
        List<String> lines = new ArrayList<>();
        for (int index = 0; index < parameters.size(); index++) {
            Parameter parameter = parameters.get(index);
            lines.add("parameter " + index + " is \"" + parameter.name() + "\" "
                    + parameter.dataType().label() + shape(parameter));
        }
        lines.add("there are " + parameters.size() + " parameters");
        lines.add("the first bucket has " + settings.firstBytes() + " bytes, the others " + settings.bytes());
        settings.order().forEach(name -> lines.add("the next name of the order is \"" + name + "\""));
        lines.add(sharded ? "buckets are sharded" : "buckets are not sharded");
        return lines;
    }

    private static String shape(Parameter parameter) {
        return Arrays.toString(parameter.shape());
    }

    ProcessGroup group() {
        return group;
    }

    GradientHook hook() {
        return hook;
    }

    boolean isSharded() {
        return sharded;
    }

    boolean hasZerosForUnused() {
        return zerosForUnused;
    }
}
