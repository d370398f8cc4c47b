package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreServer;
import ferro.harness.Child;
import ferro.harness.PrintedLines;
import ferro.harness.Processes;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
@Tag("long")
class SeveralRanksTest {
    private static final List<List<Integer>> RANKS = List.of(List.of(0, 2), List.of(1, 3), List.of(4));

    @ParameterizedTest
    @CsvSource({"tcp, TCP", "auto, SHM"})
    @DisplayName("all ranks of a process that is killed are to blame, in one text, and a later death is known as lost")
    void allRanksOfAKilledProcessAreBlamedAndALaterDeathIsLost(String links, Links found) throws Exception {
        List<Child> processes = new ArrayList<>();
        try (TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 5, null)) {
            for (List<Integer> ranks : RANKS) {
                processes.add(start(server.port(), links, ranks));
            }
            for (int process = 0; process < RANKS.size(); process++) {
                for (int rank : RANKS.get(process)) {
                    String in = rank + " is in: ";
                    String line = processes.get(process).await(one -> one.startsWith(in));
                    found.assertFoundIn(line.substring(in.length()), 5);
                }
            }

            processes.get(0).kill();

            String gone = "ranks 0, 2 (pid " + processes.get(0).pid() + " on host ";
            for (int rank : new int[] {1, 3, 4}) {
                PrintedLines lines = processes.get(rank == 4 ? 2 : 1).out();
                String failed = lines.await(line -> line.startsWith(rank + " failed "));
                assertTrue(failed.startsWith(rank + " failed PEER_LOST by 0,2: "), failed);
                assertTrue(failed.contains(gone), failed);
                assertTrue(failed.contains(" are gone: their process has ended without closing its groups"), failed);
                lines.await(line -> line.equals(rank + " lost [0, 2]"));
            }

            Processes.kill(processes.get(2).pid());

            for (int rank : new int[] {1, 3}) {
                processes.get(1).await(line -> line.equals(rank + " lost [0, 2, 4]"));
                int so = processes.get(1).outLines().indexOf(rank + " lost [0, 2, 4]");
                processes.get(1).out().await(so, line -> line.equals(rank + " agrees on 0,2"));
            }
        } finally {
            processes.forEach(Child::close);
        }
    }

    private static Child start(int port, String links, List<Integer> ranks) throws IOException {
        List<String> line = JavaLine.rank(List.of("-Xmx128m"), SeveralRanks.class.getName(), "" + port, links, "5");
        ranks.forEach(rank -> line.add("" + rank));
        return Child.apart(Map.of(), line);
    }
}
