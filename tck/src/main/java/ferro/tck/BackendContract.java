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
 * The full contract of a back end. A test class extends this class, implements {@link #createGroup(int)}, and runs as a
 * JUnit test.
 *
 * <p>{@link #declaredRefusals} names the features that a back end does not have. The names are {@link #SUBGROUPS},
 * {@link #ASYNCHRONOUS_MESSAGES}, {@link #ABORT_ACROSS_RANKS}, {@link #AGREED_FAILURES}, {@link #MISMATCHES},
 * {@link #MESSAGE_TAGS}, {@link #CANONICAL_NANS}, {@link #EARLY_LEAVES}, {@link #EXACT_SCALING}, {@link #ONE_ORDER},
 * {@link #LABELS}, {@link #OPEN_RECEIVES}, {@link #INTEGER_AVERAGES}, the label of a type ({@code i16}), the name of an
 * op ({@code avg}) or the kind of a collective ({@code allToAll}). For each of the first twelve names of the list, the
 * kit skips the rules that need the feature. For any other name, the back end must refuse the call before it moves
 * data. A refusal that is not declared fails the test.
 *
 * <p>A back end that takes device tensors overrides {@link #deviceMemory}. The rules of {@link #ON_DEVICES} then use
 * device tensors. The other rules use host tensors.
 *
 * <p>Rule 113, which sums 64 MiB on each rank, has the JUnit tag {@code large}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class BackendContract
        implements CollectiveRules,
                ResultRules,
                UserCodeRules,
                MemoryRules,
                MessageRules,
                ReceiveRules,
                AnySourceRules,
                WorkRules,
                BlockRules,
                RecordingRules,
                SubgroupRules,
                FailureRules,
                DiagnosisRules,
                CloseRules {
    /**
     * The rules that use device tensors if {@link #deviceMemory} is overridden: 101 to 108, 110 to 114, 120 to 123, 127,
     * 128, 201 and 608.
     */
    public static final Set<Integer> ON_DEVICES = Set.of(
            101, 102, 103, 104, 105, 106, 107, 108, 110, 111, 112, 113, 114, 120, 121, 122, 123, 127, 128, 201, 608);

    /**
     * The thirteen most useful rules if another test runs all rules on the same engine over another medium. The
     * thirteen rules cover every kind of call, memory of a group, and calls in place. For messages, the thirteen rules
     * cover messages that no rank receives, messages that do not arrive, and messages of any rank. Other subjects are
     * recordings, the close of subgroups, calls that differ and the texts of their failures, memory after a failure,
     * and threads after a close.
     */
    public static final Set<Integer> ON_ANOTHER_MEDIUM =
            Set.of(110, 115, 121, 212, 217, 218, 222, 330, 409, 501, 507, 530, 608);

    private static final String SETTINGS = "settings of each rank";

    private final Map<String, Integer> refusals = new ConcurrentSkipListMap<>();

    /** Creates the contract for a subclass, which provides the back end. */
    protected BackendContract() {}

    /**
     * Makes a fresh group whose ranks all live in this JVM.
     *
     * @param worldSize number of ranks
     * @return back ends in rank order; the contract closes the back ends
     */
    protected abstract List<? extends Backend> createGroup(int worldSize);

    /**
     * Makes a fresh group whose ranks have different settings, like processes that were started with different
     * properties.
     *
     * <p>A back end without settings does not override this method. The kit then skips the rules that need settings.
     *
     * @param settingsByRank one map from property to value for each rank, in rank order; a property is for example
     *     {@code ferro.algorithm}
     * @return back ends as from {@link #createGroup(int)}, or empty if this back end takes no settings
     */
    protected Optional<List<? extends Backend>> createGroup(List<Map<String, String>> settingsByRank) {
        return Optional.empty();
    }

    /** {@return the names of the features that this back end does not have; empty unless this method is overridden} */
    protected Set<String> declaredRefusals() {
        return Set.of();
    }

    /**
     * Returns whether this test runs a rule. A subclass can return false for a rule that another test runs with the
     * same back end and the same kind of tensors. JUnit reports a rule that is not run as skipped.
     *
     * @param rule number of the rule in docs/contract.md
     * @return true unless this method is overridden
     */
    protected boolean runs(int rule) {
        return true;
    }

    /**
     * {@return the device memory for operands; empty unless this method is overridden, so that operands stay in host
     * memory. Any {@link DeviceMemory} can be used, including one that does not use the kit}
     */
    protected Optional<DeviceMemory> deviceMemory() {
        return Optional.empty();
    }

    @Override
    public final Optional<DeviceMemory> devices() {
        return deviceMemory();
    }

    /**
     * Returns the device that holds the operands of a rank.
     *
     * @param rank number of the rank, from 0
     * @return ordinal of the device; the number of the rank unless this method is overridden
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
     * Reports each refusal of the back end, and how often the back end refused.
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
