package ferro.tck;

import static ferro.CollectiveKind.ALL_REDUCE;
import static ferro.CollectiveKind.ALL_TO_ALL;
import static ferro.CollectiveKind.BARRIER;
import static ferro.CollectiveKind.BROADCAST;
import static ferro.CollectiveKind.EXCLUSIVE_SCAN;
import static ferro.CollectiveKind.REDUCE;
import static ferro.CollectiveKind.REDUCE_SCATTER;
import static ferro.CollectiveKind.SCAN;
import static ferro.DataType.BFLOAT16;
import static ferro.DataType.FLOAT16;
import static ferro.DataType.FLOAT32;
import static ferro.DataType.INT16;
import static ferro.DataType.INT32;
import static ferro.DataType.INT64;
import static ferro.DataType.INT8;
import static ferro.DataType.UINT16;
import static ferro.DataType.UINT32;
import static ferro.DataType.UINT64;
import static ferro.DataType.UINT8;
import static ferro.tck.Decorator.running;
import static ferro.tck.Decorator.submitting;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectIteration;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import ferro.Allocation;
import ferro.CallCounters;
import ferro.CallCounters.Totals;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.Message;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.dispatch.DeviceMemory.Copy;
import ferro.tck.Decorator.Handle;
import ferro.tck.Decorator.Submit;
import ferro.tck.Kit.Subject;
import ferro.tck.cells.ElementAccess;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.IntFunction;
import java.util.function.LongBinaryOperator;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** The kit itself: each wrong back end, which is wrong in one thing, must be caught by the rule it breaks. */
@Tag("long")
class WrongBackEndsTest {
    private static final Work DONE = Work.all(List.of());
    private static final long LIFE_NANOS = TimeUnit.SECONDS.toNanos(10);

    static final UnaryOperator<CollectiveBackend> WRITES_OFF_THE_ROOT = submitting(
            (honest, call, options) -> honest.submit(call.kind() == REDUCE ? sum(call, call.op()) : call, options));

    private static final Submit FORGETS_LABELS =
            (honest, call, options) -> honest.submit(call, CallOptions.of(options.timeout()));

    @DisplayName("T5 and the kit: what breaks a rule is caught by it")
    @ParameterizedTest(name = "what {1} breaks rule {0}")
    @MethodSource({"results", "ops", "scans", "types", "queues", "counts", "blocks", "failures", "ends", "devices"})
    void isCaughtByTheRuleItBreaks(int rule, Subject wrong) {
        Kit.OfNext.next = wrong;
        Events tests = EngineTestKit.engine("junit-jupiter")
                .selectors(firstOf(testOf(rule)))
                .execute()
                .testEvents();

        assertTrue(tests.started().count() > 0, "rule " + rule + " did not run");
        assertTrue(
                tests.failed().count() > 0,
                () -> "rule " + rule + " lets it pass: " + tests.finished().count() + " tests ended well");
    }

    /** Up to three ranks are enough to catch any of them; all sizes would take most of this module's time. */
    private static DiscoverySelector firstOf(Method test) {
        return selectIteration(selectMethod(Kit.OfNext.class, test), 0, 1, 2);
    }

    private static Method testOf(int rule) {
        return Arrays.stream(BackendContract.class.getMethods())
                .filter(method -> method.isAnnotationPresent(Rule.class)
                        && method.getAnnotation(Rule.class).value() == rule)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no test has rule " + rule));
    }

    private static Arguments wrong(int rule, String what, UnaryOperator<CollectiveBackend> decorate) {
        return Arguments.of(rule, Named.of(what, Subject.decorated(decorate)));
    }

    private static Arguments submits(int rule, String what, Submit other) {
        return wrong(rule, what, submitting(other));
    }

    private static Arguments changes(
            int rule, String what, CollectiveKind kind, BiFunction<CollectiveBackend, Collective, Collective> other) {
        return submits(
                rule,
                what,
                (honest, call, options) ->
                        honest.submit(call.kind() == kind ? other.apply(honest, call) : call, options));
    }

    private static Arguments skips(int rule, String what, Predicate<Collective> which) {
        return submits(rule, what, (honest, call, options) -> which.test(call) ? DONE : honest.submit(call, options));
    }

    private static Collective sum(Collective call, ReduceOp op) {
        return Collective.allReduce(call.in(), call.out(), op);
    }

    static Stream<Arguments> results() {
        return Stream.of(
                submits(101, "returns before the data arrives", (honest, call, options) -> {
                    honest.submit(call, options);
                    return DONE;
                }),
                submits(101, "writes past the end", (honest, call, options) -> {
                    Work work = honest.submit(call, options);
                    if (call.operand() instanceof HostTensor data && data.memory() instanceof int[] ints) {
                        int end = (int) (data.offset() + data.elementCount());
                        Arrays.fill(ints, Math.min(end, ints.length), Math.min(end + 1, ints.length), 0);
                    }
                    return work;
                }),
                wrong(101, "refuses what it does not declare", WrongBackEndsTest::refusing),
                changes(102, "drops the last element", BROADCAST, (honest, call) -> {
                    long some = Math.max(0, call.operand().elementCount() - 1);
                    return Collective.broadcast(((HostTensor) call.operand()).slice(0, some), call.root());
                }),
                wrong(103, "writes where it is not the root", WRITES_OFF_THE_ROOT),
                skips(109, "skips the barrier", call -> call.kind() == BARRIER),
                wrong(111, "rounds differently on one rank", running((honest, call, honestly) -> {
                    honestly.run();
                    if (honest.rank() == 1 && call.operand() instanceof HostTensor data && data.elementCount() > 0) {
                        nextUp(data, 0);
                    }
                })),
                skips(116, "skips unequal parts", Collective::hasCounts),
                wrong(116, "skips submitted unequal parts", honest -> new Decorator(honest) {
                    @Override
                    public Work submit(Collective call, CallOptions options) {
                        return call.hasCounts() ? DONE : super.submit(call, options);
                    }

                    @Override
                    public void run(Collective call, CallOptions options) {
                        super.submit(call, options).await();
                    }
                }),
                wrong(124, "reduces and scatters in another order", running((honest, call, honestly) -> {
                    honestly.run();
                    if (call.kind() == REDUCE_SCATTER && call.out().elementCount() > 1) {
                        nextUp((HostTensor) call.out(), 1);
                    }
                })),
                changes(
                        603,
                        "takes any root for the first rank",
                        BROADCAST,
                        (honest, call) ->
                                call.root() >= honest.worldSize() ? Collective.broadcast(call.in(), 0) : call));
    }

    private static Decorator refusing(CollectiveBackend honest) {
        return new Decorator(honest) {
            @Override
            public Optional<String> unsupportedBecause(Collective call) {
                boolean refuses = call.operand() != null && call.operand().dataType() == INT16;
                return refuses ? Optional.of("no kernel for i16") : super.unsupportedBecause(call);
            }

            @Override
            public Work submit(Collective call, CallOptions options) {
                unsupportedBecause(call).ifPresent(why -> {
                    throw new UnsupportedOperationException(why);
                });
                return super.submit(call, options);
            }
        };
    }

    private static void nextUp(HostTensor data, int index) {
        if (data.memory() instanceof float[] floats) {
            int at = (int) data.offset() + index;
            floats[at] = Math.nextUp(floats[at]);
        }
    }

    // @start region="wrong"
    static Stream<Arguments> ops() {
        return Stream.of(
                takes(101, "takes the largest for the sum", op -> op == ReduceOp.SUM, ReduceOp.MAX),
                takes(101, "forgets to divide", op -> op == ReduceOp.AVG, ReduceOp.SUM),
                // @end
                // as a vendor's library that sums in the type itself
                averages("averages a sum that wraps", (sum, size) -> (int) sum / size),
                averages("rounds averages down", Math::floorDiv),
                takes(118, "takes a user's code for the sum", op -> op.span() != null, ReduceOp.SUM),
                changes(
                        119,
                        "takes a user's code for any type",
                        ALL_REDUCE,
                        (honest, call) -> call.op()
                                        .unsupportedBecause(call.operand().dataType())
                                        .isPresent()
                                ? sum(call, ReduceOp.SUM)
                                : call),
                // as NCCL does: right to the last bit only where the world size is a power of two
                changes(122, "multiplies by the fraction", ALL_REDUCE, (honest, call) -> {
                    ReduceOp fraction = ReduceOp.preMultipliedSum(1.0 / honest.worldSize());
                    return call.op() == ReduceOp.AVG && call.in().dataType() == FLOAT32 ? sum(call, fraction) : call;
                }),
                submits(123, "multiplies the sum", (honest, call, options) -> {
                    if (call.kind() != ALL_REDUCE
                            || call.in().dataType() != FLOAT32
                            || call.op().factor() == 1) {
                        return honest.submit(call, options);
                    }
                    honest.submit(sum(call, ReduceOp.SUM), options).await();
                    HostTensor out = (HostTensor) call.out();
                    long[] sums = ElementAccess.of(out);
                    float factor = (float) call.op().factor();
                    ElementAccess.fill(
                            out, at -> Float.floatToRawIntBits(Float.intBitsToFloat((int) sums[at]) * factor));
                    return DONE;
                }),
                takes(125, "takes records for bytes", op -> op.recordElements() > 1, ReduceOp.SUM),
                changes(130, "takes an ordered op for any other", ALL_REDUCE, (honest, call) -> {
                    ReduceOp op = call.op();
                    return op.isOrdered()
                            ? sum(call, ReduceOp.ofBytes(op.name(), op.recordElements(), op.recordCombine()))
                            : call;
                }));
    }

    private static Arguments takes(int rule, String what, Predicate<ReduceOp> which, ReduceOp taken) {
        return changes(rule, what, ALL_REDUCE, (honest, call) -> which.test(call.op()) ? sum(call, taken) : call);
    }

    private static Arguments averages(String what, LongBinaryOperator divide) {
        return submits(101, what, (honest, call, options) -> {
            if (call.kind() != ALL_REDUCE
                    || call.op() != ReduceOp.AVG
                    || call.in().dataType() != INT32) {
                return honest.submit(call, options);
            }
            long[] sums = ElementAccess.of((HostTensor) call.in());
            HostTensor sum = HostTensor.of(sums);
            honest.submit(Collective.allReduce(sum, sum, ReduceOp.SUM), options).await();
            ElementAccess.fill((HostTensor) call.out(), index -> divide.applyAsLong(sums[index], honest.worldSize()));
            return DONE;
        });
    }

    static Stream<Arguments> scans() {
        return Stream.of(
                submits(
                        126,
                        "calls nothing where the operand ends inside a record",
                        (honest, call, options) -> honest.submit(
                                isOfRecords(call) && !isFull(call, call.in().elementCount())
                                        ? Collective.barrier()
                                        : call,
                                options)),
                skips(
                        126,
                        "checks that only its own part has whole records",
                        call -> isOfRecords(call)
                                && call.inCounts().length > 0
                                && isFull(call, call.out().elementCount())
                                && !Arrays.stream(call.inCounts()).allMatch(count -> isFull(call, count))),
                changes(127, "scans the ranks after it too", SCAN, (honest, call) -> sum(call, call.op())),
                changes(
                        128,
                        "leaves the result of rank 0 as it was",
                        EXCLUSIVE_SCAN,
                        (honest, call) -> honest.rank() == 0
                                ? call.on(
                                        call.in(),
                                        HostTensor.allocate(
                                                call.in().dataType(), call.in().elementCount()))
                                : call),
                changes(
                        129,
                        "scans a user's code as maximum",
                        SCAN,
                        (honest, call) -> call.op().combiner() == null
                                ? call
                                : Collective.scan(call.in(), call.out(), ReduceOp.MAX)));
    }

    private static boolean isOfRecords(Collective call) {
        return call.op() != null && call.op().recordElements() > 1;
    }

    private static boolean isFull(Collective call, long elements) {
        return elements % call.op().recordElements() == 0;
    }

    static Stream<Arguments> types() {
        return Stream.of(
                takes(
                        101,
                        "compares unsigned as signed",
                        Map.of(UINT8, INT8, UINT16, INT16, UINT32, INT32, UINT64, INT64)),
                takes(101, "adds halves as integers", Map.of(FLOAT16, INT16, BFLOAT16, INT16)),
                takes(110, "takes one half for the other", Map.of(BFLOAT16, FLOAT16)));
    }

    /** Takes the elements of an all-reduce for those of another type; moves no wrong byte. */
    private static Arguments takes(int rule, String what, Map<DataType, DataType> taken) {
        return changes(rule, what, ALL_REDUCE, (honest, call) -> {
            DataType type = taken.get(call.in().dataType());
            return type == null ? call : Collective.allReduce(as(type, call.in()), as(type, call.out()), call.op());
        });
    }

    private static HostTensor as(DataType type, Tensor tensor) {
        HostTensor host = (HostTensor) tensor;
        int from = (int) host.offset();
        int length = (int) host.elementCount();
        if (host.memory() instanceof ByteBuffer bytes) {
            return HostTensor.of(
                    type, bytes.slice(from, length * type.byteSize()).order(ByteOrder.nativeOrder()));
        }
        if (host.memory() instanceof byte[] array) {
            return HostTensor.of(type, array, from, length);
        }
        if (host.memory() instanceof short[] array) {
            return HostTensor.of(type, array, from, length);
        }
        return host.memory() instanceof int[] array
                ? HostTensor.of(type, array, from, length)
                : HostTensor.of(type, (long[]) host.memory(), from, length);
    }

    static Stream<Arguments> queues() {
        return Stream.of(
                hub(202, "swaps messages in pairs", size -> new QueueHub(size) {
                    private byte[] heldBack;

                    @Override
                    void add(Deque<byte[]> queue, byte[] message, int tag) {
                        if (tag < 0) {
                            queue.add(message);
                        } else if (heldBack == null) {
                            heldBack = message;
                        } else {
                            queue.add(message);
                            queue.add(heldBack);
                            heldBack = null;
                        }
                    }
                }),
                hub(206, "takes a message of another length", size -> new QueueHub(size) {
                    @Override
                    void deliver(byte[] message, ByteBuffer into, Where where) {
                        into.put(message, 0, Math.min(message.length, into.remaining()));
                    }
                }),
                hub(211, "delivers messages of another tag", size -> new QueueHub(size) {
                    @Override
                    List<Integer> key(int from, int to, int tag) {
                        return List.of(from, to, Math.min(tag, 0));
                    }
                }),
                Arguments.of(
                        212,
                        Named.of(
                                "keeps every message, received or not",
                                new Subject(QueueHub::group, null, BackendContract.ASYNCHRONOUS_MESSAGES))),
                hub(610, "takes away what a leaver has sent", size -> new QueueHub(size) {
                    @Override
                    void left(int rank, Map<List<Integer>, Deque<byte[]>> sent) {
                        sent.forEach((key, queue) -> {
                            if (key.get(0) == rank) {
                                queue.clear();
                            }
                        });
                    }
                }));
    }

    private static Arguments hub(int rule, String what, IntFunction<QueueHub> hub) {
        return Arguments.of(
                rule, Named.of(what, Subject.of(size -> hub.apply(size).ranks())));
    }

    static Stream<Arguments> counts() {
        return Stream.of(
                wrong(217, "says that it gave up on the next rank", honest -> new Decorator(honest) {
                    @Override
                    public Work submit(Message message, CallOptions options) {
                        try {
                            return super.submit(message, options);
                        } catch (FerroException failure) {
                            int from = message.peer();
                            String text = failure.getMessage().replace("on rank " + from, "on rank " + (from + 1));
                            throw new FerroException(failure.code(), failure.where(), text, failure);
                        }
                    }
                }),
                counting(
                        "counts a receive as a send",
                        all -> new CallCounters(all.collectives(), all.sends().plus(all.receives()), Totals.NONE)),
                counting("counts the bytes of broadcasts twice", all -> {
                    Totals of = all.of(BROADCAST);
                    Map<CollectiveKind, Totals> wrong = new HashMap<>(all.collectives());
                    wrong.replace(BROADCAST, new Totals(of.calls(), 2 * of.bytes(), of.time()));
                    return new CallCounters(wrong, all.sends(), all.receives());
                }),
                wrong(331, "counts the calls that have failed, too", honest -> new Decorator(honest) {
                    private final AtomicLong failed = new AtomicLong();

                    @Override
                    public Work submit(Collective call, CallOptions options) {
                        try {
                            return super.submit(call, options);
                        } catch (RuntimeException failure) {
                            failed.incrementAndGet();
                            throw failure;
                        }
                    }

                    @Override
                    public CallCounters counters() {
                        return super.counters().plus(barriers(failed.get()));
                    }
                }),
                wrong(331, "counts a call as soon as it is submitted", honest -> new Decorator(honest) {
                    private final Queue<Work> submitted = new ConcurrentLinkedQueue<>();

                    @Override
                    public Work submit(Collective call, CallOptions options) {
                        Work work = super.submit(call, options);
                        submitted.add(work);
                        return work;
                    }

                    @Override
                    public CallCounters counters() {
                        return super.counters()
                                .plus(barriers(submitted.stream()
                                        .filter(work -> !hasSucceeded(work))
                                        .count()));
                    }
                }));
    }

    private static Arguments counting(String what, UnaryOperator<CallCounters> wrong) {
        return wrong(331, what, honest -> new Decorator(honest) {
            @Override
            public CallCounters counters() {
                return wrong.apply(super.counters());
            }
        });
    }

    private static boolean hasSucceeded(Work work) {
        try {
            return work.isDone() && work.await(Duration.ZERO);
        } catch (FerroException failure) {
            return false;
        }
    }

    private static CallCounters barriers(long calls) {
        Totals more = new Totals(calls, 0, Duration.ZERO);
        return new CallCounters(Map.of(BARRIER, more), Totals.NONE, Totals.NONE);
    }

    static Stream<Arguments> blocks() {
        return Stream.of(
                submits(303, "counts from zero", (honest, call, options) -> new Handle(honest.submit(call, options)) {
                    @Override
                    public long sequence() {
                        return super.sequence() - 1;
                    }
                }),
                submits(304, "aborts when polled", (honest, call, options) -> new Handle(honest.submit(call, options)) {
                    @Override
                    public boolean await(Duration timeout) {
                        boolean done = super.await(timeout);
                        if (!done) {
                            honest.abort(new IllegalStateException("looked in vain"));
                        }
                        return done;
                    }
                }),
                joins(312, "loses the broadcasts of a block", call -> call.kind() == BROADCAST ? null : call),
                joins(
                        312,
                        "scans a block inclusively",
                        call -> call.kind() == EXCLUSIVE_SCAN ? Collective.scan(call.operand(), ReduceOp.SUM) : call),
                wrong(313, "says that a block has ended", honest -> new Decorator(honest) {
                    @Override
                    public Work submitCoalesced(List<Collective> calls, List<String> labels, Duration timeout) {
                        super.submitCoalesced(calls, labels, timeout);
                        return DONE;
                    }
                }));
    }

    /** Submits other calls for those of a block, or none for some. */
    private static Arguments joins(int rule, String what, UnaryOperator<Collective> other) {
        return wrong(rule, what, honest -> new Decorator(honest) {
            @Override
            public Work submitCoalesced(List<Collective> calls, List<String> labels, Duration timeout) {
                List<Collective> changed =
                        calls.stream().map(other).filter(Objects::nonNull).toList();
                return super.submitCoalesced(changed, labels.subList(0, changed.size()), timeout);
            }
        });
    }

    static Stream<Arguments> failures() {
        return Stream.of(
                wrong(501, "swallows mismatches", running((honest, call, honestly) -> {
                    try {
                        honestly.run();
                    } catch (FerroException failure) {
                        if (failure.code() != Code.MISMATCH) {
                            throw failure;
                        }
                    }
                })),
                wrong(501, "lets data land before it polls", running((honest, call, honestly) -> {
                    try {
                        honestly.run();
                    } catch (FerroException failure) {
                        if (call.operand() instanceof HostTensor data && data.memory() instanceof float[] floats) {
                            // as if what the last rank sent had been added
                            floats[(int) data.offset()] *= 1 + (1 << honest.worldSize() - 1);
                        }
                        throw failure;
                    }
                })),
                wrong(503, "forgets the interrupt", running((honest, call, honestly) -> {
                    try {
                        honestly.run();
                    } finally {
                        Thread.interrupted();
                    }
                })),
                wrong(506, "recovers from failures", honest -> new Decorator(honest) {
                    private volatile boolean failed;

                    @Override
                    public Work submit(Collective call, CallOptions options) {
                        return failed ? DONE : super.submit(call, options);
                    }

                    @Override
                    public void run(Collective call, CallOptions options) {
                        try {
                            super.run(call, options);
                        } catch (FerroException failure) {
                            failed = true;
                            throw failure;
                        }
                    }
                }),
                submits(517, "forgets labels", FORGETS_LABELS),
                submits(518, "forgets labels", FORGETS_LABELS));
    }

    static Stream<Arguments> ends() {
        return Stream.of(
                wrong(602, "takes calls after close", honest -> new Decorator(honest) {
                    private volatile boolean closed;

                    @Override
                    public Work submit(Collective call, CallOptions options) {
                        return closed ? DONE : super.submit(call, options);
                    }

                    @Override
                    public void close(Duration timeout) {
                        closed = true;
                        super.close(timeout);
                    }
                }),
                wrong(608, "leaves a thread behind", honest -> new Decorator(honest) {
                    @Override
                    public void close(Duration timeout) {
                        Thread left = new Thread(WrongBackEndsTest::live, "left-" + rank());
                        left.setDaemon(true);
                        left.start();
                        super.close(timeout);
                    }
                }),
                wrong(115, "gives the same memory twice", honest -> new Decorator(honest) {
                    private final HostTensor given = HostTensor.allocate(FLOAT32, 200_000);

                    @Override
                    public Allocation allocate(DataType dataType, long elementCount, Duration timeout) {
                        return Allocation.own(given.slice(0, elementCount), "the same memory each time");
                    }
                }),
                wrong(115, "writes behind a slice of allocated memory", running((honest, call, honestly) -> {
                    honestly.run();
                    if (call.op() == ReduceOp.MAX && call.operand() instanceof HostTensor data) {
                        clearBehind(data);
                    }
                })),
                // right numbers, but another back end would refuse the same program
                changes(
                        120,
                        "copies operands that overlap",
                        ALL_TO_ALL,
                        (honest, call) -> call.on(copy(call), call.out())),
                changes(121, "refuses a result inside its operand", REDUCE_SCATTER, (honest, call) -> {
                    if (((HostTensor) call.in()).memory() == ((HostTensor) call.out()).memory()) {
                        throw new IllegalArgumentException("reduceScatter: operand and result are in one memory");
                    }
                    return call;
                }));
    }

    private static void clearBehind(HostTensor data) {
        int first = (int) data.offset();
        if (data.memory() instanceof float[] floats) {
            floats[first + (int) data.elementCount()] = 0;
        } else {
            ((ByteBuffer) data.memory()).putFloat(first + (int) data.byteCount(), 0);
        }
    }

    private static void live() {
        long end = System.nanoTime() + LIFE_NANOS;
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    private static HostTensor copy(Collective call) {
        HostTensor in = (HostTensor) call.in();
        HostTensor copy = HostTensor.allocate(in.dataType(), in.elementCount());
        copy.copyFrom(0, in, 0, in.elementCount());
        return copy;
    }

    static Stream<Arguments> devices() {
        return Stream.of(
                onDevices(101, "forgets the copy back", (honest, memory) -> new NaiveRoundTrip(honest, memory) {
                    @Override
                    DeviceTensor written(Collective call) {
                        return null;
                    }
                }),
                zeroes(
                        101,
                        "overwrites its input",
                        (call, rank) -> call.kind() == ALL_REDUCE && call.in() != call.out()),
                onDevices(101, "reads before the copy out", (honest, memory) -> new NaiveRoundTrip(honest, memory) {
                    @Override
                    void awaitOut(Copy copy) {
                        // what comes next reads memory that nothing has been copied to
                    }
                }),
                onDevices(101, "ends before the copy back", (honest, memory) -> new NaiveRoundTrip(honest, memory) {
                    @Override
                    void awaitBack(Copy copy) {
                        // the call ends, its result is still on its way
                    }
                }),
                // trap T5: what is not the root's result lands in the other ranks' memory
                zeroes(
                        103,
                        "copies back on every rank",
                        (call, rank) -> call.kind() == REDUCE
                                && call.writes(rank) == null
                                && call.in().elementCount() > 0));
    }

    private static Arguments onDevices(
            int rule, String what, BiFunction<CollectiveBackend, HeapDeviceMemory, CollectiveBackend> make) {
        return Arguments.of(rule, Named.of(what, Subject.onDevices(make)));
    }

    private static Arguments zeroes(int rule, String what, BiPredicate<Collective, Integer> which) {
        return onDevices(rule, what, (honest, memory) -> new NaiveRoundTrip(honest, memory) {
            @Override
            DeviceTensor written(Collective call) {
                if (which.test(call, rank())) {
                    HostTensor zeros =
                            HostTensor.allocate(call.in().dataType(), call.in().elementCount());
                    devices.write(zeros, (DeviceTensor) call.in());
                }
                return super.written(call);
            }
        });
    }
}
