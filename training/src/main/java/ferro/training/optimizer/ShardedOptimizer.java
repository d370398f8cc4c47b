package ferro.training.optimizer;

import ferro.HostTensor;
import ferro.training.BucketLayout;
import ferro.training.GradientBuckets;
import ferro.training.Join;
import ferro.training.Parameter;
import ferro.training.StepTimes;
import ferro.training.agreement.ParameterComparer;
import ferro.training.checkpoint.StateSlice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;

/**
 * An optimizer that updates parameters with the averaged gradients of {@link GradientBuckets}. With sharded buckets,
 * each rank keeps only its part of the optimizer's state.
 *
 * {@snippet file="ferro/examples/snippets/OptimizerSnippetsTest.java" region="sharded" :
 *
 * try (GradientBuckets buckets = GradientBuckets.builder(group)
 *                 .parameters(model.parameters())
 *                 .sharded(true)
 *                 .build();
 *         ShardedOptimizer optimizer = ShardedOptimizer.over(buckets, UpdateRule.adamW())) {
 *     model.initialize(optimizer); // writes parameter(i), the same on all ranks
 *     for (int step = 0; step < STEPS; step++) {
 *         model.backward(step, optimizer, buckets); // reads parameter(i), writes gradient(i), calls ready(i)
 *         optimizer.clipByGlobalNorm(1.0);
 *         optimizer.rate(0.1 * (1 - step / (double) STEPS));
 *         optimizer.step();
 *     }
 *     return new double[] {
 *         optimizer.parameter(0).getDouble(0), optimizer.parameter(1).getDouble(0)
 *     };
 * }
 * }
 *
 * <p>With sharded buckets, each rank gets the averages of its part of each bucket and updates the parameters of its
 * part. Each rank gets all other parameters from the other ranks. On each of n ranks, the state then takes 1/n of its
 * memory, and each element is updated once, not n times. The parameters of a bucket are sent while the rank updates the
 * parameters of the next bucket. Without sharding, each rank updates all parameters, and no parameter is sent.
 * Parameters have the same bits with and without sharding, even with {@link #clipByGlobalNorm}.
 *
 * <p>Parameters are stored in tensors with the {@link BucketLayout} of the buckets. A model either computes directly on
 * {@link #parameter}, or copies the parameters before each forward pass. All parameters are zero at first. The program
 * must write the same initial values on all ranks.
 *
 * <p>{@link #step} ends the step of the buckets and replaces {@link GradientBuckets#finish}, even in a {@link Join}. In
 * a join, ranks that have run out of batches update their part with the gradients of the other ranks. All ranks call
 * {@link #step}, {@link #skip} and {@link #clipByGlobalNorm} in the same order, from one thread at a time. After a
 * {@code FerroException} of one of these methods, parameters and state are undefined. The program must then load the
 * last checkpoint.
 *
 * <p>After the first steps, a step creates no garbage except its result and the garbage of the calls of the buckets'
 * group.
 *
 * <p>Source: Rajbhandari et al. 2020, "ZeRO", arXiv:1910.02054, stage 1.
 */
public final class ShardedOptimizer implements AutoCloseable {
    private static final String PREFIX = "optimizer.";
    private static final String RATE = PREFIX + "rate";
    private static final String STEPS = PREFIX + "steps";
    /** The sizes of the buckets and the order of parameters in buckets. The bits of sums depend on sizes and order. */
    private static final String BUCKETS = PREFIX + "buckets";
    /** The number that PyTorch adds to the norm before PyTorch divides by the sum. */
    private static final double CLIP_EPSILON = 1e-6;

    private final GradientBuckets buckets;
    private final UpdateRule rule;
    private final List<BucketUpdater> shares = new ArrayList<>();
    private final List<HostTensor> parameters = new ArrayList<>();
    private final List<StateSlice> state;
    private final GradientNorm norm;
    private double rate;
    private long steps;
    /** The step of the buckets to which the next call of this optimizer belongs. */
    private long bucketStep;

    private ShardedOptimizer(GradientBuckets buckets, UpdateRule rule) {
        this.buckets = buckets;
        this.rule = rule;
        rate = rule.rate();
        for (int index = 0; index < buckets.layout().buckets().size(); index++) {
            shares.add(new BucketUpdater(buckets, index, rule));
        }
        List<StateSlice> slices = new ArrayList<>();
        BucketLayout layout = buckets.layout();
        for (int index = 0; index < layout.parameters().size(); index++) {
            BucketUpdater share = shares.get(layout.bucketOf(index));
            Parameter parameter = layout.parameters().get(index);
            parameters.add(share.parameter(parameter, layout.offsetOf(index)));
            slices.addAll(share.state(parameter, layout.offsetOf(index)));
        }
        state = Collections.unmodifiableList(slices);
        norm = new GradientNorm(buckets, shares);
        bucketStep = buckets.stepNumber();
    }

    /**
     * Creates an optimizer for the parameters of buckets. This is a collective call of the buckets' group. All ranks
     * must give the same rule, and the call compares the rules.
     *
     * @param buckets buckets with the gradients; sharded buckets make a sharded optimizer
     * @param rule update rule, with the first learning rate
     * @return optimizer, with parameters and state of zeros
     * @throws IllegalArgumentException if ranks give different rules; all ranks throw this exception, and the message
     *     names the first constant that differs
     * @throws ferro.FerroException if the group fails or has failed
     */
    public static ShardedOptimizer over(GradientBuckets buckets, UpdateRule rule) {
        Objects.requireNonNull(buckets, "buckets");
        Objects.requireNonNull(rule, "rule");
        List<String> constants = new ArrayList<>();
        rule.settings().forEach((name, value) -> constants.add(name + " is " + value));
        ParameterComparer.compare(buckets.group(), "optimizers", constants, "");
        try {
            return new ShardedOptimizer(buckets, rule);
        } catch (RuntimeException | Error failure) {
            buckets.group().abort(failure); // the other ranks wait for this rank to allocate its memory
            throw failure;
        }
    }

    /**
     * Returns the memory of a parameter. Every rank has the full parameter.
     *
     * @param parameter index in the list of parameters
     * @return view of the parameter's bucket, in direct memory; the same object at each call. {@link #step} writes to
     *     this view
     * @throws IndexOutOfBoundsException if no parameter has this index
     */
    public HostTensor parameter(int parameter) {
        return parameters.get(parameter);
    }

    /** {@return the buckets whose gradients this optimizer uses} */
    public GradientBuckets buckets() {
        return buckets;
    }

    /** {@return the update rule, with its first learning rate} */
    public UpdateRule rule() {
        return rule;
    }

    /** {@return the learning rate of the next step} This is the rate of the rule, or the last rate that was set. */
    public double rate() {
        return rate;
    }

    /**
     * Sets the learning rate of the following steps, for example from a schedule before each step. All ranks must set
     * the same rate.
     *
     * @param newRate learning rate
     * @throws IllegalArgumentException if the rate is negative or not finite
     */
    public void rate(double newRate) {
        ConstantsCheck.atLeastZero(rule.kind(), "rate", newRate);
        rate = newRate;
    }

    /** {@return the number of steps that this optimizer has made, including the steps before a restored checkpoint} */
    public long stepCount() {
        return steps;
    }

    /**
     * Updates all parameters with the gradients of this step, and ends the step of the buckets. After this call, all
     * ranks have the same parameters. This is a collective call.
     *
     * @return time in which the call waited for gradients and parameters, and time in which the transfer of gradients
     *     was hidden
     * @throws IllegalStateException if gradients were never ready ({@link GradientBuckets#finish}), if gradients
     *     accumulate, or if {@code finish} of the buckets was called in this step
     * @throws ferro.FerroException if the group fails or has failed
     */
    public StepTimes step() {
        refuseEndedStep();
        long step = steps + 1;
        for (int index = 0; index < shares.size(); index++) { // an index, because an iterator would allocate memory
            buckets.await(index);
            BucketUpdater share = shares.get(index);
            share.update(step, rate);
            if (buckets.isSharded()) {
                share.startGathering(buckets.group());
            }
        }
        long begun = System.nanoTime();
        for (int index = 0; buckets.isSharded() && index < shares.size(); index++) {
            shares.get(index).awaitGathered();
        }
        Duration gathering = Duration.ofNanos(System.nanoTime() - begun);
        steps = step;
        StepTimes gradients = endStep();
        return new StepTimes(gradients.waited().plus(gathering), gradients.hidden());
    }

    /**
     * Ends the step of the buckets without an update, for example if gradients are not finite. All ranks must call this
     * method.
     *
     * @return time in which the call waited for gradients, and time in which the transfer of gradients was hidden
     * @throws IllegalStateException if gradients were never ready ({@link GradientBuckets#finish}), or if
     *     {@code finish} of the buckets was called in this step
     * @throws ferro.FerroException if the group fails or has failed
     */
    public StepTimes skip() {
        refuseEndedStep();
        return endStep();
    }

    private StepTimes endStep() {
        StepTimes times = buckets.finish();
        bucketStep = buckets.stepNumber();
        return times;
    }

    /** Throws an exception if the buckets' step has already ended. Its gradients may then belong to another step. */
    private void refuseEndedStep() {
        if (buckets.stepNumber() != bucketStep) {
            IllegalStateException ended = new IllegalStateException("step " + (steps + 1) + " of the optimizer, rank "
                    + buckets.group().rank() + ": GradientBuckets.finish() has already ended step "
                    + (buckets.stepNumber() - 1)
                    + " of the buckets: call only step() of the optimizer, or skip() to ignore the gradients");
            buckets.group().abort(ended);
            throw ended;
        }
    }

    /**
     * Scales all gradients of this step so that their global norm is at most {@code maxNorm}. Call this method after
     * the last {@code ready} and before {@link #step}. This is a collective call.
     *
     * <p>The norm is the square root of the sum of all squares, computed in double over all parameters and all ranks.
     * The global norm is the norm of the averaged gradients. If the norm is too large, all gradients are multiplied by
     * {@code maxNorm / (norm + 1e-6)}, as PyTorch's {@code clip_grad_norm_} does. An infinite norm makes finite
     * gradients zero and infinite gradients NaN. A norm that is NaN makes all gradients NaN. To detect an infinite norm
     * or a NaN before it reaches the parameters, call {@link #clipByGlobalNorm(double, boolean)}.
     *
     * @param maxNorm maximum norm, above 0; infinite to compute the norm without scaling
     * @return norm before scaling, the same on all ranks
     * @throws IllegalArgumentException if {@code maxNorm} is not above 0
     * @throws IllegalStateException for the reasons of {@link #step}
     * @throws ferro.FerroException if the group fails or has failed
     */
    public double clipByGlobalNorm(double maxNorm) {
        return clipByGlobalNorm(maxNorm, false);
    }

    /**
     * Scales all gradients as {@link #clipByGlobalNorm(double)} does, and can reject a norm that is infinite or NaN.
     *
     * @param maxNorm maximum norm, above 0; infinite to compute the norm without scaling
     * @param errorIfNonfinite whether an infinite or NaN norm is an error, as in PyTorch's {@code error_if_nonfinite};
     *     the same on all ranks
     * @return norm before scaling, the same on all ranks
     * @throws ArithmeticException if the norm is infinite or NaN and {@code errorIfNonfinite} is true; the gradients
     *     are unchanged, and {@link #step} or {@link #skip} must end the step
     * @throws IllegalArgumentException if {@code maxNorm} is not above 0
     * @throws IllegalStateException for the reasons of {@link #step}
     * @throws ferro.FerroException if the group fails or has failed
     */
    public double clipByGlobalNorm(double maxNorm, boolean errorIfNonfinite) {
        if (!(maxNorm > 0)) {
            throw new IllegalArgumentException("need a maximum norm above 0, found " + maxNorm);
        }
        refuseEndedStep();
        buckets.await(shares.size() - 1);
        double length = norm.length();
        if (errorIfNonfinite && !Double.isFinite(length)) {
            throw new ArithmeticException("the gradients of step " + (steps + 1) + " have the norm " + length
                    + ": ignore them with skip(), and check whether the learning rate is too high");
        }
        double factor = maxNorm / (length + CLIP_EPSILON);
        if (maxNorm < Double.POSITIVE_INFINITY && !(factor >= 1)) { // this condition is also true for NaN
            for (int index = 0; index < shares.size(); index++) {
                shares.get(index).scaleGradients(factor);
            }
        }
        return length;
    }

    /**
     * {@return views of the optimizer's state on this rank, by parameter and range of elements, in the order of
     * parameters; empty if the rule has no state. With sharded buckets the state belongs to this rank's part of each
     * parameter. Without sharding the state belongs to the whole parameter. A checkpoint reads the values of the state
     * when the checkpoint is saved, and writes the values when it is loaded, even with another number of ranks}
     */
    public List<StateSlice> state() {
        return state;
    }

    /**
     * {@return the settings to save in a checkpoint in addition to {@link #state} and the parameters:
     * {@code optimizer.steps}, {@code optimizer.rate}, {@code optimizer.buckets} (sizes and order of the buckets) and
     * all constants of the rule, each with the prefix {@code optimizer.}}
     */
    public Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        rule.settings().forEach((name, value) -> settings.put(PREFIX + name, value));
        settings.put(BUCKETS, buckets.layout().settings().toString());
        settings.put(RATE, Double.toString(rate));
        settings.put(STEPS, Long.toString(steps));
        return settings;
    }

    /**
     * Restores the number of steps and the learning rate from the settings of a checkpoint. A load of the checkpoint
     * restores parameters and state.
     *
     * @param saved map that {@link #settings} returned; names without the prefix {@code optimizer.} are ignored
     * @throws IllegalArgumentException if the map and this optimizer have different constants of the rule or different
     *     bucket settings; the message gives both values. This exception is also thrown if the map has no valid number
     *     of steps or learning rate. After an exception, the optimizer is unchanged. To continue with another value,
     *     put that value into the map
     */
    public void restore(Map<String, String> saved) {
        Objects.requireNonNull(saved, "saved");
        Map<String, String> own = settings();
        for (String name : new TreeSet<>(own.keySet())) {
            String value = saved.get(name);
            boolean isRestored = name.equals(RATE) || name.equals(STEPS);
            if (value == null || !isRestored && !value.equals(own.get(name))) {
                String how = name.equals(BUCKETS)
                        ? "build the buckets with the settings of the checkpoint, because the bits of sums depend on them"
                        : "create the optimizer with the value of the checkpoint";
                throw new IllegalArgumentException(
                        "the checkpoint has " + name + "=" + value + ", the optimizer has " + own.get(name) + ": " + how
                                + ", or put the optimizer's value into the settings to continue with it");
            }
        }
        long newSteps = number(saved, STEPS).longValue();
        if (newSteps < 0) {
            throw new IllegalArgumentException(
                    "the checkpoint has " + STEPS + "=" + newSteps + ": need a number of at least 0");
        }
        rate(number(saved, RATE).doubleValue());
        steps = newSteps;
    }

    private static Number number(Map<String, String> saved, String name) {
        String value = saved.get(name);
        try {
            if (name.equals(RATE)) {
                return Double.valueOf(value);
            }
            return Long.valueOf(value);
        } catch (NumberFormatException malformed) {
            throw new IllegalArgumentException(
                    "the checkpoint has " + name + "=" + value + ": need a number", malformed);
        }
    }

    /** Releases the memory of the parameters in their group. The buckets stay open. This method is idempotent. */
    @Override
    public void close() {
        shares.forEach(BucketUpdater::close);
    }
}
