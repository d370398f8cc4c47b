package ferro.integration.misuse;

import ferro.Backend;
import ferro.CallCounters;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.Message;
import ferro.ReduceOp;
import ferro.Store;
import ferro.Tensor;
import ferro.backend.simulated.Simulation;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.spi.GroupSpec;
import ferro.spi.PortRange;
import ferro.spi.RankContext;
import java.lang.reflect.Parameter;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** Arguments that nothing is wrong with, by type and name. */
record Sane(Rig rig, Path folder, Duration timeout) {
    Object[] arguments(PublicCalls.Call call) {
        Parameter[] parameters = call.call().getParameters();
        Object[] values = new Object[parameters.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = value(parameters[i]);
        }
        return values;
    }

    /** Returns a value; says what to do where there is none for this type. */
    private Object value(Parameter parameter) {
        Object value = number(parameter);
        value = value == null ? data(parameter) : value;
        value = value == null ? ofFerro(parameter.getType()) : value;
        value = value == null ? ofTheJdk(parameter.getType()) : value;
        if (value == null) {
            throw new AssertionError("what is a sane " + parameter.getParameterizedType() + "? say so in Sane");
        }
        return value;
    }

    private static Object number(Parameter parameter) {
        return switch (parameter.getType().getName()) {
            case "int" ->
                switch (parameter.getName()) {
                    case "worldSize" -> 2;
                    case "count" -> 4;
                    default -> 0;
                };
            case "long" -> parameter.getName().equals("count") ? 4L : 0L;
            case "double" -> 2.0;
            case "float" -> 2.0f;
            case "short" -> (short) 2;
            case "boolean" -> true;
            default -> null;
        };
    }

    private static Object data(Parameter parameter) {
        return switch (parameter.getType().getSimpleName()) {
            case "float[]" -> new float[4];
            case "double[]" -> new double[4];
            case "int[]" -> parameter.getName().equals("ranks") ? new int[] {0} : new int[4];
            case "long[]" -> parameter.getName().endsWith("ounts") ? new long[] {4, 4} : new long[4];
            case "short[]" -> new short[4];
            case "byte[]" -> new byte[4];
            case "ByteBuffer" -> ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
            case "String" -> "text";
            case "Object" -> "owner";
            default -> null;
        };
    }

    private Object ofFerro(Class<?> type) {
        Map<Class<?>, Supplier<Object>> values = Map.ofEntries(
                Map.entry(Tensor.class, () -> HostTensor.of(new float[4])),
                Map.entry(HostTensor.class, () -> HostTensor.of(new float[4])),
                Map.entry(DeviceTensor.class, Rig::onDevice),
                Map.entry(DataType.class, () -> DataType.FLOAT32),
                Map.entry(CallOptions.class, () -> CallOptions.of(timeout)),
                Map.entry(CallCounters.class, () -> CallCounters.NONE),
                Map.entry(CallCounters.Totals.class, () -> CallCounters.Totals.NONE),
                Map.entry(JoinOptions.class, () -> JoinOptions.of(0, 1)),
                Map.entry(PortRange.class, () -> PortRange.of("0")),
                Map.entry(ReduceOp.class, () -> ReduceOp.SUM),
                Map.entry(ReduceOp.Combiner.class, () -> (ReduceOp.Combiner) (into, received) -> {}),
                Map.entry(Collective.class, Collective::barrier),
                Map.entry(Backend.class, rig::backend),
                Map.entry(CollectiveBackend.class, rig::backend),
                Map.entry(ProcessGroup.class, rig::group),
                Map.entry(RankContext.class, () -> rig.context),
                Map.entry(GroupSpec.class, () -> GroupSpec.of("g", 0, 1, timeout)),
                Map.entry(GroupEvent.class, () -> GroupEvent.of(GroupEvent.Kind.LATE, "g", 0, List.of(), "of a test")),
                Map.entry(FerroException.Code.class, () -> FerroException.Code.ABORTED),
                Map.entry(Message.class, () -> Message.send(HostTensor.of(new float[4]), 0, 0)),
                Map.entry(Simulation.Script.class, () -> (Simulation.Script) group -> {}));
        return values.getOrDefault(type, () -> type.getName().startsWith("ferro.") ? stub(type) : null)
                .get();
    }

    /** Something that is there and is never called. */
    private static Object stub(Class<?> type) {
        if (type.isEnum()) {
            return type.getEnumConstants()[0];
        }
        return type.isInterface() && !type.isSealed()
                ? Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    throw new AssertionError(method + " was called");
                })
                : null;
    }

    private Object ofTheJdk(Class<?> type) {
        Map<Class<?>, Supplier<Object>> values = Map.ofEntries(
                Map.entry(Duration.class, () -> timeout),
                Map.entry(Runnable.class, () -> (Runnable) () -> {}),
                Map.entry(Thread.class, Thread::currentThread),
                Map.entry(Consumer.class, () -> (Consumer<?>) heard -> {}),
                Map.entry(Function.class, () -> (Function<?, ?>) asked -> null),
                Map.entry(BinaryOperator.class, () -> (BinaryOperator<?>) (one, other) -> null),
                Map.entry(Supplier.class, () -> (Supplier<?>) () -> (AutoCloseable) () -> {}),
                Map.entry(Executor.class, () -> (Executor) Runnable::run),
                Map.entry(System.Logger.Level.class, () -> System.Logger.Level.DEBUG),
                Map.entry(System.Logger.class, () -> System.getLogger("test")),
                Map.entry(Throwable.class, () -> new IllegalStateException("of a test")),
                Map.entry(URI.class, () -> URI.create("tcp://localhost:29500")),
                Map.entry(Class.class, () -> Store.class),
                Map.entry(Path.class, () -> folder),
                Map.entry(InetAddress.class, InetAddress::getLoopbackAddress),
                Map.entry(Map.class, Map::of),
                Map.entry(List.class, List::of),
                Map.entry(Iterable.class, List::of),
                Map.entry(Optional.class, Optional::empty),
                Map.entry(CompletionStage.class, () -> CompletableFuture.completedFuture(null)));
        return values.getOrDefault(type, () -> null).get();
    }
}
