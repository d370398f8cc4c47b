package ferro.backend.nccl.comm;

import static ferro.backend.nccl.comm.NcclRanks.SOON;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.Message;
import ferro.NcclBackend.RawShape;
import ferro.NcclBackend.RootedOp;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.nccl.ffi.StandIn;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Null for every argument of every public method of a rank over NCCL, as NullArgumentsTest has it of the rest of ferro. */
@ExtendWith(StandIn.class)
@ResourceLock("nccl")
class NullDeviceArgumentsTest {
    /** What Javadoc allows. */
    private static final Set<String> ALLOWED = Set.of("abort cause");

    private static final Map<Class<?>, Object> SANE = Map.ofEntries(
            Map.entry(Collective.class, Collective.barrier()),
            Map.entry(Work.class, Work.all(List.of())),
            Map.entry(Duration.class, SOON),
            Map.entry(CallOptions.class, CallOptions.of(SOON)),
            Map.entry(Message.class, Message.send(HostTensor.of(new float[] {4, 5}), 1, 0)),
            Map.entry(ByteBuffer.class, ByteBuffer.allocate(8)),
            Map.entry(DataType.class, DataType.FLOAT32),
            Map.entry(ReduceOp.class, ReduceOp.SUM),
            Map.entry(RawShape.class, new RawShape(0, DataType.FLOAT32)),
            Map.entry(RootedOp.class, new RootedOp(ReduceOp.SUM, 0)),
            Map.entry(Runnable.class, (Runnable) () -> {}),
            Map.entry(Consumer.class, (Consumer<Object>) event -> {}),
            Map.entry(LongFunction.class, (LongFunction<Object>) comm -> comm),
            Map.entry(String.class, "name"),
            Map.entry(int[].class, new int[] {0}),
            Map.entry(long[].class, new long[] {2}),
            Map.entry(List.class, List.of()),
            Map.entry(Path.class, Path.of("never-made")));

    @Test
    void aNullArgumentIsRefusedByNameAndTheRankContinues() {
        try (NcclRanks ranks = NcclRanks.of(2)) {
            JnaNcclBackend first = ranks.rank(0);
            List<String> wrong = new ArrayList<>();
            for (Method method : methods()) {
                Parameter[] parameters = method.getParameters();
                for (int index = 0; index < parameters.length; index++) {
                    String identity = method.getName() + " " + parameters[index].getName();
                    if (!parameters[index].getType().isPrimitive() && !ALLOWED.contains(identity)) {
                        String told = told(method, first, index);
                        if (!Arrays.asList(told.split("\\W+")).contains(parameters[index].getName())) {
                            wrong.add(method + " " + parameters[index].getName() + ": " + told);
                        }
                    }
                }
            }
            assertTrue(wrong.isEmpty(), () -> "not refused by name: " + String.join("\n", wrong));
            assertFalse(first.failure().isPresent(), () -> "failed: " + first.failure());
            ranks.run(rank -> {
                float[] data = {3 + rank.rank(), 5};
                rank.run(Collective.allReduce(HostTensor.of(data), ReduceOp.SUM), SOON);
                assertArrayEquals(new float[] {7, 10}, data);
            });
        }
    }

    /** Each of the rank's own, or as an interface has it. */
    private static List<Method> methods() {
        return Stream.of(JnaNcclBackend.class.getMethods())
                .filter(method -> method.getDeclaringClass().getName().startsWith("ferro."))
                .filter(method -> !method.isBridge() && !method.isSynthetic())
                .toList();
    }

    private static String told(Method method, JnaNcclBackend rank, int absent) {
        Parameter[] parameters = method.getParameters();
        Object[] arguments = new Object[parameters.length];
        for (int index = 0; index < parameters.length; index++) {
            arguments[index] = index == absent ? null : sane(parameters[index], rank);
        }
        try {
            method.invoke(rank, arguments);
            return "nothing was thrown";
        } catch (InvocationTargetException thrown) {
            Throwable cause = thrown.getCause();
            String text = String.valueOf(cause.getMessage());
            boolean refused = cause instanceof NullPointerException && !text.startsWith("Cannot ");
            return refused ? text : cause.getClass().getSimpleName() + " of no refusal";
        } catch (IllegalAccessException impossible) {
            throw new AssertionError(impossible);
        }
    }

    private static Object sane(Parameter parameter, JnaNcclBackend rank) {
        Class<?> type = parameter.getType();
        if (type == int.class) {
            return parameter.getName().equals("tag") ? 0 : 1;
        }
        if (type == long.class) {
            return 0L;
        }
        if (type == DeviceTensor.class) {
            return rank.allocate(DataType.FLOAT32, 2);
        }
        Object value = type == CollectiveBackend.class ? rank : SANE.get(type);
        assertNotNull(value, () -> "what is a sane " + type + "? say so here");
        return value;
    }
}
