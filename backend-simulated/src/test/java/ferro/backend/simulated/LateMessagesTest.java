package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sends and receives that have waited for a quarter of their timeouts. */
class LateMessagesTest {
    private final List<List<GroupEvent>> late = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());

    private void run(String timeout, Consumer<ProcessGroup> body) {
        Simulation ranks = Simulation.of(3, 7, Map.of("ferro.timeout", timeout)).onEveryRank(group -> {
            group.onEvent(event -> {
                if (event.kind() == GroupEvent.Kind.LATE) {
                    late.get(group.rank()).add(event);
                }
            });
            body.accept(group);
        });
        // the messages time out in the end
        assertTrue(assertThrows(AssertionError.class, ranks::run).getMessage().contains("TIMED_OUT"));
    }

    private static void receive(ProcessGroup group, int from, int tag) {
        group.recvAsync(HostTensor.of(new int[1]), from, tag);
    }

    private GroupEvent only(int rank) {
        assertEquals(1, late.get(rank).size(), late.get(rank)::toString);
        return late.get(rank).get(0);
    }

    @Test
    void severalWaitingReceivesFromARankAreOneEvent() {
        run("8s", group -> {
            for (int tag = 1; group.rank() == 0 && tag <= 3; tag++) {
                receive(group, 1, tag);
            }
        });

        GroupEvent event = only(0);
        assertEquals(List.of(1), event.ranks());
        assertTrue(
                event.text()
                        .matches(
                                "rank 0 of \"[^\"]+\" waits for rank 1 after 20\\d\\d ms at recv from rank 1 tag 1 and 2"
                                        + " more: rank 1 is in no call of ferro"),
                event::text);
        assertEquals(List.of(), late.get(1));
    }

    @Test
    void anUnreceivedSendIsReportedLate() {
        run("8s", group -> {
            if (group.rank() == 2) {
                group.sendAsync(HostTensor.of(new double[100_000]), 1, 5);
            }
        });
        assertTrue(only(2).text().contains(" ms at send to rank 1 tag 5"), only(2)::text);
    }

    @Test
    void theEndOfAChainOfWaitingRanksIsNamedFirst() {
        run("8s", group -> {
            if (group.rank() < 2) {
                receive(group, group.rank() + 1, 4);
            }
        });
        assertEquals(List.of(2), only(0).ranks());
        assertTrue(
                only(0).text().contains("waits for rank 2, at the end of the wait chain of rank 1, after"),
                only(0)::text);
    }

    @Test
    @Timeout(120)
    void aWaitChainInASubgroupHasTheNumbersOfTheJoinedGroup() {
        CountDownLatch heard = new CountDownLatch(1);
        SimulatedBackend.run(3, Map.of(), joined -> {
            ProcessGroup group = joined.split(0, (joined.rank() + 1) % 3).orElseThrow();
            switch (group.rank()) {
                case 0 -> {
                    String text = MessageBufferTest.timedOut(group, new byte[1], 4, "wait chain");
                    heard.countDown();
                    assertTrue(
                            text.contains("gave up on rank 2 (rank 1 of \"simulated\"), at the end of the wait chain of"
                                    + " rank 1 (rank 0 of \"simulated\"), after "),
                            text);
                }
                case 1 -> group.recv(new int[1], 2, 4);
                default -> {
                    assertTrue(heard.await(60, TimeUnit.SECONDS));
                    group.send(new int[1], 1, 4);
                }
            }
            group.barrier();
            group.close();
        });
    }

    /** Rank 1 sends too, or receives a message of another tag. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aDeadlockOfSendsIsReportedWithAdvice(boolean bothSend) {
        SimulatedBackend.run(2, Map.of("ferro.timeout", "4s"), group -> {
            boolean sends = bothSend || group.rank() == 0;
            FerroException failure = assertThrows(FerroException.class, () -> {
                if (sends) {
                    group.send(new double[100_000], 1 - group.rank(), 5);
                } else {
                    group.recv(new double[1], 0, 6);
                }
            });
            assertEquals(
                    bothSend,
                    failure.getMessage()
                            .endsWith(
                                    "; each rank sends before it receives: use sendReceive, or sendAsync before the recv"),
                    failure.getMessage());
        });
    }

    @Test
    void ranksThatWaitForEachOtherAreNamedTogether() {
        run("8s", group -> receive(group, (group.rank() + 1) % 3, 4));
        for (int rank = 0; rank < 3; rank++) {
            String text = only(rank).text();
            assertEquals(List.of(0, 1, 2), only(rank).ranks());
            assertTrue(text.contains(": ranks 0, 1, 2 wait for each other, so no rank alone is to blame: "), text);
        }
    }

    @Test
    void aReceiveFromAnyRankIsLateOnlyIfNoRankCanSend() {
        run("8s", group -> {
            if (group.rank() == 0) {
                receive(group, ProcessGroup.ANY_SOURCE, 4);
            }
        });
        late.forEach(events -> assertEquals(List.of(), events));

        run("8s", group -> receive(group, ProcessGroup.ANY_SOURCE, 4));
        for (int rank = 0; rank < 3; rank++) {
            assertEquals(List.of(0, 1, 2), only(rank).ranks());
            assertTrue(only(rank).text().contains("wait for each other"), only(rank)::text);
        }
    }

    @Test
    void aReceiveFromOneRankIsLateBesideAReceiveFromAnyRank() {
        run("8s", group -> {
            if (group.rank() == 0) {
                receive(group, ProcessGroup.ANY_SOURCE, 4);
                receive(group, 1, 5);
            }
        });
        assertEquals(List.of(1), only(0).ranks());
        assertTrue(only(0).text().contains(" ms at recv from rank 1 tag 5: rank 1 is"), only(0)::text);
    }

    @Test
    void aShortTimeoutCausesNoEvent() {
        run("900ms", group -> receive(group, (group.rank() + 1) % 3, 4));
        late.forEach(events -> assertEquals(List.of(), events));
    }
}
