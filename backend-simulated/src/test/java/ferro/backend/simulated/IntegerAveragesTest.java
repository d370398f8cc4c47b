package ferro.backend.simulated;

import static ferro.backend.simulated.CoalescedTest.LINKS;
import static ferro.backend.simulated.CoalescedTest.SHARED;
import static ferro.backend.simulated.CoalescedTest.sequence;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Averages of integers in their place of the order, over memory that the ranks share and over links. */
@Timeout(60)
class IntegerAveragesTest {
    @TempDir
    private Path folder;

    /** Near the ends of i32, and a negative number that leaves a rest. */
    private static int[] data(int rank, int length) {
        int[] data = new int[length];
        for (int index = 0; index < length; index++) {
            data[index] = switch (index % 3) {
                case 0 -> Integer.MAX_VALUE - index - rank;
                case 1 -> Integer.MIN_VALUE + index + rank;
                default -> -3 - rank * rank;
            };
        }
        return data;
    }

    private static int[] averages(int size, int length) {
        long[] sums = new long[length];
        for (int rank = 0; rank < size; rank++) {
            int[] data = data(rank, length);
            Arrays.setAll(sums, index -> sums[index] + data[index]);
        }
        return Arrays.stream(sums).mapToInt(sum -> (int) (sum / size)).toArray();
    }

    @ParameterizedTest
    @MethodSource("ferro.backend.simulated.CoalescedTest#groups")
    void aQueuedAverageReadsTheResultsOfEarlierCalls(Map<String, String> how, int size) {
        SimulatedBackend.run(size, how, group -> {
            for (int turn = 0; turn < 10; turn++) {
                byte[] bytes = {(byte) (100 + group.rank()), (byte) (-100 - group.rank()), -1};
                HostTensor tensor = HostTensor.of(bytes);
                long[] longs = {Long.MAX_VALUE - group.rank()};
                List<Work> works = new ArrayList<>();
                works.add(group.allReduceAsync(tensor, ReduceOp.AVG));
                works.add(group.allReduceAsync(tensor, ReduceOp.SUM));
                works.add(group.allReduceAsync(HostTensor.of(longs), ReduceOp.AVG));
                works.add(group.allReduceAsync(tensor, ReduceOp.AVG));
                works.forEach(Work::await);

                byte average = (byte) ((100 * size + size * (size - 1) / 2) / size);
                byte[] wanted = {(byte) (size * average), (byte) (-size * average), (byte) -size};
                assertArrayEquals(wanted, bytes, "an average, a sum of it that wraps, the average of that");
                // ranks 0 to 3 give less by 0, 0.5, 1 and 1.5 on average, toward zero
                assertEquals(Long.MAX_VALUE - size / 2, longs[0]);
            }
        });
    }

    @ParameterizedTest
    @MethodSource("ferro.backend.simulated.CoalescedTest#groups")
    void blocksOfAveragesHaveTheResultsOfSingleCalls(Map<String, String> how, int size) {
        SimulatedBackend.run(size, how, group -> {
            List<int[]> together = new ArrayList<>();
            int[] lengths = {1, 7, 0, 200, 250, 20_000, 3};
            for (int length : lengths) {
                together.add(data(group.rank(), length));
            }
            int[] sum = {5};
            long before = sequence(group);
            group.coalesced(() -> {
                together.forEach(data -> group.allReduce(data, ReduceOp.AVG));
                group.allReduce(sum, ReduceOp.SUM);
            });
            assertEquals(before + 5, sequence(group), "five joined, a long one, one behind it, a sum, a barrier");
            for (int i = 0; i < lengths.length; i++) {
                assertArrayEquals(averages(size, lengths[i]), together.get(i), "call " + i);
            }
            assertEquals(5 * size, sum[0]);
        });
    }

    @ParameterizedTest
    @MethodSource("ferro.backend.simulated.CoalescedTest#groups")
    void longAndShortAveragesShareTheMemoryOfTheGroup(Map<String, String> how, int size) {
        SimulatedBackend.run(size, how, group -> {
            for (int length : new int[] {5, 400_000, 9, 120_000, 1, 400_000, 61}) {
                HostTensor given = group.allocate(DataType.INT32, length).tensor();
                given.buffer().asIntBuffer().put(data(group.rank(), length));

                group.allReduce(given, ReduceOp.AVG);

                int[] found = new int[length];
                given.buffer().asIntBuffer().get(found);
                assertArrayEquals(averages(size, length), found, length + " elements");
            }
        });
    }

    @ParameterizedTest
    @MethodSource("ferro.backend.simulated.CoalescedTest#groups")
    void onlyTheRootGetsTheAverage(Map<String, String> how, int size) {
        SimulatedBackend.run(size, how, group -> {
            int[] data = data(group.rank(), 40);
            HostTensor tensor = HostTensor.of(data);
            int root = size - 1;
            Work first = group.submit(Collective.reduce(tensor, ReduceOp.AVG, root));
            Work second = group.submit(Collective.reduce(tensor, ReduceOp.MAX, root));
            first.await();
            second.await();

            int[] wanted = data(group.rank(), 40);
            if (group.rank() == root) {
                wanted = averages(size, 40);
                for (int rank = 0; rank < root; rank++) {
                    int[] others = data(rank, 40);
                    int[] most = wanted;
                    Arrays.setAll(wanted, index -> Math.max(most[index], others[index]));
                }
            }
            assertArrayEquals(wanted, data, "rank " + group.rank());
        });
    }

    @Test
    void aSumAndAnAverageAreAMismatchWithBothCalls() {
        for (Map<String, String> how : List.of(SHARED, LINKS)) {
            SimulatedBackend.run(2, how, group -> {
                int[] data = {7, 9, 11};
                ReduceOp op = group.rank() == 0 ? ReduceOp.SUM : ReduceOp.AVG;

                var failure = assertThrows(FerroException.class, () -> group.allReduce(data, op));

                assertEquals(Code.MISMATCH, failure.code(), failure.getMessage());
                String text = failure.getMessage();
                assertTrue(text.contains("allReduce i32[3] sum by "), text);
                assertTrue(text.contains("allReduce i32[3] avg by "), text);
                assertArrayEquals(new int[] {7, 9, 11}, data, "what was given");
            });
        }
    }

    @Test
    void theRecordHasTheCalledAverageAndItsBytes() {
        SimulatedBackend.run(2, group -> {
            group.allReduce(new short[] {3, 4, 5}, ReduceOp.AVG);
            String record = Files.readString(group.writeFlightRecord(folder));
            assertTrue(record.contains("\"text\":\"allReduce i16[3] avg by "), record);
            assertTrue(record.contains("\"bytes\":6,"), record);
        });
    }
}
