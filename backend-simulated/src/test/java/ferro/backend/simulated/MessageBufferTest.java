package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The setting for messages that no receive has matched, and the time-out that comes of it. */
@Timeout(60)
class MessageBufferTest {
    private static final String UNREAD = "wait unreceived";

    /** The last row is the bound without a setting; the messages are larger in sum than the bound. */
    @ParameterizedTest
    @CsvSource({"1MiB, 40, 1 MiB", "16MiB, 280, 16 MiB", ", 280, 16 MiB"})
    void aTimeoutBehindUnreceivedMessagesReportsTheFullBuffer(String bound, int messages, String said) {
        Map<String, String> settings = bound == null ? Map.of() : Map.of("ferro.message.buffer", bound);
        SimulatedBackend.run(2, settings, group -> {
            if (group.rank() == 1) {
                List<Work> sends = new ArrayList<>();
                for (int number = 0; number < messages; number++) {
                    sends.add(group.sendAsync(HostTensor.of(new byte[64 << 10]), 0, 3));
                }
                sends.add(group.sendAsync(HostTensor.of(new byte[] {7}), 0, 7));
                sends.forEach(Work::await);
                return;
            }
            byte[] last = new byte[1];
            String unread = timedOut(group, last, 7, UNREAD);
            assertTrue(
                    unread.endsWith("; " + said + " from rank 1 wait unreceived, so no later message is read: receive "
                            + "these first, or set a larger ferro.message.buffer"),
                    unread);
            for (int number = 0; number < messages; number++) {
                group.within(Duration.ofSeconds(15)).recv(new byte[64 << 10], 1, 3);
            }
            group.recv(last, 1, 7);
            assertEquals(7, last[0]);
        });
    }

    @Test
    void mutualSendsBeyondTheBuffersBlameNoRankAloneAndNameTheLimit() {
        SimulatedBackend.run(2, Map.of(), group -> {
            FerroException full = assertThrows(FerroException.class, () -> {
                ProcessGroup within = group.within(Duration.ofSeconds(4));
                for (int number = 0; number < 280; number++) {
                    within.send(HostTensor.of(new byte[64 << 10]), 1 - group.rank(), 3);
                }
            });
            String said = full.getMessage();
            assertEquals(FerroException.Code.TIMED_OUT, full.code(), said);
            assertEquals(Set.of(0, 1), full.where().culprits(), said);
            assertTrue(said.contains(": ranks 0, 1 wait for each other, so no rank alone is to blame: "), said);
            assertTrue(said.contains(" keeps at most 16 MiB of each rank that no receive has taken"), said);
            assertFalse(said.contains("gave up on"), said);
        });
    }

    @Test
    void oneMessageIsBufferedWhateverTheSetting() {
        SimulatedBackend.run(2, Map.of("ferro.message.buffer", "1B"), group -> {
            if (group.rank() == 1) {
                group.send(new byte[] {5}, 0, 1);
                group.send(new byte[] {6}, 0, 2);
            } else {
                byte[] received = new byte[1];
                String unread = timedOut(group, received, 2, UNREAD);
                assertTrue(unread.contains("; 1 byte from rank 1 wait unreceived"), unread);
                group.recv(received, 1, 1);
                assertEquals(5, received[0]);
                group.recv(received, 1, 2);
                assertEquals(6, received[0]);
            }
        });
    }

    @Test
    void unreceivedMessagesInASubgroupNameTheRankOfTheJoinedGroup() {
        SimulatedBackend.run(2, Map.of("ferro.message.buffer", "1B"), joined -> {
            ProcessGroup group = joined.split(0, 1 - joined.rank()).orElseThrow();
            if (group.rank() == 1) {
                group.send(new byte[] {5}, 0, 1);
            } else {
                byte[] received = new byte[1];
                String unread = timedOut(group, received, 2, UNREAD);
                assertTrue(unread.contains("; 1 byte from rank 1 (rank 0 of \""), unread);
                group.recv(received, 1, 1);
            }
            group.barrier();
            group.close();
        });
    }

    /**
     * Makes receives that time out until the message of one has a text, and returns the message. A receive does not say what
     * other ranks have not sent or answered by its deadline.
     */
    static String timedOut(ProcessGroup group, byte[] data, int tag, String wanted) {
        String text = "";
        while (!text.contains(wanted)) {
            FerroException late = assertThrows(
                    FerroException.class,
                    () -> group.within(Duration.ofMillis(200)).recv(data, 1, tag));
            assertEquals(FerroException.Code.TIMED_OUT, late.code(), late.getMessage());
            text = late.getMessage();
        }
        return text;
    }
}
