package ferro.examples.snippets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import ferro.HostTensor;
import ferro.MessageStatus;
import ferro.backend.simulated.SimulatedBackend;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The examples of messages in Javadoc. Each example is a region of this file. */
class MessageSnippetsTest {
    @Test
    void receivesAMessageOfUnknownLength() {
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
}
