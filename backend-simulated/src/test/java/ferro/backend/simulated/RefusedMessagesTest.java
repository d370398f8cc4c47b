package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.HostTensor;
import ferro.MessageStatus;
import org.junit.jupiter.api.Test;

/** Messages whose tensors overlap are refused before anything moves. */
class RefusedMessagesTest {
    @Test
    void anExchangeOfOverlappingTensorsIsRefusedAndTakesNoMessage() {
        SimulatedBackend.run(2, group -> {
            int peer = 1 - group.rank();
            HostTensor data = HostTensor.of(new int[] {1, 2, 3});

            IllegalArgumentException overlap = assertThrows(
                    IllegalArgumentException.class,
                    () -> group.sendReceive(data.slice(0, 2), peer, data.slice(1, 2), peer, 7));

            assertTrue(overlap.getMessage().contains("overlap"), overlap.getMessage());
            int[] received = new int[1];
            MessageStatus status =
                    group.sendReceive(HostTensor.of(new int[] {group.rank()}), peer, HostTensor.of(received), peer, 7);
            assertEquals(MessageStatus.of(peer, 7, DataType.INT32, 4), status);
            assertArrayEquals(new int[] {peer}, received);
        });
    }

    @Test
    void halvesOfOneArrayAreExchanged() {
        SimulatedBackend.run(2, group -> {
            int peer = 1 - group.rank();
            int[] data = {group.rank(), -1};
            HostTensor both = HostTensor.of(data);

            group.sendReceive(both.slice(0, 1), peer, both.slice(1, 1), peer, 7);

            assertArrayEquals(new int[] {group.rank(), peer}, data);
        });
    }
}
