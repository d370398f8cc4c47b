package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CollectiveBackend;
import ferro.HostTensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages between ranks that share memory, beside what those do there. */
@Timeout(60)
class NearMessagesTest {
    /** Below what is sent without asking, and together above what any ring holds. */
    private static final int BYTES = 60_000;

    private static final int MESSAGES = 10;

    @ParameterizedTest
    @CsvSource({"a a, all 2 ranks share", "a a a a a, all 5 ranks share", "b a a, ranks 1-2 (host a) over shared memory"
    })
    void aRankInACollectiveReceivesMessagesOfItsHost(String hosts, String report) {
        try (Ranks ranks = Ranks.onHosts(hosts.split(" "))) {
            assertTrue(report(ranks).contains(report), report(ranks));
            ranks.each(NearMessagesTest::sendBeforeABarrierReceiveAfter);
        }
    }

    private static String report(Ranks ranks) {
        return ((CollectiveBackend) ranks.group(0).backend()).linkReport();
    }

    /** The last rank sends to all others, which have sent nothing to it. */
    private static void sendBeforeABarrierReceiveAfter(ProcessGroup group) {
        int sender = group.worldSize() - 1;
        if (group.rank() == sender) {
            for (int message = 0; message < MESSAGES * sender; message++) {
                group.send(HostTensor.of(content(message)), message % sender, 5);
            }
        }
        group.barrier();
        for (int message = group.rank(); message < MESSAGES * sender && group.rank() < sender; message += sender) {
            byte[] received = new byte[BYTES];
            group.recv(HostTensor.of(received), sender, 5);
            assertArrayEquals(content(message), received);
        }
        group.barrier();
    }

    /** Ring neighbours on other hosts have met by messages before the others' links were found. */
    @Test
    void everyPairExchangesMessagesIfOnlySomeShareMemory() {
        try (Ranks ranks = Ranks.onHosts("a", "a", "b", "c")) {
            ranks.each(NearMessagesTest::exchangeInPairs);
        }
    }

    private static void exchangeInPairs(ProcessGroup group) {
        for (int distance = 1; distance < group.worldSize(); distance++) {
            int to = (group.rank() + distance) % group.worldSize();
            int from = (group.rank() + group.worldSize() - distance) % group.worldSize();
            int[] received = new int[3];
            Work sending = group.sendAsync(HostTensor.of(new int[] {group.rank() + 4, 5, 6}), to, distance);
            group.recv(HostTensor.of(received), from, distance);
            sending.await();
            assertArrayEquals(new int[] {from + 4, 5, 6}, received);
        }
        group.barrier();
    }

    private static byte[] content(int message) {
        byte[] content = new byte[BYTES];
        Arrays.fill(content, (byte) (message + 3));
        return content;
    }
}
