package ferro.integration;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import java.time.Duration;

/**
 * A rank that sums three times, before, at and after a method at which a debugger stops rank 1. The last sum has a deadline in
 * the code. Each rank prints the events of the group.
 */
final class SumsAtABreakpoint {
    private SumsAtABreakpoint() {}

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            group.onEvent(event -> System.err.println("event " + event.kind() + " of ranks " + event.ranks()));
            int first = sum(group, group.rank() + 3);
            breakpoint();
            int second = sum(group, first + group.rank());
            int third = sum(group.within(Duration.ofMillis(1_500)), second + 10 * group.rank());
            System.out.println("sums " + first + " " + second + " " + third);
        }
    }

    private static int sum(ProcessGroup group, int own) {
        int[] sum = {own};
        group.allReduce(sum, ReduceOp.SUM);
        return sum[0];
    }

    /** Does nothing; the breakpoint is here. */
    private static void breakpoint() {}
}
