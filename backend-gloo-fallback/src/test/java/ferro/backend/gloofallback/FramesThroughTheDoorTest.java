package ferro.backend.gloofallback;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.tcp.TcpStoreServer;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** With this module on the class path device tensors can have a way, and the door in front of the engine is a frame. */
class FramesThroughTheDoorTest {
    @Test
    void aCallOnHostTensorsReachesTheEngineWithinFourFrames() throws IOException {
        try (TcpStoreServer server = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 1, null);
                SystemContext context = SystemContext.of(
                        Map.of("ferro.backend", "tcp", "ferro.rendezvous", "tcp://127.0.0.1:" + server.port()))) {
            ProcessGroup group = Groups.join(GroupSpec.of("alone", 0, 1, Duration.ofSeconds(60)), context);
            group.close();
            float[] data = {1, 2};

            assertEquals(
                    List.of("CallForms.allReduce", "GroupCalls.run", "DeviceTensorBackend.run", "GroupEngine.run"),
                    frames(() -> group.allReduce(data, ReduceOp.SUM)));
            assertEquals(
                    List.of(
                            "CallForms.allReduceAsync",
                            "GroupCalls.submit",
                            "DeviceTensorBackend.submit",
                            "GroupEngine.submit"),
                    frames(() -> group.allReduceAsync(HostTensor.of(data), ReduceOp.SUM)));
        }
    }

    /** Makes a call that the engine refuses, as it is closed; returns the frames from the form to the engine's method. */
    private static List<String> frames(Executable call) {
        List<String> names = Arrays.stream(
                        assertThrows(IllegalStateException.class, call).getStackTrace())
                .map(frame -> frame.getClassName().replaceAll(".*\\.", "") + "." + frame.getMethodName())
                .toList();
        int engine = last(names, "GroupEngine.");
        int form = last(names, "Forms.");
        List<String> inward = names.subList(engine, form + 1);
        return Stream.iterate(inward.size() - 1, i -> i >= 0, i -> i - 1)
                .map(inward::get)
                .toList();
    }

    private static int last(List<String> names, String part) {
        return Stream.iterate(names.size() - 1, i -> i >= 0, i -> i - 1)
                .filter(i -> names.get(i).contains(part))
                .findFirst()
                .orElseThrow();
    }
}
