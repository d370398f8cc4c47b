package ferro.tck;

import ferro.dispatch.DeviceMemory;
import ferro.group.ProcessGroup;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The rules that one rank can run while its peers are in processes of their own, as on the devices of several machines. All
 * ranks run the same rules in the same order. A main program can do that; a launcher of JUnit is not needed.
 *
 * <p>These are the rules whose ranks share nothing but their group: {@link Rule#apart}. The results of each rank are compared
 * with a plain loop; those of ranks in other processes are not compared with each other.
 */
public final class RankContract implements CollectiveRules, ResultRules, MessageRules {
    private final Supplier<ProcessGroup> groups;
    private final Set<String> declaredRefusals;
    private final Optional<DeviceMemory> memory;
    private final int device;
    private final Map<String, Integer> refusals = new ConcurrentSkipListMap<>();

    private RankContract(
            Supplier<ProcessGroup> groups, Set<String> declaredRefusals, Optional<DeviceMemory> memory, int device) {
        this.groups = Objects.requireNonNull(groups, "groups");
        this.declaredRefusals = Set.copyOf(declaredRefusals);
        this.memory = memory;
        this.device = device;
    }

    /**
     * Makes the rules with operands in host memory.
     *
     * @param groups           makes a fresh group of all ranks with each call; the rules close it
     * @param declaredRefusals as {@link BackendContract#declaredRefusals}
     * @return rules
     */
    public static RankContract onHost(Supplier<ProcessGroup> groups, Set<String> declaredRefusals) {
        return new RankContract(groups, declaredRefusals, Optional.empty(), -1);
    }

    /**
     * Makes the rules with operands on a device.
     *
     * @param groups           makes a fresh group of all ranks with each call; the rules close it
     * @param declaredRefusals as {@link BackendContract#declaredRefusals}
     * @param memory           where operands are put
     * @param device           this rank's device
     * @return rules
     */
    public static RankContract onDevice(
            Supplier<ProcessGroup> groups, Set<String> declaredRefusals, DeviceMemory memory, int device) {
        return new RankContract(groups, declaredRefusals, Optional.of(memory), device);
    }

    /** One rule for a number of ranks. */
    public final class RankRule {
        private final Method test;
        private final int worldSize;

        private RankRule(Method test, int worldSize) {
            this.test = test;
            this.worldSize = worldSize;
        }

        /**
         * Returns the number of the rule.
         *
         * @return as in docs/contract.md
         */
        public int number() {
            return test.getAnnotation(Rule.class).value();
        }

        /**
         * Returns what the rule says.
         *
         * @return name of its test
         */
        public String name() {
            return test.getName();
        }

        /**
         * Checks the rule; the other ranks do the same meanwhile.
         *
         * @return what was refused as declared, and how often; only rank 0 counts
         * @throws AssertionError if the back end breaks the rule
         */
        public Map<String, Integer> run() {
            refusals.clear();
            try {
                test.invoke(RankContract.this, worldSize);
            } catch (InvocationTargetException broken) {
                throw broken.getCause() instanceof AssertionError error
                        ? error
                        : new AssertionError(this + ": " + broken.getCause(), broken.getCause());
            } catch (IllegalAccessException closed) {
                throw new AssertionError(this + " cannot be called", closed);
            }
            return Map.copyOf(refusals);
        }

        /** Returns number, name and ranks. */
        @Override
        public String toString() {
            return "rule " + number() + " " + name() + " of " + worldSize + " ranks";
        }
    }

    /**
     * Returns the rules that ranks can run apart.
     *
     * @param worldSize number of ranks
     * @return those that the contract asks of so many ranks, by number
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
        if (rule == null || !rule.apart()) {
            return false;
        }
        ValueSource sizes = method.isAnnotationPresent(EachSize.class)
                ? EachSize.class.getAnnotation(ValueSource.class)
                : method.getAnnotation(ValueSource.class);
        return IntStream.of(sizes.ints()).anyMatch(size -> size == worldSize);
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
                "a rank has the settings of its process, found " + settingsByRank.size() + " for all ranks");
    }

    @Override
    public boolean refuses(String capability) {
        return declaredRefusals.contains(capability);
    }

    @Override
    public void needs(String capability) {
        if (refuses(capability)) {
            throw new UnsupportedOperationException(
                    "declared refusal: " + capability + ", and no launcher skips a rule here");
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
