package ferro.tck;

import ferro.dispatch.DeviceMemory;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The back end under test. The rules use its groups and its declared refusals. */
public interface TestedBackend {
    /** Groups of some ranks of a group, made by {@code newGroup} or {@code split}. */
    String SUBGROUPS = "subgroups";
    /** Several sends and receives of one rank in flight at once. */
    String ASYNCHRONOUS_MESSAGES = "asynchronous point-to-point";
    /** A failure of one rank that also fails the other ranks and names the failed rank. */
    String ABORT_ACROSS_RANKS = "abort across ranks";
    /** A failure with code MISMATCH if calls, messages or lists of members differ between ranks. */
    String MISMATCHES = "mismatch detection";
    /** Messages with tags other than 0. */
    String MESSAGE_TAGS = "message tags";
    /** One bit pattern for every NaN. MIN and MAX of a NaN operand return NaN, and they order zeros by sign. */
    String CANONICAL_NANS = "canonical NaNs";

    /** The same order of operands in an all-reduce and in a reduce-scatter, for each element. */
    String ONE_ORDER = "one order of reductions";

    /**
     * Receives that take messages shorter than their tensor, messages of any rank, or messages with any tag. Open
     * receives can be cancelled, and their handles describe the received message.
     */
    String OPEN_RECEIVES = "open receives";

    /** The comparison of the labels of calls between ranks. */
    String LABELS = "labels";

    /** A failure with the same cause on all ranks, including ranks that make no call. */
    String AGREED_FAILURES = "agreed failures";

    /** AVG of integers. A back end without this op refuses averages of integers before it moves data. */
    String INTEGER_AVERAGES = "averages of whole numbers";

    /**
     * Exact bits of scaled reductions. AVG of f32 and f64 is the sum divided once. A pre-multiplied sum is the sum of
     * the rounded products.
     */
    String EXACT_SCALING = "exact scaling";

    /** Ranks that may close their group as soon as their own calls have returned, even if other ranks call later. */
    String EARLY_LEAVES = "early leaves";

    /**
     * Makes a fresh group.
     *
     * @param worldSize number of ranks
     * @return ranks of the group; the caller closes the ranks
     */
    Ranks group(int worldSize);

    /**
     * Makes a fresh group whose ranks have different settings. Skips the running test if the back end takes no
     * settings.
     *
     * @param settingsByRank one map from property to value for each rank, in rank order; a property is for example
     *     {@code ferro.algorithm}
     * @return ranks of the group; the caller closes the ranks
     */
    Ranks group(List<Map<String, String>> settingsByRank);

    /**
     * Runs code on every rank of a fresh group, and closes the group.
     *
     * @param worldSize number of ranks
     * @param code      code of each rank
     * @throws AssertionError if a rank fails or hangs, as in {@link Ranks#run(Ranks.RankCode)}
     */
    default void eachRank(int worldSize, Ranks.RankCode code) {
        try (Ranks ranks = group(worldSize)) {
            ranks.run(code);
        }
    }

    /**
     * Runs code on every rank of a fresh group, closes the group, and returns the failure of each rank.
     *
     * @param worldSize number of ranks
     * @param code      code of each rank
     * @return failures in rank order; null for a rank that did not fail
     * @throws AssertionError if a rank hangs; the error contains the stacks of the ranks that hang
     */
    default List<Throwable> outcomes(int worldSize, Ranks.RankCode code) {
        try (Ranks ranks = group(worldSize)) {
            return ranks.outcomes(Ranks.LIMIT, code);
        }
    }

    /**
     * {@return the setting {@code ferro.segment} of the groups in bytes, 512 KiB unless overridden. Some rules use
     * lengths above this setting, so that a chunk is sent in several pieces. A test of a slow back end can return a
     * smaller value}
     */
    default int segmentBytes() {
        return 512 << 10;
    }

    /**
     * {@return a number of four-byte elements that is larger than a segment, about 1.06 segments. The number is odd, so
     * that the end of the elements is not the end of a full segment}
     */
    default int aboveASegment() {
        return segmentBytes() / 4 + segmentBytes() / 64 + 3;
    }

    /**
     * {@return whether rules 101 to 108 and 610 run a selection of their calls; false unless overridden. A test returns
     * true if another test runs all calls on a back end that has the same engine and another medium. Only the bytes on
     * the medium can then differ, and not the results of the engine. Every rule and every number of ranks is in the
     * selection}
     */
    default boolean runsSelection() {
        return false;
    }

    /**
     * Returns whether the back end declares that it refuses a capability.
     *
     * @param capability name of a feature, for example {@code subgroups}
     * @return true if the back end may refuse the capability
     */
    boolean refuses(String capability);

    /**
     * Skips the running test and counts a refusal if the back end declares that it refuses a capability.
     *
     * @param capability name of a feature, for example {@code subgroups}
     */
    void needs(String capability);

    /**
     * Skips the running test if the back end refuses one of several capabilities, as {@link #needs(String)} does for
     * one capability.
     *
     * @param capabilities names of features, for example {@code subgroups}
     */
    default void needs(String... capabilities) {
        List.of(capabilities).forEach(this::needs);
    }

    /** {@return the memory of the devices that the back end is tested on; empty if operands are in host memory} */
    Optional<DeviceMemory> devices();

    /**
     * {@return the ordinal of the device of a rank}
     *
     * @param rank number of the rank, from 0
     */
    int device(int rank);

    /**
     * Counts a cell that the back end refused.
     *
     * @param what type, op or form that the back end refused
     */
    void refused(String what);
}
