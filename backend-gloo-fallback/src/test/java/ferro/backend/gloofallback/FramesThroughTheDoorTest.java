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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
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
                    "CallForms.allReduce ProcessGroupBase.run DeviceTensorBackend.run GroupEngine.run",
                    frames(() -> group.allReduce(data, ReduceOp.SUM)));
            assertEquals(
                    "CallForms.allReduceAsync ProcessGroupBase.submit DeviceTensorBackend.submit GroupEngine.submit",
                    frames(() -> group.allReduceAsync(HostTensor.of(data), ReduceOp.SUM)));
        }
    }

    /** Makes a call that the engine refuses, as it is closed; returns the frames from the form to the engine's method. */
    private static String frames(Executable call) {
        List<String> inward = new ArrayList<>();
        for (StackTraceElement frame :
                assertThrows(IllegalStateException.class, call).getStackTrace()) {
            inward.add(0, frame.getClassName().replaceAll(".*\\.", "") + "." + frame.getMethodName());
        }
        return String.join(" ", inward.subList(first(inward, "Forms."), first(inward, "GroupEngine.") + 1));
    }

    private static int first(List<String> inward, String part) {
        return IntStream.range(0, inward.size())
                .filter(i -> inward.get(i).contains(part))
                .findFirst()
                .orElseThrow();
    }
}
