package ferro.integration;

import ferro.backend.tcp.TcpStoreServer;
import ferro.harness.Child;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jobs over TCP in which each rank tells only its neighbours of failures and leaves: one late rank, and two more processes. */
@Timeout(300)
@Tag("long")
class LargeJobTest {
    /** Not adjacent to the first rank of a process. */
    private static final int LATE = 21;

    /** What happens to the process of the late rank, for which all others wait. */
    private enum GroupWithLateRank {
        IS_KILLED("failed PEER_LOST by " + LATE),
        STANDS_STILL("failed PARTITION by " + LATE),
        CALLS("has closed");

        private final String end;

        GroupWithLateRank(String end) {
            this.end = end;
        }

        void strike(Child process) throws IOException, InterruptedException {
            switch (this) {
                case IS_KILLED -> process.kill();
                case STANDS_STILL -> process.signal("STOP");
                default -> process.write("");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"64, IS_KILLED", "64, STANDS_STILL", "64, CALLS", "128, IS_KILLED", "128, STANDS_STILL", "128, CALLS"})
    @DisplayName("all ranks of a large job agree on the death and on the silence of a rank, and all close")
    void allRanksOfALargeJobAgreeOnAFailure(int worldSize, GroupWithLateRank late) throws Exception {
        List<List<Integer>> ranks = List.of(List.of(LATE), others(0, worldSize / 2), others(worldSize / 2, worldSize));
        List<Child> processes = new ArrayList<>();
        try (TcpStoreServer server =
                TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", worldSize, null)) {
            for (List<Integer> some : ranks) {
                processes.add(start(server.port(), worldSize, late, some));
            }
            awaitAll(ranks, processes, 0, "is in");
            long struckAt = System.nanoTime();
            late.strike(processes.get(0));
            awaitAll(ranks, processes, late == GroupWithLateRank.CALLS ? 0 : 1, late.end);
            if (late == GroupWithLateRank.IS_KILLED) {
                LongSummaryStatistics knew = knewAt(processes);
                System.out.printf(
                        "kill -9 of one of %d ranks: the first one knew after %.0f ms, the last one after %.0f ms%n",
                        worldSize, (knew.getMin() - struckAt) / 1e6, (knew.getMax() - struckAt) / 1e6);
            }
        } finally {
            processes.forEach(Child::close);
        }
    }

    /** Waits until each rank of the processes from one on has said something. */
    private static void awaitAll(List<List<Integer>> ranks, List<Child> said, int from, String what)
            throws InterruptedException {
        for (int process = from; process < said.size(); process++) {
            for (int rank : ranks.get(process)) {
                said.get(process).await(rank + " " + what);
            }
        }
    }

    private static LongSummaryStatistics knewAt(List<Child> said) {
        return said.stream()
                .flatMap(one -> one.outLines().stream())
                .filter(line -> line.contains(" knew at "))
                .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                .summaryStatistics();
    }

    private static List<Integer> others(int from, int to) {
        return IntStream.range(from, to).filter(rank -> rank != LATE).boxed().toList();
    }

    private static Child start(int port, int worldSize, GroupWithLateRank late, List<Integer> ranks)
            throws IOException {
        List<String> line =
                JavaLine.rank(List.of("-Xmx512m"), LargeJobRanks.class.getName(), "" + port, "" + worldSize, "" + LATE);
        // a silence is found by heartbeats, which take cores from ranks that learn of a death
        line.add("" + (late == GroupWithLateRank.STANDS_STILL));
        ranks.forEach(rank -> line.add("" + rank));
        return Child.apart(Map.of(), line);
    }
}
