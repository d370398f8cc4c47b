package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.CollectiveKind;
import ferro.CollectiveKind.DataShare;
import ferro.HostTensor;
import ferro.MessageStatus;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.group.ProcessGroup;
import ferro.harness.Ranks;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every asynchronous form for arrays, or with counts, against the blocking form of the same name and arguments. */
@Timeout(120)
class AsyncArrayFormsTest {
    private static final int RANKS = 3;
    private static final int ROOT = 1;
    private static final int PART = 5;
    private static final int TAG = 4;
    private static final String ASYNC = "Async";
    /** The second part is empty. */
    private static final long[] COUNTS = {4, 0, 3};

    /** What blocking forms return. */
    private static final Set<Class<?>> WAITED_FOR = Set.of(void.class, MessageStatus.class);

    /** Returns the forms for arrays or with counts that wait, or do not wait, in one order. */
    private static List<Method> forms(boolean waits) {
        return Stream.of(ProcessGroup.class.getMethods())
                .filter(form -> (waits ? WAITED_FOR : Set.of(Work.class)).contains(form.getReturnType()))
                .filter(form -> form.getParameterCount() > 0)
                .filter(form -> form.getParameterTypes()[0].isArray() || hasCounts(form))
                .sorted(Comparator.comparing(Method::toString))
                .toList();
    }

    private static boolean hasCounts(Method form) {
        List<Class<?>> types = List.of(form.getParameterTypes());
        return types.get(0) == Tensor.class && types.contains(long[].class);
    }

    private static Set<String> names(List<Method> forms, String suffix) {
        return forms.stream()
                .map(form -> form.getName()
                        + suffix
                        + Stream.of(form.getParameterTypes())
                                .map(Class::getSimpleName)
                                .toList())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void everyBlockingFormForArraysOrWithCountsHasAnAsynchronousForm() {
        assertEquals(names(forms(true), ASYNC), names(forms(false), ""));
    }

    @Test
    void everyFactoryOfCollectiveHasItsFormsInProcessGroup() {
        List<Method> factories = Stream.of(Collective.class.getMethods())
                .filter(made -> Modifier.isStatic(made.getModifiers()) && made.getReturnType() == Collective.class)
                .toList();
        Set<String> forms = names(List.of(ProcessGroup.class.getMethods()), "");
        Set<String> onlySubmitted = names(factories, "");
        onlySubmitted.removeIf(form -> Stream.of(
                        "Tensor", "float[]", "double[]", "int[]", "long[]", "short[]", "byte[]")
                // calls with counts have forms for tensors only
                .limit(form.contains("long[]") ? 1 : 7)
                .map(type -> form.replace("Tensor", type))
                .allMatch(each -> forms.contains(each) && forms.contains(each.replaceFirst("\\[", ASYNC + "["))));
        assertEquals(
                Set.of(
                        "allReduce[Tensor, Tensor, ReduceOp]",
                        "exclusiveScan[Tensor, Tensor, ReduceOp]",
                        "gather[Tensor, int, long[]]",
                        "gather[Tensor, int]",
                        "reduce[Tensor, Tensor, ReduceOp, int]",
                        "scan[Tensor, Tensor, ReduceOp]",
                        "scatter[Tensor, int, long[]]",
                        "scatter[Tensor, int]"),
                onlySubmitted);
    }

    @ParameterizedTest
    @ValueSource(strings = {"simulated", "tcp", "shm"})
    void asynchronousCollectivesHaveTheResultsOfBlockingOnes(String medium) {
        List<Method> forms =
                forms(false).stream().filter(form -> !isMessage(form)).toList();
        List<CountDownLatch> started =
                forms.stream().map(form -> new CountDownLatch(1)).toList();
        Ranks.each(medium, RANKS, group -> {
            for (int index = 0; index < forms.size(); index++) {
                Method form = forms.get(index);
                Object[] blocking = arguments(form, group.rank());
                call(group, blockingForm(form), blocking);

                Object[] asynchronous = arguments(form, group.rank());
                if (group.rank() > 0) {
                    await(started.get(index), form);
                }
                Work work = (Work) call(group, form, asynchronous);
                // the other ranks begin only now: a form that waited for them would never return
                started.get(index).countDown();
                work.await();

                assertTrue(work.isDone(), form::toString);
                assertArrayEquals(blocking, asynchronous, () -> form + " on rank " + group.rank());
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"simulated", "tcp", "shm"})
    void asynchronousMessagesHaveTheResultsOfBlockingOnes(String medium) {
        List<Method> forms =
                forms(false).stream().filter(AsyncArrayFormsTest::isMessage).toList();
        assertEquals(2 * 6, forms.size());
        Ranks.each(medium, RANKS, group -> {
            int next = (group.rank() + 1) % RANKS;
            int previous = (group.rank() + RANKS - 1) % RANKS;
            for (Method form : forms) {
                boolean sends = form.getName().startsWith("send");
                Class<?> type = form.getParameterTypes()[0];
                Object own = filled(type, PART, group.rank());
                Object received = filled(type, PART, 20);
                Work work = (Work) call(group, form, sends ? own : received, sends ? next : previous, TAG);
                Method other = blockingForm(form, sends ? "recv" : "send");
                call(group, other, sends ? received : own, sends ? previous : next, TAG);
                work.await();

                Object[] expected = {filled(type, PART, previous), filled(type, PART, group.rank())};
                assertArrayEquals(expected, new Object[] {received, own}, form::toString);
            }
        });
    }

    private static boolean isMessage(Method form) {
        return form.getName().matches("(send|recv)" + ASYNC);
    }

    private static Method blockingForm(Method form) {
        return blockingForm(form, form.getName().replace(ASYNC, ""));
    }

    private static Method blockingForm(Method form, String name) {
        return forms(true).stream()
                .filter(other -> other.getName().equals(name)
                        && Arrays.equals(other.getParameterTypes(), form.getParameterTypes()))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no blocking form of " + form));
    }

    private static Object call(ProcessGroup group, Method form, Object... arguments) {
        try {
            // the forms stand in classes that are not public
            form.setAccessible(true);
            Object[] passed = arguments.clone();
            for (int i = 0; i < passed.length; i++) {
                if (form.getParameterTypes()[i] == Tensor.class && passed[i] != null) {
                    passed[i] = HostTensor.of((float[]) passed[i]);
                }
            }
            return form.invoke(group, passed);
        } catch (InvocationTargetException | IllegalAccessException failed) {
            throw new AssertionError(form + " failed: " + failed.getCause(), failed);
        }
    }

    private static void await(CountDownLatch started, Method form) {
        try {
            assertTrue(started.await(60, TimeUnit.SECONDS), () -> form + " on rank 0 has not returned");
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted before " + form, interrupted);
        }
    }

    /** Returns arguments of a collective; null where a rank needs no array. */
    private static Object[] arguments(Method form, int rank) {
        CollectiveKind kind = CollectiveKind.parse(form.getName().replace(ASYNC, ""));
        Class<?>[] types = form.getParameterTypes();
        boolean hasCounts = hasCounts(form);
        boolean hasResult = hasCounts || types.length > 1 && types[1].isArray();
        List<long[]> counts = kind == CollectiveKind.ALL_TO_ALL
                ? List.of(lengths(to -> length(rank, to)), lengths(from -> length(from, rank)))
                : List.of(COUNTS, COUNTS);
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            if (i < 2 && (hasCounts || types[i].isArray())) {
                DataShare held = i > 0 ? kind.out() : kind.in();
                boolean isPart = held == DataShare.PART;
                long length = hasCounts
                        ? isPart ? COUNTS[rank] : LongStream.of(counts.get(i)).sum()
                        : isPart ? PART : RANKS * PART;
                boolean isGiven = !hasResult || held != DataShare.ALL_ON_ROOT || rank == ROOT;
                Class<?> type = hasCounts ? float[].class : types[i];
                arguments[i] = isGiven ? filled(type, (int) length, rank + 10 * i) : null;
            } else if (types[i] == long[].class) {
                arguments[i] = counts.get(i - 2);
            } else {
                arguments[i] = types[i] == ReduceOp.class ? ReduceOp.SUM : ROOT;
            }
        }
        return arguments;
    }

    private static long[] lengths(IntToLongFunction ofRank) {
        return IntStream.range(0, RANKS).mapToLong(ofRank).toArray();
    }

    /** Returns how many elements a rank sends to another rank. A rank sends none to itself. */
    private static long length(int from, int to) {
        return from == to ? 0 : 2L * from + to + 1;
    }

    /** Returns an array of elements that differ; each fits into a byte, as does a sum of three. */
    private static Object filled(Class<?> type, int length, int from) {
        Object array = Array.newInstance(type.getComponentType(), length);
        for (int i = 0; i < length; i++) {
            Array.setByte(array, i, (byte) (from + 2 * i + 1));
        }
        return array;
    }
}
