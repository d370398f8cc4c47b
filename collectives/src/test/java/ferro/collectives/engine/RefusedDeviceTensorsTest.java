package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.Message;
import ferro.ReduceOp;
import ferro.collectives.CollectiveEngine;
import ferro.collectives.engine.StillTransport.Trouble;
import ferro.dispatch.GpuCollectives;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Calls on device tensors at an engine, where neither NCCL nor a round trip through host memory is there to take them. */
@Timeout(60)
class RefusedDeviceTensorsTest {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final SystemContext process = SystemContext.of(Map.of());
    private final GateOfTest context = new GateOfTest(process);
    private final GroupEngine engine = (GroupEngine) CollectiveEngine.stepped(
                    new StillTransport(new Trouble(), true), GroupSpec.of("pair", 0, 2, LIMIT), context)
            .backend();
    private final DeviceTensor data = new DeviceTensor(DataType.FLOAT32, new long[] {2}, 64, 0, null);

    /** All of a process but the gate. */
    private static final class GateOfTest extends ForwardingContext {
        private String gate;

        GateOfTest(SystemContext process) {
            super(process);
        }

        @Override
        public Optional<String> setting(String name) {
            return name.equals("ferro.gpu.fallback") ? Optional.ofNullable(gate) : super.setting(name);
        }
    }

    @AfterEach
    void close() {
        process.close();
    }

    @Test
    void theEngineRefusesDeviceTensorsWithTheTextOfTheDispatch() {
        assertTrue(refusedAlike().contains("or set FERRO_ENABLE_GPU_FALLBACK=1"));
        assertTrue(refusedAlike().endsWith(" and needs ferro-backend-gloo-fallback on the class path"));
        context.gate = "0";
        assertTrue(refusedAlike().contains("ferro.gpu.fallback forbids the round-trip and takes precedence"));
        assertTrue(refusedAlike().contains(" and needs ferro-backend-gloo-fallback on the class path; but "));
        context.gate = "1";
        assertTrue(refusedAlike().contains("add ferro-backend-gloo-fallback to the class path"));
        context.gate = null;
        assertTrue(refusedAlike().contains("or set FERRO_ENABLE_GPU_FALLBACK=1"));
    }

    /** Makes a call and a message each way there is, compares what is said, and returns that. */
    private String refusedAlike() {
        GpuCollectives gpu = GpuCollectives.with(context);
        ProcessGroup group = Groups.of(engine, context);
        Collective call = Collective.allReduce(data, ReduceOp.SUM);

        String words = refused(() -> gpu.submit(call, engine, LIMIT));
        assertEquals(words, refused(() -> engine.submit(call, LIMIT)), "the engine");
        assertEquals(words, refused(() -> group.submit(call)), "the front door");
        assertEquals(Optional.of(words), engine.unsupportedBecause(call), "asked before");

        String ofSend = refused(() -> gpu.transfer(Message.send(data, 1, 0), engine, LIMIT));
        assertEquals(ofSend, refused(() -> engine.submit(Message.send(data, 1, 0), LIMIT)), "the engine");
        assertEquals(ofSend, refused(() -> group.sendAsync(data, 1, 0)), "the front door");
        assertEquals(
                ofSend.replace("send", "recv"),
                refused(() -> engine.submit(Message.recv(data, 1, 0), LIMIT)),
                "the engine");
        return words;
    }

    private static String refused(Executable call) {
        return assertThrows(UnsupportedOperationException.class, call).getMessage();
    }
}
