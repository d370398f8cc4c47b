package ferro.tck;

import ferro.dispatch.DeviceMemory;
import ferro.group.ProcessGroup;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The rules that ranks in separate processes can run, for example on the devices of several hosts. All ranks run the
 * same rules in the same order. A main program can run the rules without a JUnit launcher.
 *
 * <p>This class has the methods of all rules, and runs the rules whose ranks share only their group ({@link
 * Rule#apart}). The results of each rank are compared with a plain loop. Results of different processes are not
 * compared with each other.
 */
public final class RankContract
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
    private final Supplier<ProcessGroup> groups;
    private final Set<String> declaredRefusals;
    private final Optional<DeviceMemory> memory;
    private final int device;
    private final boolean isSelection;
    private final Map<String, Integer> refusals = new ConcurrentSkipListMap<>();

    private RankContract(
            Supplier<ProcessGroup> groups,
            Set<String> declaredRefusals,
            Optional<DeviceMemory> memory,
            int device,
            boolean isSelection) {
        this.groups = Objects.requireNonNull(groups, "groups");
        this.declaredRefusals = Set.copyOf(declaredRefusals);
        this.memory = memory;
        this.device = device;
        this.isSelection = isSelection;
    }

    /**
     * Creates the rules with operands in host memory.
     *
     * @param groups           function that makes a fresh group of all ranks with each call; the rules close the group
     * @param declaredRefusals names of features that the back end does not have, as in
     *     {@link BackendContract#declaredRefusals}
     * @return rules
     */
    public static RankContract onHost(Supplier<ProcessGroup> groups, Set<String> declaredRefusals) {
        return new RankContract(groups, declaredRefusals, Optional.empty(), -1, false);
    }

    /**
     * Creates the rules with operands on a device.
     *
     * @param groups           function that makes a fresh group of all ranks with each call; the rules close the group
     * @param declaredRefusals names of features that the back end does not have, as in
     *     {@link BackendContract#declaredRefusals}
     * @param memory           device memory for the operands
     * @param device           device of this rank
     * @return rules
     */
    public static RankContract onDevice(
            Supplier<ProcessGroup> groups, Set<String> declaredRefusals, DeviceMemory memory, int device) {
        return new RankContract(groups, declaredRefusals, Optional.of(memory), device, false);
    }

    /**
     * {@return a copy of these rules with a selection of their calls ({@link #runsSelection}), for a back end that
     * another test checks in full}
     */
    public RankContract withSelection() {
        return new RankContract(groups, declaredRefusals, memory, device, true);
    }

    /** A rule of the contract with a fixed number of ranks. */
    public final class RankRule {
        private final Method test;
        private final int worldSize;

        private RankRule(Method test, int worldSize) {
            this.test = test;
            this.worldSize = worldSize;
        }

        /** {@return the number of the rule in docs/contract.md} */
        public int number() {
            return test.getAnnotation(Rule.class).value();
        }

        /** {@return the name of the test method, which is the statement of the rule} */
        public String name() {
            return test.getName();
        }

        /**
         * Checks the rule. All other ranks must call this method at the same time.
         *
         * @return how often the back end refused each declared feature, in the order of the names; only rank 0 counts
         *     refusals
         * @throws AssertionError if the back end breaks the rule
         */
        public Map<String, Integer> run() {
            refusals.clear();
            try {
                needs(test.getAnnotation(Rule.class).needs());
                RuleExtension.run(RankContract.this, test, worldSize);
            } catch (AssertionError broken) {
                throw broken;
            } catch (Throwable broken) {
                throw new AssertionError(this + ": " + broken, broken);
            }
            return Collections.unmodifiableMap(new TreeMap<>(refusals));
        }

        /** Returns the number of the rule, its name and the number of ranks. */
        @Override
        public String toString() {
            return "rule " + number() + " " + name() + " of " + worldSize + " ranks";
        }
    }

    /**
     * Returns the rules that ranks in separate processes can run.
     *
     * @param worldSize number of ranks
     * @return rules of the contract for this number of ranks, in the order of their numbers
     */
    public List<RankRule> rules(int worldSize) {
        return Stream.of(RankContract.class.getMethods())
                .filter(method -> asksFor(method, worldSize))
                .map(method -> new RankRule(method, worldSize))
                .sorted(Comparator.comparingInt(RankRule::number))
                .toList();
    }

    private static boolean asksFor(Method method, int worldSize) {
        Rule rule = method.getAnnotation(Rule.class);
        return rule != null && rule.apart() && IntStream.of(rule.ranks()).anyMatch(size -> size == worldSize);
    }

    @Override
    public Ranks group(int worldSize) {
        ProcessGroup group = groups.get();
        if (group.worldSize() != worldSize) {
            throw new AssertionError("the rule needs " + worldSize + " ranks, found " + group.worldSize());
        }
        return Ranks.apart(group);
    }

    @Override
    public Ranks group(List<Map<String, String>> settingsByRank) {
        throw new UnsupportedOperationException(
                "a rank takes its settings from its process, found settings of " + settingsByRank.size() + " ranks");
    }

    @Override
    public boolean runsSelection() {
        return isSelection;
    }

    @Override
    public boolean refuses(String capability) {
        return declaredRefusals.contains(capability);
    }

    @Override
    public void needs(String capability) {
        if (refuses(capability)) {
            throw new UnsupportedOperationException(
                    "declared refusal: " + capability + "; without a JUnit launcher the rule cannot be skipped");
        }
    }

    @Override
    public Optional<DeviceMemory> devices() {
        return memory;
    }

    @Override
    public int device(int rank) {
        return device;
    }

    @Override
    public void refused(String what) {
        refusals.merge(what, 1, Integer::sum);
    }
}
