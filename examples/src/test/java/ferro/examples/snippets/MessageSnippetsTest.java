package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.HostTensor;
import ferro.MessageStatus;
import ferro.Work;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.MatchedMessage;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class MessageSnippetsTest {
    @Test
    void aMessageOfUnknownLengthIsReceived() {
        SimulatedBackend.run(2, group -> {
            if (group.rank() == 1) {
                group.send(new float[] {3, 4, 5}, 0, 0);
                return;
            }
            // @start region="status"
            float[] buffer = new float[1000];
            MessageStatus status = group.recvUpTo(HostTensor.of(buffer), 1, 0);
            float[] received = Arrays.copyOf(buffer, (int) status.elements());
            // @end
            assertArrayEquals(new float[] {3, 4, 5}, received);
        });
    }

    @Test
    void theRankThatAskedGetsTheAnswer() {
        SimulatedBackend.run(3, group -> {
            if (group.rank() > 0) {
                int[] number = {10 * group.rank()};
                group.send(number, 0, group.rank());
                group.recv(number, 0, group.rank());
                assertArrayEquals(new int[] {10 * group.rank()}, number);
                return;
            }
            for (int count = 1; count < group.worldSize(); count++) {
                // @start region="any"
                int[] task = new int[1];
                MessageStatus status = group.recv(task, ProcessGroup.ANY_SOURCE, ProcessGroup.ANY_TAG);
                group.send(task, status.source(), status.tag());
                // @end
            }
        });
    }

    @Test
    void aSendWaitsForItsReceive() {
        SimulatedBackend.run(2, group -> {
            long[] table = {3, 5};
            if (group.rank() == 1) {
                group.recv(table, 0, 0);
                return;
            }
            // @start region="untilMatched"
            group.sendUntilMatched(HostTensor.of(table), 1, 0); // rank 1 has come to its receive
            // @end
        });
    }

    @Test
    void oneCallSendsAndReceives() {
        SimulatedBackend.run(3, group -> {
            HostTensor own = HostTensor.of(new int[] {group.rank()});
            int[] data = new int[1];
            HostTensor received = HostTensor.of(data);
            // @start region="sendReceive"
            int next = (group.rank() + 1) % group.worldSize();
            int previous = (group.rank() + group.worldSize() - 1) % group.worldSize();
            group.sendReceive(own, next, received, previous, 0);
            // @end
            assertEquals(previous, data[0]);
        });
    }

    @Test
    void theReceiveThatEndsFirstIsTaken() {
        SimulatedBackend.run(3, group -> {
            if (group.rank() > 0) {
                group.send(new int[] {group.rank()}, 0, group.rank());
                return;
            }
            int[] sum = new int[1];
            Work first = group.recvAsync(new int[1], 1, 1);
            Work second = group.recvAsync(new int[1], 2, 2);
            Consumer<MessageStatus> use = status -> sum[0] += status.tag();
            // @start region="anyWork"
            List<Work> receives = new ArrayList<>(List.of(first, second));
            while (!receives.isEmpty()) {
                Work ended = receives.remove(Work.any(receives));
                ended.await();
                use.accept(ended.status().orElseThrow());
            }
            // @end
            assertEquals(3, sum[0]);
        });
    }

    @Test
    void messagesOfABlockStartTogether() {
        SimulatedBackend.run(3, group -> {
            int next = (group.rank() + 1) % group.worldSize();
            int previous = (group.rank() + group.worldSize() - 1) % group.worldSize();
            int[] own = {group.rank()};
            int[] received = new int[1];
            // @start region="blockOfMessages"
            group.coalesced(() -> {
                group.send(own, next, 0);
                group.recvAsync(received, previous, 0);
            });
            // @end
            assertEquals(previous, received[0]);
        });
    }

    @Test
    void aMatchedMessageIsReceived() {
        SimulatedBackend.run(2, group -> {
            if (group.rank() == 1) {
                group.send(new float[] {6, 7}, 0, 0);
                return;
            }
            // @start region="match"
            MatchedMessage matched = group.match(ProcessGroup.ANY_SOURCE, 0);
            float[] received = new float[(int) matched.status().elements()];
            matched.recv(HostTensor.of(received));
            // @end
            assertArrayEquals(new float[] {6, 7}, received);
        });
    }
}
