package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.fail;

import ferro.ReduceOp;
import ferro.collectives.CollectiveEngine;
import ferro.collectives.engine.LoopTransport.Sent;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** From a call to the link there are these frames and no more: each is a place that a reader of the engine must know. */
@Timeout(60)
class FramesToTheLinkTest {
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final int MOST_CALLS = 100;

    private final LoopTransport transport = new LoopTransport();

    @Test
    void aCollectiveReachesTheLinkByTheseFramesOnly() {
        for (List<String> stack : stacks(group -> group.allReduce(new float[] {3, 5}, ReduceOp.SUM))) {
            assertEquals(
                    List.of(
                            "LoopLink.send",
                            "PlanRun.post",
                            "LinkExecutor.advance",
                            "ProgressLoop.run",
                            "OperationQueue.run",
                            "GroupEngine.run"),
                    upTo("GroupEngine.run", stack));
        }
    }

    @Test
    void aMessageReachesTheLinkByTheseFramesOnly() {
        List<List<String>> stacks = stacks(group -> group.send(new float[] {3, 5}, 1, 7));

        assertEquals(2, stacks.size(), "envelope and elements");
        for (List<String> stack : stacks) {
            assertEquals(
                    List.of(
                            "LoopLink.send",
                            "PeerMessageChannel.advance",
                            "PointToPointQueue.advance",
                            "ProgressLoop.run",
                            "ProgressLoop.await",
                            "PendingWork.await"),
                    upTo("PendingWork.await", stack));
        }
    }

    /**
     * Returns the stacks of a call's sends. A caller that loses its core between handing in and waiting finds the work done by the
     * progress thread; such a call is made again.
     */
    private List<List<String>> stacks(Consumer<ProcessGroup> call) {
        SystemContext context = SystemContext.of(Map.of());
        GroupSpec spec = GroupSpec.of("pair", 0, 2, LONG);
        try (context;
                ProcessGroup group = Groups.of(CollectiveEngine.over(transport, spec, context), context)) {
            for (int calls = 0; calls < MOST_CALLS; calls++) {
                transport.sends.clear();
                call.accept(group);
                assertFalse(transport.sends.isEmpty(), "nothing was sent");
                if (transport.sends.stream().allMatch(sent -> sent.thread() == Thread.currentThread())) {
                    return transport.sends.stream().map(Sent::stack).toList();
                }
            }
            return fail("of " + MOST_CALLS + " calls the caller did none: " + transport.sends);
        }
    }

    /** Returns the frames from the link up to one of the engine's, and all if it is not there. */
    private static List<String> upTo(String entry, List<String> stack) {
        return stack.subList(0, stack.contains(entry) ? stack.indexOf(entry) + 1 : stack.size());
    }
}
