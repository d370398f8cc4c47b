package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.tcp.TcpStoreServer;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A rank that is killed once it has said goodbye, while another has not yet taken what it sent over TCP. */
@Timeout(120)
class KilledLeaverTest {
    private static final int WORLD_SIZE = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void rankThatIsKilledInItsLastCloseTakesNothingOfWhatItHasSentWithIt() throws Exception {
        List<Process> ranks = new ArrayList<>();
        try (TcpStoreServer store =
                TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", WORLD_SIZE, null)) {
            List<PrintedLines> said = new ArrayList<>();
            for (int rank = 0; rank < WORLD_SIZE; rank++) {
                Process process = start(rank, store.port());
                ranks.add(process);
                said.add(new PrintedLines(process.getInputStream(), "rank " + rank, PATIENCE));
            }
            for (PrintedLines rank : said) {
                String report = rank.next();
                assertTrue(report.endsWith("do not share memory: ferro.links=tcp"), report);
            }
            String heard = said.get(2).next();
            assertTrue(heard.startsWith("heard: ") && heard.matches(".*ranks? 0\\b.* left .*"), heard);

            Processes.kill(ranks.get(0).pid());
            Processes.awaitEnd(ranks.get(0).pid(), PATIENCE);
            ranks.get(1).getOutputStream().write('\n');
            ranks.get(1).getOutputStream().flush();

            PrintedLines late = said.get(1);
            assertEquals("broadcast: 12000", late.next());
            for (int message = 0; message < LeavesBeforeTheLate.MESSAGES; message++) {
                assertEquals("message " + message + ": " + 4_000 * message, late.next());
            }
            String then = late.next();
            assertTrue(then.startsWith("then: PEER_LOST ") && then.matches(".*ranks? 0\\b.* left .*"), then);
        } finally {
            ranks.forEach(rank -> Processes.kill(rank.pid()));
        }
    }

    private static Process start(int rank, int port) throws IOException {
        List<String> options = List.of(
                "-Xmx64m", "-Dferro.backend=tcp", "-Dferro.links=tcp", "-Dferro.rendezvous=tcp://127.0.0.1:" + port);
        ProcessBuilder builder = new ProcessBuilder(JavaLine.rank(options, LeavesBeforeTheLate.class.getName()));
        builder.environment().put("RANK", "" + rank);
        builder.environment().put("WORLD_SIZE", "" + WORLD_SIZE);
        builder.environment().put("FERRO_STORE_SERVED", "1");
        return builder.redirectError(Redirect.INHERIT).start();
    }
}
