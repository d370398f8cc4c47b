package ferro.training.optimizer;

import ferro.HostTensor;
import ferro.training.BucketLayout;
import ferro.training.GradientBuckets;
import ferro.training.Join;
import ferro.training.Parameter;
import ferro.training.StepTimes;
import ferro.training.agreement.ParameterAgreement;
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
 * Updates parameters by the averaged gradients of {@link GradientBuckets}, and keeps the optimizer's state on one rank only.
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
 * <p>Over sharded buckets, each rank gets the averages of its part of each bucket, updates the parameters of that part, and gets those of
 * the other parts from the other ranks: the state takes 1/n of its memory, and each element is updated once, not n times. The parameters
 * of a bucket travel while those of the next one are updated. Over buckets that are not sharded, each rank updates everything, and no
 * parameter travels. Both give the same bits, with {@link #clipByGlobalNorm} too.
 *
 * <p>Parameters lie in tensors of the buckets' {@link BucketLayout}: a model either computes on {@link #parameter} itself, or copies
 * before each forward pass. They are zeros at first: put the same initial values in on all ranks.
 *
 * <p>{@link #step} ends the step of the buckets and takes the place of {@link GradientBuckets#finish}, in a {@link Join} too, where
 * ranks that have run out update their part by the gradients of the others. All ranks call {@link #step}, {@link #skip} and
 * {@link #clipByGlobalNorm} in the same order, from one thread at a time. If one of them throws a {@code FerroException}, parameters
 * and state are of no use any more: load the last checkpoint.
 *
 * <p>Once the first steps are done a step makes no garbage but what the calls of the buckets' group make, apart from its result.
 *
 * <p>Source: Rajbhandari et al. 2020, "ZeRO", arXiv:1910.02054, stage 1.
 */
public final class ShardedOptimizer implements AutoCloseable {
    private static final String PREFIX = "optimizer.";
    private static final String RATE = PREFIX + "rate";
    private static final String STEPS = PREFIX + "steps";
    /** Sizes and order, on which the bits of sums depend. */
    private static final String BUCKETS = PREFIX + "buckets";
    /** What PyTorch adds to the norm before it divides by it. */
    private static final double CLIP_EPSILON = 1e-6;

    private final GradientBuckets buckets;
    private final UpdateRule rule;
    private final List<BucketShare> shares = new ArrayList<>();
    private final List<HostTensor> parameters = new ArrayList<>();
    private final List<StateSlice> state;
    private final GradientNorm norm;
    private double rate;
    private long steps;
    /** The step of the buckets that the next call of this optimizer is about. */
    private long bucketStep;

    private ShardedOptimizer(GradientBuckets buckets, UpdateRule rule) {
        this.buckets = buckets;
        this.rule = rule;
        rate = rule.rate();
        for (int index = 0; index < buckets.layout().buckets().size(); index++) {
            shares.add(new BucketShare(buckets, index, rule));
        }
        List<StateSlice> slices = new ArrayList<>();
        BucketLayout layout = buckets.layout();
        for (int index = 0; index < layout.parameters().size(); index++) {
            BucketShare share = shares.get(layout.bucketOf(index));
            Parameter parameter = layout.parameters().get(index);
            parameters.add(share.parameter(parameter, layout.offsetOf(index)));
            slices.addAll(share.state(parameter, layout.offsetOf(index)));
        }
        state = Collections.unmodifiableList(slices);
        norm = new GradientNorm(buckets, shares);
        bucketStep = buckets.stepNumber();
    }

    /**
     * Makes an optimizer for the parameters of buckets. A collective call of the buckets' group: all ranks give the same rule, which is
     * compared here.
     *
     * @param buckets gradients; sharded for an optimizer that is
     * @param rule    what a step does, and its first learning rate
     * @return optimizer, with parameters and state of zeros
     * @throws IllegalArgumentException if ranks give different rules, on all ranks; it names the first constant that differs
     * @throws ferro.FerroException     if the group fails or has failed
     */
    public static ShardedOptimizer over(GradientBuckets buckets, UpdateRule rule) {
        Objects.requireNonNull(buckets, "buckets");
        Objects.requireNonNull(rule, "rule");
        List<String> constants = new ArrayList<>();
        rule.settings().forEach((name, value) -> constants.add(name + " is " + value));
        ParameterAgreement.compare(buckets.group(), "optimizers", constants, "");
        try {
            return new ShardedOptimizer(buckets, rule);
        } catch (RuntimeException | Error failure) {
            buckets.group().abort(failure); // the other ranks wait for the memory of this one
            throw failure;
        }
    }

    /**
     * Returns where a parameter lies, the whole of it on every rank.
     *
     * @param parameter its index in the list of parameters
     * @return a view of its bucket, in direct memory; the same object at each call. Written by {@link #step}
     * @throws IndexOutOfBoundsException if there is no such parameter
     */
    public HostTensor parameter(int parameter) {
        return parameters.get(parameter);
    }

    /**
     * Says which gradients it updates by.
     *
     * @return the buckets
     */
    public GradientBuckets buckets() {
        return buckets;
    }

    /**
     * Says what a step does.
     *
     * @return the rule, with the rate that it began with
     */
    public UpdateRule rule() {
        return rule;
    }

    /**
     * Says at which rate the next step learns.
     *
     * @return the rate of the rule, or the last one that was set
     */
    public double rate() {
        return rate;
    }

    /**
     * Changes the rate of the next steps, as a schedule does before each. All ranks give the same one.
     *
     * @param newRate learning rate
     * @throws IllegalArgumentException if it is negative or not finite
     */
    public void rate(double newRate) {
        RuleConstants.atLeastZero(rule.kind(), "rate", newRate);
        rate = newRate;
    }

    /**
     * Says how many steps have been made.
     *
     * @return steps, with those before the checkpoint that was restored
     */
    public long stepCount() {
        return steps;
    }

    /**
     * Updates all parameters by the gradients of this step and ends the step of the buckets. When it returns, all ranks have the same
     * parameters. A collective call.
     *
     * @return how long it waited for gradients and parameters, and how long the travel of gradients was hidden
     * @throws IllegalStateException if gradients were never ready, as {@link GradientBuckets#finish} says it, or accumulate, or if
     *     {@code finish} of the buckets has been called in this step
     * @throws ferro.FerroException  if the group fails or has failed
     */
    public StepTimes step() {
        refuseEndedStep();
        long step = steps + 1;
        for (int index = 0; index < shares.size(); index++) { // no iterator: nothing is allocated
            buckets.await(index);
            BucketShare share = shares.get(index);
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
     * Ends the step of the buckets without an update, for example after gradients that are not finite. All ranks do it.
     *
     * @return how long it waited for gradients, and how long their travel was hidden
     * @throws IllegalStateException if gradients were never ready, as {@link GradientBuckets#finish} says it
     * @throws ferro.FerroException  if the group fails or has failed
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

    /** Refuses gradients of which nobody knows whether they are of this step. */
    private void refuseEndedStep() {
        if (buckets.stepNumber() != bucketStep) {
            IllegalStateException ended = new IllegalStateException("step " + (steps + 1) + " of the optimizer, rank "
                    + buckets.group().rank() + ": GradientBuckets.finish() has ended step " + (buckets.stepNumber() - 1)
                    + " of the buckets already: call only step() of the optimizer, or skip() to leave gradients out");
            buckets.group().abort(ended);
            throw ended;
        }
    }

    /**
     * Shortens all gradients of this step together to a length, where they are longer; between the last {@code ready} and {@link #step}.
     * A collective call.
     *
     * <p>The norm is the root of the sum of all squares, computed in double, of all parameters and over all ranks: the norm of the averaged
     * gradients. Longer gradients are multiplied by {@code maxNorm / (norm + 1e-6)}, as PyTorch's {@code clip_grad_norm_} does. A norm
     * that is infinite makes finite gradients zeros and infinite ones NaN; a norm that is NaN makes all gradients NaN. To see such a
     * norm before it reaches the parameters, call {@link #clipByGlobalNorm(double, boolean)}.
     *
     * @param maxNorm longest length, above 0; infinite to compute the norm alone
     * @return norm before clipping, the same on all ranks
     * @throws IllegalArgumentException if {@code maxNorm} is not above 0
     * @throws IllegalStateException    as {@link #step}
     * @throws ferro.FerroException     if the group fails or has failed
     */
    public double clipByGlobalNorm(double maxNorm) {
        return clipByGlobalNorm(maxNorm, false);
    }

    /**
     * Shortens all gradients as {@link #clipByGlobalNorm(double)} does, and refuses a norm that is infinite or NaN if asked to.
     *
     * @param maxNorm          longest length, above 0; infinite to compute the norm alone
     * @param errorIfNonfinite whether a norm that is infinite or NaN is an error, as the argument of PyTorch of that name; on all ranks
     * @return norm before clipping, the same on all ranks
     * @throws ArithmeticException      if the norm is infinite or NaN and that is an error; the gradients are unchanged, and either
     *     {@link #step} or {@link #skip} ends the step
     * @throws IllegalArgumentException if {@code maxNorm} is not above 0
     * @throws IllegalStateException    as {@link #step}
     * @throws ferro.FerroException     if the group fails or has failed
     */
    public double clipByGlobalNorm(double maxNorm, boolean errorIfNonfinite) {
        if (!(maxNorm > 0)) {
            throw new IllegalArgumentException("need a longest norm above 0, found " + maxNorm);
        }
        refuseEndedStep();
        buckets.await(shares.size() - 1);
        double length = norm.length();
        if (errorIfNonfinite && !Double.isFinite(length)) {
            throw new ArithmeticException("the gradients of step " + (steps + 1) + " have the norm " + length
                    + ": leave them out by skip(), or look for a rate that is too high");
        }
        double factor = maxNorm / (length + CLIP_EPSILON);
        if (maxNorm < Double.POSITIVE_INFINITY && !(factor >= 1)) { // NaN too
            for (int index = 0; index < shares.size(); index++) {
                shares.get(index).scaleGradients(factor);
            }
        }
        return length;
    }

    /**
     * Returns what the optimizer remembers on this rank, by parameter and range of elements: its part of each parameter if the buckets
     * are sharded, all of it if not. A checkpoint reads the values, and writes them when it is loaded, also by another number of ranks.
     *
     * @return views of the state itself, in the order of parameters; empty for a rule that remembers nothing
     */
    public List<StateSlice> state() {
        return state;
    }

    /**
     * Says what a checkpoint keeps beside {@link #state} and the parameters.
     *
     * @return {@code optimizer.steps}, {@code optimizer.rate}, {@code optimizer.buckets} (their sizes and order) and all constants of the
     *     rule, each with {@code optimizer.} before its name
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
     * Takes the number of steps and the rate from the settings of a checkpoint; the checkpoint writes parameters and state itself.
     *
     * @param saved what {@link #settings} returned; other names than those that begin with {@code optimizer.} are left alone
     * @throws IllegalArgumentException if a constant of the rule differs or is missing, with both values; a map with the new value in its
     *     place goes on with that. Nothing is changed then
     */
    public void restore(Map<String, String> saved) {
        Objects.requireNonNull(saved, "saved");
        Map<String, String> mine = settings();
        for (String name : new TreeSet<>(mine.keySet())) {
            String value = saved.get(name);
            boolean isRestored = name.equals(RATE) || name.equals(STEPS);
            if (value == null || !isRestored && !value.equals(mine.get(name))) {
                String how = name.equals(BUCKETS)
                        ? "build the buckets with the settings of the checkpoint, on which the bits of sums depend"
                        : "make the optimizer with the value of the checkpoint";
                throw new IllegalArgumentException("the checkpoint has " + name + "=" + value + ", the optimizer has "
                        + mine.get(name) + ": " + how + ", or put the new value into the settings to go on with it");
            }
        }
        long newSteps = number(saved, STEPS).longValue();
        if (newSteps < 0) {
            throw new IllegalArgumentException(
                    "the checkpoint has " + STEPS + "=" + newSteps + ": need a number from 0 on");
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

    /** Gives back the memory of the parameters in their group; the buckets stay open. Idempotent. */
    @Override
    public void close() {
        shares.forEach(BucketShare::close);
    }
}
