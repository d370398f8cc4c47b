package ferro.collectives.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.collectives.CollectiveEngine;
import ferro.collectives.engine.StillTransport.Trouble;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How many frames are on the stack from a call of the user to the engine, for every form of a call that there is. */
@Timeout(60)
class FramesToTheEngineTest {
    private static final int MOST = 3;
    private static final Set<String> NAMES = Set.of(
            "allReduce",
            "broadcast",
            "reduce",
            "allGather",
            "reduceScatter",
            "gather",
            "scatter",
            "allToAll",
            "scan",
            "exclusiveScan",
            "barrier",
            "send",
            "recv",
            "submit");

    @Test
    void everyCallFormReachesTheEngineWithinThreeFrames() {
        Map<String, List<String>> tooLong = new TreeMap<>();
        int forms = 0;
        try (SystemContext context = SystemContext.of(Map.of())) {
            GroupSpec pair = GroupSpec.of("pair", 0, 2, Duration.ofSeconds(10));
            ProcessGroup group = Groups.of(
                    CollectiveEngine.stepped(new StillTransport(new Trouble(), true), pair, context)
                            .backend(),
                    context);
            group.close();
            for (Method form : forms()) {
                forms++;
                List<String> frames = frames(group, form);
                if (frames.size() > MOST) {
                    tooLong.put(form.getName() + Arrays.toString(form.getParameterTypes()), frames);
                }
            }
        }
        assertEquals(Map.of(), tooLong, "calls with more than " + MOST + " frames, the user's first");
        // blocking and asynchronous forms of twelve kinds on six arrays and tensors, those with counts, barriers,
        // submit
        assertEquals(2 * 12 * 7 + 2 * 5 + 2 + 1, forms, "forms");
    }

    private static List<Method> forms() {
        List<Method> forms = new ArrayList<>();
        for (Class<?> type = ProcessGroup.class; type != Object.class; type = type.getSuperclass()) {
            Stream.of(type.getDeclaredMethods())
                    .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                    .filter(method -> NAMES.contains(method.getName().replace("Async", "")))
                    .forEach(forms::add);
        }
        return forms;
    }

    /** Makes a call that the engine refuses, as it is closed; returns the frames from the form to the engine's method. */
    private static List<String> frames(ProcessGroup group, Method form) {
        Object[] arguments = Stream.of(form.getParameterTypes())
                .map(FramesToTheEngineTest::argument)
                .toArray();
        form.setAccessible(true);
        Throwable refusal = assertThrows(InvocationTargetException.class, () -> form.invoke(group, arguments))
                .getCause();
        List<String> frames = new ArrayList<>();
        for (StackTraceElement frame : refusal.getStackTrace()) {
            String name = frame.getClassName().replaceAll(".*\\.", "") + "." + frame.getMethodName();
            if (name.startsWith("GroupEngine.")) {
                frames.clear();
            } else if (!frame.getClassName().startsWith("ferro.") && !frames.isEmpty()) {
                break;
            }
            frames.add(0, name);
        }
        boolean isTransfer = form.getName().matches("send|recv");
        String engine = Work.class == form.getReturnType() ? "submit" : isTransfer ? "transfer" : "run";
        assertEquals("GroupEngine." + engine, frames.get(frames.size() - 1), () -> form + " ended with " + refusal);
        return frames;
    }

    private static Object argument(Class<?> type) {
        if (type.isArray()) {
            return Array.newInstance(type.getComponentType(), 2);
        }
        Map<Class<?>, Object> values = Map.of(
                Tensor.class,
                HostTensor.of(new float[2]),
                ReduceOp.class,
                ReduceOp.SUM,
                Collective.class,
                Collective.barrier(),
                int.class,
                1);
        return values.get(type);
    }
}
