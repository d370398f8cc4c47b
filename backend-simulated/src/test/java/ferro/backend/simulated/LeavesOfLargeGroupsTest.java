package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.BitSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Calls that need a rank that has left a group in which that rank has said goodbye to its neighbours only. */
class LeavesOfLargeGroupsTest {
    private static final int SIZE = 40;
    private static final SteppedRank.EngineInputs SPARSE = SteppedRank.EngineInputs.SHIPPED.withMesh(4);

    @Test
    @DisplayName("a receive from a rank that leaves without having sent fails, and does not wait for its timeout")
    void aReceiveFromARankThatLeftWithoutSendingFails() {
        for (long seed = 1; seed <= 20; seed++) {
            Work[] receive = new Work[1];
            // 0 and 7 are no neighbours; the seed draws which of them begins
            Simulation simulation = new Simulation(SIZE, seed, Map.of(), SPARSE)
                    .mayFail()
                    .onRank(0, group -> receive[0] = group.recvAsync(HostTensor.of(new int[1]), 7, 1))
                    .onRank(7, group -> group.close());
            simulation.run();

            FerroException failure = assertThrows(FerroException.class, receive[0]::await);
            assertEquals(Code.PEER_LOST, failure.code(), failure.getMessage());
            assertEquals(Set.of(7), failure.where().culprits());
            assertTrue(simulation.elapsed().compareTo(Duration.ofSeconds(3)) < 0, simulation.elapsed()::toString);
        }
    }

    @Test
    @DisplayName("a receive from any rank takes the message of a leaver, and fails once all other ranks have left")
    void aReceiveFromAnyRankFailsOnceAllOthersHaveLeft() {
        for (long seed = 1; seed <= 20; seed++) {
            Work[] sent = new Work[1];
            Work[] receives = new Work[2];
            int[] received = new int[1];
            BitSet present = new BitSet();
            Simulation simulation = new Simulation(SIZE, seed, Map.of(), SPARSE).mayFail();
            simulation.observe(rank -> closeInTwoWaves(simulation, present, sent));
            simulation
                    .onEveryRank(group -> {
                        if (group.rank() == 0) {
                            receives[0] = group.recvAsync(HostTensor.of(received), CollectiveBackend.ANY_SOURCE, 1);
                            receives[1] = group.recvAsync(HostTensor.of(new int[1]), CollectiveBackend.ANY_SOURCE, 1);
                        } else if (group.rank() == 7) {
                            sent[0] = group.sendAsync(HostTensor.of(new int[] {48}), 0, 1);
                        }
                        present.set(group.rank(), group.rank() > 0);
                    })
                    .run();

            receives[0].await();
            assertEquals(48, received[0]);
            FerroException failure = assertThrows(FerroException.class, receives[1]::await);
            assertEquals(Code.PEER_LOST, failure.code(), failure.getMessage());
            assertEquals(
                    IntStream.range(1, SIZE).boxed().collect(Collectors.toSet()),
                    failure.where().culprits());
            Duration waited = receives[1].elapsed();
            assertTrue(waited.compareTo(Duration.ofMillis(500)) < 0, waited::toString);
        }
    }

    @Test
    @DisplayName("one call too many after half of the ranks have left fails on all others, because of the leavers")
    void aCallAfterHalfOfTheRanksLeftBlamesThoseRanks() {
        for (long seed = 1; seed <= 20; seed++) {
            Simulation simulation = new Simulation(SIZE, seed, Map.of(), SPARSE).mayFail();
            Work[] first = new Work[SIZE];
            simulation.observe(rank -> leaveWhenDone(simulation, rank, first));
            simulation
                    .onEveryRank(group -> {
                        first[group.rank()] = group.allReduceAsync(new float[] {1}, ReduceOp.SUM);
                        if (group.rank() % 2 == 0) {
                            group.allReduceAsync(new float[] {1}, ReduceOp.SUM);
                        }
                    })
                    .check(() -> {
                        for (int rank = 0; rank < SIZE; rank += 2) {
                            Set<Integer> culprits = leaversThatFailed(simulation, rank);
                            assertEquals(leaversThatFailed(simulation, 0), culprits);
                            assertTrue(culprits.stream().allMatch(one -> one % 2 == 1), culprits::toString);
                        }
                    })
                    .run();
        }
    }

    /** Returns the ranks that have failed the group on a rank because they left. */
    private static Set<Integer> leaversThatFailed(Simulation simulation, int rank) {
        FerroException failure = simulation.group(rank).failure().orElseThrow();
        assertEquals(Code.PEER_LOST, failure.code(), failure.getMessage());
        assertTrue(failure.getMessage().contains(" left group "), failure.getMessage());
        return failure.where().culprits();
    }

    /** A run in which half of the ranks leave after one call, and the others go on in a subgroup before they call once more. */
    private static final class Rest {
        private static final Duration LEAVES_ARE_KNOWN = Duration.ofSeconds(1);

        private final Simulation simulation;
        private final BitSet leavers = new BitSet();
        private final int[] rest;
        private final Work[] first = new Work[SIZE];
        private final ProcessGroup[] parts = new ProcessGroup[SIZE];
        private final Work[] last = new Work[SIZE];
        private final int[] rounds = new int[SIZE];
        /** Rounds in the subgroup; 0 as long as they go on. */
        private int limit;

        Rest(long seed) {
            simulation = new Simulation(SIZE, seed, Map.of(), SPARSE).mayFail();
            Random random = new Random(seed);
            while (leavers.cardinality() < SIZE / 2) {
                leavers.set(random.nextInt(SIZE));
            }
            rest = IntStream.range(0, SIZE).filter(rank -> !leavers.get(rank)).toArray();
        }

        void run() {
            simulation.observe(this::note);
            simulation
                    .onEveryRank(group -> {
                        first[group.rank()] = group.allReduceAsync(new float[] {1}, ReduceOp.SUM);
                        if (!leavers.get(group.rank())) {
                            simulation.newGroup(group, rest).thenAccept(part -> parts[group.rank()] = part);
                        }
                    })
                    .check(this::check)
                    .run();
        }

        private void note(int rank) {
            if (rank < 0 || first[rank] == null || !first[rank].isDone()) {
                return;
            }
            if (leavers.get(rank)) {
                first[rank] = null;
                simulation.group(rank).close();
            } else if (parts[rank] != null && (last[rank] == null || last[rank].isDone())) {
                goOn(rank);
            }
        }

        private void goOn(int rank) {
            if (limit == 0 && simulation.elapsed().compareTo(LEAVES_ARE_KNOWN) > 0) {
                limit = IntStream.of(rounds).max().orElseThrow();
            }
            if (limit == 0 || rounds[rank] < limit) {
                if (last[rank] != null) {
                    last[rank].await();
                }
                rounds[rank]++;
                last[rank] = parts[rank].allReduceAsync(new float[] {1}, ReduceOp.SUM);
            } else if (rounds[rank] == limit) {
                rounds[rank]++;
                callOnceMore(simulation.group(rank));
            }
        }

        private static void callOnceMore(ProcessGroup world) {
            try {
                world.allReduceAsync(new float[] {1}, ReduceOp.SUM);
            } catch (FerroException known) {
                assertEquals(Code.PEER_LOST, known.code(), known.getMessage());
            }
        }

        private void check() {
            for (int rank : rest) {
                assertEquals(Optional.empty(), parts[rank].failure());
                Set<Integer> culprits = leaversThatFailed(simulation, rank);
                assertTrue(culprits.contains(leavers.nextSetBit(0)), culprits::toString);
                assertTrue(culprits.stream().allMatch(leavers::get), culprits::toString);
            }
        }
    }

    @Test
    @DisplayName(
            "half of the ranks leave, the others go on, and one call too many names the lowest leaver on all of them")
    void remainingRanksContinueAndALaterCallNamesTheLowestLeave() {
        for (long seed = 1; seed <= 10; seed++) {
            new Rest(seed).run();
        }
    }

    @Test
    @DisplayName(
            "a rank that leaves a subgroup after it has aborted the parent is blamed for the abort, not for the leave")
    void aLeaveAfterTheFailureOfTheParentIsNotTheCause() {
        for (long seed = 1; seed <= 20; seed++) {
            Simulation simulation = new Simulation(SIZE, seed, Map.of(), SPARSE).mayFail();
            int[] members = IntStream.range(0, SIZE).toArray();
            ProcessGroup[] parts = new ProcessGroup[SIZE];
            ProcessGroup[] world = new ProcessGroup[1];
            simulation.observe(rank -> {
                if (world[0] != null && Stream.of(parts).allMatch(Objects::nonNull)) {
                    ProcessGroup all = world[0];
                    world[0] = null;
                    all.abort(new IllegalStateException("loss is not a number"));
                    parts[7].close();
                }
            });
            simulation
                    .onEveryRank(group -> {
                        world[0] = group.rank() == 7 ? group : world[0];
                        simulation.newGroup(group, members).thenAccept(part -> {
                            parts[group.rank()] = part;
                            if (group.rank() != 7) {
                                part.allReduceAsync(new float[] {1}, ReduceOp.SUM);
                            }
                        });
                    })
                    .check(() -> {
                        for (int rank = 0; rank < SIZE; rank++) {
                            if (rank != 7) {
                                FerroException failure = parts[rank].failure().orElseThrow();
                                assertEquals(Code.ABORTED, failure.code(), failure.getMessage());
                                assertEquals(Set.of(7), failure.where().culprits());
                            }
                        }
                    })
                    .run();
        }
    }

    /** Makes all ranks but 0 leave: first those that are not neighbours of rank 0, then its neighbours, which know it. */
    private static void closeInTwoWaves(Simulation simulation, BitSet present, Work[] sent) {
        boolean isLater = simulation.elapsed().compareTo(Duration.ofMillis(200)) > 0;
        BitSet leavers = (BitSet) present.clone();
        leavers.stream()
                .filter(rank -> isLater || Integer.bitCount(rank) > 1 && Integer.bitCount(SIZE - rank) > 1)
                .filter(rank -> rank != 7 || sent[0].isDone())
                .forEach(rank -> {
                    present.clear(rank);
                    simulation.group(rank).close();
                });
    }

    /** Has a rank with an odd number leave after its only call. */
    private static void leaveWhenDone(Simulation simulation, int rank, Work[] first) {
        if (rank >= 0 && rank % 2 == 1 && first[rank] != null && first[rank].isDone()) {
            first[rank] = null;
            simulation.group(rank).close();
        }
    }
}
