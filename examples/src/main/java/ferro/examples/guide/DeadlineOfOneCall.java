package ferro.examples.guide;

import ferro.group.ProcessGroup;
import java.time.Duration;

/** Waits two seconds for a rank that does not make the call. */
final class DeadlineOfOneCall {
    public static void main(String[] arguments) throws InterruptedException {
        try (ProcessGroup group = ProcessGroup.join()) {
            if (group.rank() == 1) {
                Thread.sleep(60_000); // a rank that is busy with other work
            }
            group.within(Duration.ofSeconds(2)).barrier();
            System.out.println("all ranks are here");
        }
    }
}
