package ferro.tck;

import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.Backend;
import ferro.dispatch.DeviceMemory;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestReporter;

/**
 * The whole contract of a back end. Extend it, implement how a group is made, and run it as any JUnit test.
 *
 * <p>{@link #declaredRefusals} names what a back end cannot do: {@link #SUBGROUPS}, {@link #ASYNCHRONOUS_MESSAGES},
 * {@link #ABORT_ACROSS_RANKS}, {@link #AGREED_FAILURES}, {@link #MISMATCHES}, {@link #MESSAGE_TAGS},
 * {@link #CANONICAL_NANS}, {@link #EARLY_LEAVES}, {@link #EXACT_SCALING}, {@link #ONE_ORDER}, {@link #LABELS},
 * {@link #WHOLE_AVERAGES}, the label of a type ({@code i16}), the name of an op ({@code avg}) or the kind of a collective ({@code allToAll}). The rules of
 * the first eleven are then skipped; a cell of the others must be refused before anything moves. A refusal that is not declared
 * fails.
 *
 * <p>A back end that takes device tensors overrides {@link #deviceMemory}: cells and messages of rules 101 to 108, 110 to 114,
 * 120, 121 and 201 then run on device tensors, the others on host tensors.
 *
 * <p>64 MiB cells carry the tag {@code large}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class BackendContract
        implements CollectiveRules,
                UnequalRules,
                ResultRules,
                ScalingRules,
                UserCodeRules,
                MemoryRules,
                OverlapRules,
                MessageRules,
                MessageTypeRules,
                WorkRules,
                BlockRules,
                RecordingRules,
                SubgroupRules,
                FailureRules,
                DiagnosisRules,
                TextRules,
                CloseRules,
                LeavingRules {
    /** Groups of some ranks: {@code newGroup} and {@code split}. */
    public static final String SUBGROUPS = "subgroups";
    /** Several sends and receives of one rank in flight at once. */
    public static final String ASYNCHRONOUS_MESSAGES = "asynchronous point-to-point";
    /** A failure of one rank also ends the others, and names it. */
    public static final String ABORT_ACROSS_RANKS = "abort across ranks";
    /** Calls, messages or lists of members that differ between ranks fail with MISMATCH. */
    public static final String MISMATCHES = "mismatch detection";
    /** Messages of tags other than 0. */
    public static final String MESSAGE_TAGS = "message tags";
    /** One bit pattern for every NaN, which is the result of MIN and MAX, and zeros ordered by sign. */
    public static final String CANONICAL_NANS = "canonical NaNs";

    /** An all-reduce and a reduce-scatter combine the operands of an element in the same order. */
    public static final String ONE_ORDER = "one order of reductions";

    /** Ranks compare the labels of their calls. */
    public static final String LABELS = "labels";

    /** A failure is known on all ranks with the same cause, also on ranks that make no call. */
    public static final String AGREED_FAILURES = "agreed failures";

    /** AVG of integers; its cells are refused before anything moves. */
    public static final String WHOLE_AVERAGES = "averages of whole numbers";

    /** AVG of f32 and f64 is the sum divided once, and a pre-multiplied sum that of the rounded products, bit by bit. */
    public static final String EXACT_SCALING = "exact scaling";

    /** A rank may close as soon as its own calls have returned, however late its peers are. */
    public static final String EARLY_LEAVES = "early leaves";

    private static final String SETTINGS = "settings of each rank";

    private final Map<String, Integer> refusals = new ConcurrentSkipListMap<>();

    /** For subclasses, which name the back end. */
    protected BackendContract() {}

    /**
     * Makes a fresh group whose ranks all live in this JVM.
     *
     * @param worldSize number of ranks
     * @return ends, index = rank; the contract closes them
     */
    protected abstract List<? extends Backend> createGroup(int worldSize);

    /**
     * Makes a fresh group whose ranks have their own settings, like processes that were started differently.
     *
     * <p>A back end that is made without settings leaves this as it is; the rules that need it are then skipped.
     *
     * @param settingsByRank settings by property, for example {@code ferro.algorithm}; index = rank, as many as ranks
     * @return ends as from {@link #createGroup(int)}, or nothing if this back end takes no settings
     */
    protected Optional<List<? extends Backend>> createGroup(List<Map<String, String>> settingsByRank) {
        return Optional.empty();
    }

    /**
     * Names what this back end cannot do.
     *
     * @return nothing, unless overridden
     */
    protected Set<String> declaredRefusals() {
        return Set.of();
    }

    /**
     * Names the memory that operands are put into; any {@link DeviceMemory} can be used, it need not know the kit.
     *
     * @return nothing, unless overridden: operands stay in host memory
     */
    protected Optional<DeviceMemory> deviceMemory() {
        return Optional.empty();
    }

    @Override
    public final Optional<DeviceMemory> devices() {
        return deviceMemory();
    }

    /**
     * Returns the device that a rank's operands are put on.
     *
     * @param rank rank
     * @return the rank itself, unless overridden
     */
    @Override
    public int device(int rank) {
        return rank;
    }

    @Override
    public final Ranks group(int worldSize) {
        return Ranks.of(createGroup(worldSize), worldSize);
    }

    @Override
    public final Ranks group(List<Map<String, String>> settingsByRank) {
        Optional<List<? extends Backend>> made = createGroup(settingsByRank);
        if (made.isEmpty()) {
            refused(SETTINGS);
        }
        assumeTrue(made.isPresent(), SETTINGS + ": createGroup(settingsByRank) is not overridden");
        return Ranks.of(made.get(), settingsByRank.size());
    }

    @Override
    public final boolean refuses(String capability) {
        return declaredRefusals().contains(capability);
    }

    @Override
    public final void needs(String capability) {
        if (refuses(capability)) {
            refused(capability);
        }
        assumeFalse(refuses(capability), () -> "declared refusal: " + capability);
    }

    @Override
    public final void refused(String what) {
        refusals.merge(what, 1, Integer::sum);
    }

    /**
     * Reports what was refused, and how often.
     *
     * @param reporter reporter of JUnit
     */
    @AfterAll
    public final void reportRefusals(TestReporter reporter) {
        if (!refusals.isEmpty()) {
            reporter.publishEntry("refusals", refusals.toString());
        }
    }
}
