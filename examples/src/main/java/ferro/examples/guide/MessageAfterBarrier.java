package ferro.examples.guide;

import ferro.group.ProcessGroup;
import java.time.Duration;

/** Two ranks that wait for each other. */
final class MessageAfterBarrier {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            int[] result = {7};
            if (group.rank() == 0) {
                group.within(Duration.ofSeconds(2)).recv(result, 1, 0);
                group.barrier(); // wrong: rank 1 makes this call before it sends
            } else {
                group.barrier();
                group.send(result, 0, 0);
            }
        }
    }
}
