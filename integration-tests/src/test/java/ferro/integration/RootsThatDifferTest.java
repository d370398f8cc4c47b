package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.simulated.Fault;
import ferro.backend.simulated.Simulation;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import ferro.harness.Ranks.Ended;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Roots that differ in every pattern that three to five ranks can have: who is blamed, and what is said. */
@Timeout(300)
class RootsThatDifferTest {
    private static final int SEEDS = 200;
    private static final Duration LATE = Duration.ofMillis(25);
    private static final int LATE_STEPS = 12;
    private static final int TRIES_MOST = 20;
    private static final int[] LENGTHS = {4, 0, 1000, 40_000};
    private static final List<String> KINDS = List.of("broadcast", "reduce", "gather", "scatter");
    private static final Pattern SAID = Pattern.compile("rank (\\d) (\\w+) f32\\[\\d+](?: sum)? root (\\d) by \\w+");
    private static final List<int[]> PATTERNS = patterns();

    /** Returns the ways to split ranks into at least two parts, as the number of each rank's part. */
    private static List<int[]> patterns() {
        List<int[]> patterns = new ArrayList<>();
        for (int worldSize = 3; worldSize <= 5; worldSize++) {
            addPatterns(new int[worldSize], 1, 1, patterns);
        }
        return patterns;
    }

    private static void addPatterns(int[] parts, int rank, int used, List<int[]> patterns) {
        if (rank == parts.length) {
            if (used > 1) {
                patterns.add(parts.clone());
            }
            return;
        }
        for (int part = 0; part <= used; part++) {
            parts[rank] = part;
            addPatterns(parts, rank + 1, Math.max(used, part + 1), patterns);
        }
    }

    /** One round: the same kind and length on all ranks, roots by the pattern of that number. */
    private record Round(int number) {
        int[] roots() {
            int[] parts = PATTERNS.get(number % PATTERNS.size());
            return Arrays.stream(parts)
                    .map(part -> (part + number) % parts.length)
                    .toArray();
        }

        int worldSize() {
            return PATTERNS.get(number % PATTERNS.size()).length;
        }

        String kind() {
            return KINDS.get(number % KINDS.size());
        }

        private HostTensor floats(int times) {
            return HostTensor.of(new float[times * LENGTHS[number / KINDS.size() % LENGTHS.length]]);
        }

        Work call(ProcessGroup group) {
            int root = roots()[group.rank()];
            int all = group.worldSize();
            return switch (kind()) {
                case "broadcast" -> group.broadcastAsync(floats(1), root);
                case "reduce" -> group.reduceAsync(floats(1), ReduceOp.SUM, root);
                case "gather" -> group.gatherAsync(floats(1), floats(all), root);
                default -> group.scatterAsync(floats(all), floats(1), root);
            };
        }

        @Override
        public String toString() {
            return kind() + " with roots " + Arrays.toString(roots()) + ", round " + number;
        }
    }

    /** Holds a failure against the roots; returns how many ranks' calls it knows. */
    private static int check(Round round, FerroException failure) {
        String said = round + ": " + failure.getMessage();
        assertEquals(Code.MISMATCH, failure.code(), said);
        Map<Integer, Integer> known = new TreeMap<>();
        for (Matcher call = SAID.matcher(failure.getMessage()); call.find(); ) {
            int rank = Integer.parseInt(call.group(1));
            known.put(rank, Integer.parseInt(call.group(3)));
            assertEquals(round.kind(), call.group(2), said);
            assertEquals(round.roots()[rank], known.get(rank), said);
        }
        assertTrue(known.size() >= 2, "the calls of both sides in: " + said);
        assertTrue(!failure.getMessage().contains("fingerprint"), said);
        assertEquals(odd(known), Culprits.of(failure), said);
        return known.size();
    }

    /** Those that differ from more than half, else all. */
    private static String odd(Map<Integer, Integer> known) {
        BitSet odd = new BitSet();
        known.keySet().forEach(odd::set);
        for (int root : known.values()) {
            long same = known.values().stream().filter(other -> other == root).count();
            if (2 * same > known.size()) {
                known.forEach((rank, other) -> odd.set(rank, other != root));
            }
        }
        return odd.stream().mapToObj(Integer::toString).collect(Collectors.joining(","));
    }

    @Test
    @DisplayName(
            "row 16: under seeds all ranks blame those whose root differs from most, with all calls in words, also if one"
                    + " comes late to its call")
    void underSeedsAllRanksBlameTheDifferentRoots() {
        Simulation.seeds(SEEDS).forEach(seed -> {
            Round round = new Round((int) seed);
            ProcessGroup[] groups = new ProcessGroup[round.worldSize()];
            Simulation.of(groups.length, seed)
                    .faults(List.of(new Fault.Pause(seed % LATE_STEPS, (int) (seed / 2 % groups.length), LATE)))
                    .onEveryRank(group -> {
                        groups[group.rank()] = group;
                        round.call(group);
                        group.barrierAsync();
                    })
                    .check(() -> {
                        for (ProcessGroup group : groups) {
                            FerroException failure = group.failure().orElse(null);
                            assertNotNull(failure, round + ": rank " + group.rank() + " knows of nothing");
                            assertEquals(groups.length, check(round, failure), "calls in: " + failure.getMessage());
                        }
                    })
                    .run();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"simulated", "tcp", "shm"})
    @DisplayName("row 16: all ranks blame those whose root differs from most, with all calls in words")
    @Tag("long")
    void allRanksBlameTheDifferentRoots(String medium) {
        for (int worldSize = 3; worldSize <= 5; worldSize++) {
            try (Ranks ranks = Ranks.over(medium, worldSize)) {
                int size = worldSize;
                IntStream.range(0, PATTERNS.size())
                        .mapToObj(Round::new)
                        .filter(round -> round.worldSize() == size)
                        .forEach(round -> holdWhole(ranks, round));
            }
        }
    }

    /** Repeats a round until all ranks know all calls: on a busy machine one may come to its call too late to be known. */
    private static void holdWhole(Ranks ranks, Round round) {
        int tries = 1;
        while (!hold(ranks, round)) {
            assertTrue(tries++ < TRIES_MOST, round + ": all calls were known in none of " + TRIES_MOST + " tries");
        }
    }

    /** Has a group of its own fail; returns whether all ranks knew all calls. */
    private static boolean hold(Ranks ranks, Round round) {
        int[] all = IntStream.range(0, round.worldSize()).toArray();
        List<Ended> ended = ranks.ends(group -> {
            try (ProcessGroup part = group.newGroup(all)) {
                round.call(part).await();
                // a rank that only sent in the first call receives from all others in this call
                float[] given = new float[2 * all.length];
                part.allToAll(HostTensor.of(given), HostTensor.of(new float[given.length]));
                // whom the others have sent all to may be done with both: it is to stay until they have found out
                part.barrier();
            }
        });
        boolean whole = true;
        for (int rank = 0; rank < all.length; rank++) {
            FerroException failure = ended.get(rank).failure();
            assertNotNull(failure, round + ": rank " + rank + " ended well");
            whole &= check(round, failure) == all.length;
        }
        return whole;
    }
}
