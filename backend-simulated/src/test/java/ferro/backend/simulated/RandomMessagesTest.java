package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.HostTensor;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages posted in any order on either side meet by tag, in order within a tag, under every seed. */
@Timeout(120)
class RandomMessagesTest {
    private static final int TAGS = 3;
    private static final int SMALL_MOST = 40;
    private static final int LARGE = 20_000;

    /** One message. */
    private record Message(int from, int to, int tag, int[] sent, int[] got) {}

    @Test
    void messagesAreMatchedByTagInOrder() {
        Simulation.seeds(150).forEach(RandomMessagesTest::exchange);
    }

    // @start region="seeds"
    private static void exchange(long seed) {
        Random random = new Random(seed);
        int worldSize = 2 + random.nextInt(3);
        List<Message> messages = messages(random, worldSize);
        Simulation simulation = Simulation.of(worldSize, seed);
        simulation
                .onEveryRank(group -> post(group, messages, seed))
                .check(() -> messages.forEach(
                        message -> assertEquals(Arrays.toString(message.sent), Arrays.toString(message.got))))
                .run();
    }
    // @end

    private static List<Message> messages(Random random, int worldSize) {
        List<Message> messages = new ArrayList<>();
        for (int number = 0; number < 12; number++) {
            int length = random.nextInt(4) == 0 ? LARGE + number : 1 + random.nextInt(SMALL_MOST);
            int[] sent = random.ints(length).toArray();
            int tag = random.nextInt(TAGS);
            messages.add(new Message(random.nextInt(worldSize), random.nextInt(worldSize), tag, sent, new int[length]));
        }
        return messages;
    }

    /** Posts the tags in an order of this rank's own, the messages of one tag and peer in their order. */
    private static void post(ProcessGroup group, List<Message> messages, long seed) {
        List<Integer> order =
                new ArrayList<>(IntStream.range(0, 2 * TAGS).boxed().toList());
        Collections.shuffle(order, new Random(seed * 31 + group.rank()));
        for (int lane : order) {
            for (Message message : messages) {
                boolean sends = lane < TAGS;
                if (message.tag == lane % TAGS && (sends ? message.from : message.to) == group.rank()) {
                    start(group, message, sends);
                }
            }
        }
    }

    private static void start(ProcessGroup group, Message message, boolean sends) {
        if (sends) {
            group.sendAsync(HostTensor.of(message.sent), message.to, message.tag);
        } else {
            group.recvAsync(HostTensor.of(message.got), message.from, message.tag);
        }
    }
}
