package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.backend.simulated.SimulatedBackend;
import ferro.group.GroupObjects;
import ferro.group.MatchedMessage;
import ferro.group.ProcessGroup;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The tables of docs/guide/calls.md against the methods of the classes. */
class CallsPageTest {
    private static final Pattern CALL = Pattern.compile("`(?:ProcessGroup\\.)?(\\w+)\\(([^)]*)\\)`");
    private static final Pattern ASYNCHRONOUS = Pattern.compile("`(\\w+Async)`");
    private static final Pattern SHAPE = Pattern.compile("(\\w+) `\\[([^]]+)\\]`");
    private static final int RANKS = 3;
    private static final long[] COUNTS = {1, 2, 3};

    private final String page;

    CallsPageTest() throws IOException {
        page = Files.readString(Path.of("../docs/guide/calls.md"));
    }

    @Test
    void everyMethodOfAGroupIsOnThePage() {
        Set<String> shown = new TreeSet<>();
        for (String row : rows("Collectives", "Parts of unequal length", "Messages", "Groups, timeouts and failures")) {
            Matcher call = CALL.matcher(row);
            while (call.find()) {
                shown.add(call.group(1));
                assertHas(ProcessGroup.class, call.group(1), parameters(call).size());
            }
            ASYNCHRONOUS.matcher(row).results().forEach(found -> shown.add(found.group(1)));
        }
        assertEquals(names(ProcessGroup.class), shown);
    }

    @Test
    void everyCallOnObjectsIsOnThePage() {
        Set<String> shown = new TreeSet<>(Set.of("withLimit"));
        for (String row : rows("Objects")) {
            MatchResult call = CALL.matcher(row).results().findFirst().orElseThrow();
            shown.add(call.group(1));
            assertHas(GroupObjects.class, call.group(1), parameters(call).size());
        }
        assertEquals(names(GroupObjects.class), shown);
    }

    @Test
    void everyReductionIsOnThePage() {
        Set<String> shown = new TreeSet<>();
        for (String row : rows("Reductions")) {
            Pattern.compile("`(\\w+)`").matcher(row.split("\\|")[1]).results().forEach(op -> shown.add(op.group(1)));
        }
        Set<String> existing = new TreeSet<>();
        Stream.of(ReduceOp.class.getFields()).forEach(field -> existing.add(field.getName()));
        methods(ReduceOp.class)
                .filter(method -> Modifier.isStatic(method.getModifiers()))
                .forEach(method -> existing.add(method.getName()));
        existing.removeAll(Set.of("of", "parse")); // for arrays of elements, and for names
        assertEquals(existing, shown);
    }

    @Test
    void callsTakeTheShapesOfThePageAndNoOthers() {
        int run = 0;
        for (String row : rows("Collectives", "Parts of unequal length")) {
            MatchResult call = CALL.matcher(row).results().findFirst().orElseThrow();
            List<MatchResult> shapes =
                    SHAPE.matcher(row.split("\\|")[2]).results().toList();
            if (!shapes.isEmpty()) {
                run++;
                SimulatedBackend.run(RANKS, group -> {
                    invoke(group, call, shapes, 0);
                    if (shapes.size() > 1 && !parameters(call).contains("root")) {
                        InvocationTargetException refused = assertThrows(
                                InvocationTargetException.class, () -> invoke(group, call, shapes, 1), row);
                        assertInstanceOf(IllegalArgumentException.class, refused.getCause(), row);
                    }
                });
            }
        }
        assertEquals(14, run);
    }

    @Test
    void probeAndMatchDoNotReleaseTheSenderOfALargeMessage() {
        assertTrue(
                page.contains("A message above 64 KiB keeps its blocking sender waiting until the message is received: "
                        + "`probe` and `match` do not receive it."));
        byte[] large = new byte[(64 << 10) + 1];
        SimulatedBackend.run(2, group -> {
            if (group.rank() == 1) {
                Work send = group.sendAsync(HostTensor.of(large), 0, 1);
                group.recv(new int[1], 0, 2);
                assertFalse(send.isDone());
                group.send(new int[1], 0, 3);
                send.await();
            } else {
                assertEquals(large.length, group.probe(1, 1).bytes());
                MatchedMessage matched = group.match(1, 1);
                group.send(new int[1], 1, 2);
                group.recv(new int[1], 1, 3);
                matched.recv(HostTensor.of(new byte[large.length]));
            }
        });
    }

    /** Makes a call whose second tensor has a number of elements more than the page says. */
    private static void invoke(ProcessGroup group, MatchResult call, List<MatchResult> shapes, int more)
            throws ReflectiveOperationException {
        List<Object> arguments = new ArrayList<>();
        for (String parameter : parameters(call)) {
            arguments.add(
                    switch (parameter) {
                        case "op" -> ReduceOp.SUM;
                        case "root" -> 1;
                        case "counts" -> COUNTS;
                        default -> tensor(parameter, shapes, group.rank(), more);
                    });
        }
        Method method = methods(ProcessGroup.class)
                .filter(one -> one.getName().equals(call.group(1)))
                .filter(one -> one.getParameterCount() == arguments.size())
                .filter(one -> one.getParameterTypes()[0] == Tensor.class)
                .findFirst()
                .orElseThrow();
        method.setAccessible(true);
        method.invoke(group, arguments.toArray());
    }

    private static Tensor tensor(String parameter, List<MatchResult> shapes, int rank, int more) {
        Map<String, Integer> lengths = Map.of("n", 2, "p * n", 2 * RANKS, "c", (int) COUNTS[rank], "s", (int)
                Arrays.stream(COUNTS).sum());
        MatchResult shape = shapes.stream()
                .filter(one -> one.group(1).equals(parameter))
                .findFirst()
                .orElseThrow();
        int longer = shape == shapes.get(shapes.size() - 1) ? more : 0;
        return HostTensor.of(new int[lengths.get(shape.group(2)) + longer]);
    }

    private static List<String> parameters(MatchResult call) {
        return call.group(2).isEmpty() ? List.of() : List.of(call.group(2).split(", "));
    }

    private List<String> rows(String... headings) {
        List<String> rows = new ArrayList<>();
        for (String heading : headings) {
            List<String> table = PageFiles.rows(page, "## " + heading);
            rows.addAll(table.subList(2, table.size()));
        }
        return rows;
    }

    private static void assertHas(Class<?> type, String name, int parameters) {
        assertTrue(
                methods(type).anyMatch(one -> one.getName().equals(name) && one.getParameterCount() == parameters),
                "no " + name + " with " + parameters + " parameters in " + type);
    }

    private static Set<String> names(Class<?> type) {
        return new TreeSet<>(methods(type).map(Method::getName).toList());
    }

    private static Stream<Method> methods(Class<?> type) {
        return Stream.of(type.getMethods()).filter(method -> method.getDeclaringClass() != Object.class);
    }
}
