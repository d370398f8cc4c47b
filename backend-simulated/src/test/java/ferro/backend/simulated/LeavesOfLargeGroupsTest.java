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
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Calls that need a rank that has left a group in which that rank has said goodbye to its neighbours only. */
class LeavesOfLargeGroupsTest {
    private static final int SIZE = 40;
    private static final Map<String, String> SPARSE = Map.of("ferro.control.mesh.most", "4");

    @Test
    @DisplayName("a receive from a rank that leaves without having sent fails, and does not wait for its timeout")
    void aReceiveFromALeaverThatNeverSentFails() {
        for (long seed = 1; seed <= 20; seed++) {
            Work[] receive = new Work[1];
            // 0 and 7 are no neighbours; the seed draws which of them begins
            Simulation simulation = Simulation.of(SIZE, seed, SPARSE)
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
            Simulation simulation = Simulation.of(SIZE, seed, SPARSE).mayFail();
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
    void oneCallTooManyFailsBecauseOfTheLeavers() {
        for (long seed = 1; seed <= 20; seed++) {
            Simulation simulation = Simulation.of(SIZE, seed, SPARSE).mayFail();
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
                            FerroException failure =
                                    simulation.group(rank).failure().orElseThrow();
                            assertEquals(Code.PEER_LOST, failure.code(), failure.getMessage());
                            Set<Integer> culprits = failure.where().culprits();
                            assertEquals(
                                    simulation
                                            .group(0)
                                            .failure()
                                            .orElseThrow()
                                            .where()
                                            .culprits(),
                                    culprits);
                            assertTrue(culprits.stream().allMatch(one -> one % 2 == 1), culprits::toString);
                            assertTrue(failure.getMessage().contains(" left group "), failure.getMessage());
                        }
                    })
                    .run();
        }
    }

    @Test
    @DisplayName(
            "a rank that leaves a subgroup after it has aborted the parent is blamed for the abort, not for the leave")
    void aLeaveAfterTheFailureOfAParentIsNoCause() {
        for (long seed = 1; seed <= 20; seed++) {
            Simulation simulation = Simulation.of(SIZE, seed, SPARSE).mayFail();
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

    /** Has all ranks but 0 leave: first those that are no neighbours of rank 0, then its neighbours, which know of that. */
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
