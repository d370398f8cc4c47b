package ferro.backend.simulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.ReduceOp;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** From the engine to a kernel that combines elements in shared memory there are these frames and no more, as to a link. */
@Timeout(60)
class FramesToSharedMemoryTest {
    private static final List<String> DIRECT = List.of(
            "SharedMemoryInterpreter.move",
            "SharedMemoryInterpreter.consume",
            "OperationQueue.endsAtOnce",
            "OperationQueue.run");
    private static final List<String> BY_THE_LOOP = List.of(
            "SharedMemoryInterpreter.move",
            "SharedMemoryInterpreter.advance",
            "ProgressLoop.run",
            "OperationQueue.run");

    @ParameterizedTest
    @ValueSource(ints = {1, 100, 100_000})
    void aCollectiveReachesSharedMemoryByTheseFramesOnly(int elements) {
        Set<List<String>> stacks = ConcurrentHashMap.newKeySet();
        ReduceOp adds = ReduceOp.of("adds", (left, right) -> {
            stacks.add(belowTheKernel());
            add(left, right);
        });

        SimulatedBackend.run(2, group -> {
            assertTrue(group.linkReport().contains("share memory"), group.linkReport());
            float[] data = new float[elements];
            data[0] = 2 + group.rank();
            group.allReduce(data, adds);
            assertEquals(5, data[0]);
        });

        assertFalse(stacks.isEmpty());
        for (List<String> stack : stacks) {
            assertTrue(stack.equals(DIRECT) || stack.equals(BY_THE_LOOP), stack.toString());
        }
    }

    private static void add(HostTensor left, HostTensor right) {
        for (int i = 0; i < left.elementCount(); i++) {
            left.setFloat(i, left.getFloat(i) + right.getFloat(i));
        }
    }

    /** Returns the frames between the kernel and the engine's entry, the innermost first. */
    private static List<String> belowTheKernel() {
        return StackWalker.getInstance()
                .walk(frames -> frames.map(
                                frame -> frame.getClassName().replaceAll(".*[.$]", "") + "." + frame.getMethodName())
                        .dropWhile(frame -> !frame.equals("SharedMemoryInterpreter.move"))
                        .takeWhile(frame -> !frame.equals("GroupEngine.run"))
                        .collect(Collectors.toList()));
    }
}
