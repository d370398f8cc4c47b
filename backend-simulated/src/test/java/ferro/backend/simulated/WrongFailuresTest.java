package ferro.backend.simulated;

import static ferro.CollectiveBackend.ANY_SOURCE;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import ferro.Backend;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.Message;
import ferro.MessageKind;
import ferro.MessageStatus;
import ferro.Work;
import ferro.spi.ForwardingBackend;
import ferro.tck.BackendContract;
import ferro.tck.Rule;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** The kit again: what needs a control lane to be wrong, as failures and parts do, must be caught by the rule it breaks. */
@Tag("long")
class WrongFailuresTest {
    private static UnaryOperator<CollectiveBackend> next;

    @DisplayName("the kit: what breaks a rule about failures is caught by it")
    @ParameterizedTest(name = "what {1} breaks rule {0}")
    @MethodSource({"statuses", "receives", "matches", "blame", "failures", "parts", "events"})
    void isCaughtByTheRuleItBreaks(int rule, UnaryOperator<CollectiveBackend> wrong) {
        next = wrong;
        Events tests = EngineTestKit.engine("junit-jupiter")
                .selectors(selectMethod(Decorated.class, testOf(rule)))
                .execute()
                .testEvents();

        assertTrue(tests.started().count() > 0, "rule " + rule + " did not run");
        assertTrue(
                tests.failed().count() > 0,
                () -> "rule " + rule + " lets it pass: " + tests.finished().count() + " tests ended well");
    }

    private static Method testOf(int rule) {
        return Arrays.stream(BackendContract.class.getMethods())
                .filter(method -> method.isAnnotationPresent(Rule.class)
                        && method.getAnnotation(Rule.class).value() == rule)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no test has rule " + rule));
    }

    /** The kit over decorated ranks. */
    static final class Decorated extends BackendContract {
        private final UnaryOperator<CollectiveBackend> decorate = next;

        @Override
        protected List<? extends Backend> createGroup(int worldSize) {
            return SimulatedBackend.createGroup(worldSize, Map.of("ferro.timeout", "1s")).stream()
                    .map(decorate)
                    .toList();
        }
    }

    private static Arguments wrong(int rule, String what, UnaryOperator<CollectiveBackend> decorate) {
        return Arguments.of(rule, Named.of(what, decorate));
    }

    /** Another submit of messages. */
    private interface Submit {
        Work submit(CollectiveBackend honest, Message message, CallOptions options);
    }

    private static Arguments submits(int rule, String what, Submit other) {
        return wrong(rule, what, honest -> new ForwardingBackend(honest) {
            @Override
            public Work submit(Message message, CallOptions options) {
                return other.submit(honest, message, options);
            }
        });
    }

    /** A handle that hands everything on. */
    private static class Handle implements Work {
        final Work work;

        Handle(Work work) {
            this.work = work;
        }

        @Override
        public boolean isDone() {
            return work.isDone();
        }

        @Override
        public void await() {
            work.await();
        }

        @Override
        public boolean await(Duration timeout) {
            return work.await(timeout);
        }

        @Override
        public CompletionStage<Void> completion() {
            return work.completion();
        }

        @Override
        public long sequence() {
            return work.sequence();
        }

        @Override
        public Duration elapsed() {
            return work.elapsed();
        }

        @Override
        public Optional<MessageStatus> status() {
            return work.status();
        }

        @Override
        public boolean cancel() {
            return work.cancel();
        }
    }

    /** Gives the status of the handle before. */
    private static final class Statuses {
        private Optional<MessageStatus> previous = Optional.empty();

        Work of(Work work) {
            return new Handle(work) {
                @Override
                public Optional<MessageStatus> status() {
                    Optional<MessageStatus> answer = previous.or(work::status);
                    previous = work.status();
                    return answer;
                }
            };
        }
    }

    /** Another handle of messages of a kind; each rank has a change of its own. */
    private static Arguments handles(int rule, String what, MessageKind kind, Supplier<UnaryOperator<Work>> changes) {
        return wrong(rule, what, honest -> new ForwardingBackend(honest) {
            private final UnaryOperator<Work> change = changes.get();

            @Override
            public Work submit(Message message, CallOptions options) {
                Work work = super.submit(message, options);
                return message.kind() == kind ? change.apply(work) : work;
            }
        });
    }

    static Stream<Arguments> statuses() {
        return Stream.of(
                handles(220, "gives the previous status", MessageKind.RECEIVE_UP_TO, () -> new Statuses()::of),
                handles(222, "gives the previous status", MessageKind.RECEIVE_UP_TO, () -> new Statuses()::of),
                handles(229, "describes the previous message", MessageKind.PROBE, () -> new Statuses()::of),
                // a receive up to a length fills the rest of its tensor with zeros
                submits(220, "writes behind the message", (honest, message, options) -> {
                    if (message.kind() == MessageKind.RECEIVE_UP_TO) {
                        Arrays.fill((int[]) ((HostTensor) message.tensor()).memory(), 0);
                    }
                    return honest.submit(message, options);
                }));
    }

    static Stream<Arguments> receives() {
        return Stream.of(
                // a receive from any rank is posted behind the receive that comes after it
                wrong(223, "posts any rank late", honest -> new ForwardingBackend(honest) {
                    private Late late;

                    @Override
                    public Work submit(Message message, CallOptions options) {
                        if (message.kind() == MessageKind.RECEIVE && message.peer() == ANY_SOURCE && late == null) {
                            late = new Late(() -> super.submit(message, options));
                            return late;
                        }
                        Work work = super.submit(message, options);
                        if (late != null && message.kind() == MessageKind.RECEIVE) {
                            late.posted();
                            late = null;
                        }
                        return work;
                    }
                }),
                wrong(224, "stays with one rank", WrongFailuresTest::stayingWithOneRank),
                handles(
                        226,
                        "blames all candidates",
                        MessageKind.RECEIVE,
                        () -> kept -> new Handle(kept) {
                            @Override
                            public void await() {
                                try {
                                    work.await();
                                } catch (FerroException failure) {
                                    throw blaming(failure, 1, 2);
                                }
                            }
                        }),
                handles(
                        228,
                        "cancels after the match",
                        MessageKind.RECEIVE,
                        () -> kept -> new Handle(kept) {
                            @Override
                            public boolean cancel() {
                                super.cancel();
                                return true;
                            }
                        }));
    }

    /** A receive from any rank waits for the rank that has sent the last message, as long as there was one. */
    private static ForwardingBackend stayingWithOneRank(CollectiveBackend honest) {
        return new ForwardingBackend(honest) {
            private int last = ANY_SOURCE;

            @Override
            public Work submit(Message message, CallOptions options) {
                boolean isFromAny = message.kind() == MessageKind.RECEIVE && message.peer() == ANY_SOURCE;
                Work work = super.submit(
                        isFromAny ? Message.recv(message.tensor(), last, message.tag()) : message, options);
                if (isFromAny && last == ANY_SOURCE) {
                    work.await();
                    last = work.status().orElseThrow().source();
                }
                return work;
            }
        };
    }

    /** The handle of a receive that is posted later. */
    private static final class Late extends Handle {
        private final Supplier<Work> post;
        private Work posted;

        Late(Supplier<Work> post) {
            super(null);
            this.post = post;
        }

        Work posted() {
            posted = posted == null ? post.get() : posted;
            return posted;
        }

        @Override
        public void await() {
            posted().await();
        }

        @Override
        public Optional<MessageStatus> status() {
            return posted().status();
        }
    }

    static Stream<Arguments> matches() {
        return Stream.of(
                submits(
                        229,
                        "takes probed messages",
                        (honest, message, options) -> honest.submit(
                                message.kind() == MessageKind.PROBE
                                        ? Message.match(message.peer(), message.tag())
                                        : message,
                                options)),
                // another receive may take a message that was matched
                submits(
                        230,
                        "loses matched messages",
                        (honest, message, options) -> honest.submit(
                                switch (message.kind()) {
                                    case MATCH -> Message.probe(message.peer(), message.tag());
                                    case RECEIVE_MATCHED ->
                                        Message.recvUpTo(message.tensor(), message.peer(), message.tag());
                                    default -> message;
                                },
                                options)),
                submits(230, "receives a matched message twice", (honest, message, options) -> {
                    try {
                        return honest.submit(message, options);
                    } catch (IllegalStateException receivedBefore) {
                        return Work.all(List.of());
                    }
                }),
                submits(
                        232,
                        "sends without a receive",
                        (honest, message, options) -> honest.submit(
                                message.kind() == MessageKind.SEND_UNTIL_MATCHED
                                        ? Message.send(message.tensor(), message.peer(), message.tag())
                                        : message,
                                options)));
    }

    private static FerroException blaming(FerroException failure, int... ranks) {
        return new FerroException(
                failure.code(), failure.where().blaming(ranks), failure.getMessage(), failure.getCause());
    }

    /** Changes what calls throw. */
    private static class Throwing extends ForwardingBackend {
        Throwing(CollectiveBackend honest) {
            super(honest);
        }

        /** Returns what is thrown instead. */
        FerroException changed(Collective call, FerroException failure) {
            return failure;
        }

        @Override
        public void run(Collective call, CallOptions options) {
            try {
                super.run(call, options);
            } catch (FerroException failure) {
                throw changed(call, failure);
            }
        }
    }

    static Stream<Arguments> blame() {
        return Stream.of(
                wrong(502, "blames nobody", honest -> new Throwing(honest) {
                    @Override
                    FerroException changed(Collective call, FerroException failure) {
                        return failure.code() == Code.TIMED_OUT ? blaming(failure) : failure;
                    }
                }),
                wrong(514, "blames its neighbour", honest -> new Throwing(honest) {
                    @Override
                    FerroException changed(Collective call, FerroException failure) {
                        int neighbour = (rank() + 1) % worldSize();
                        return failure.code() == Code.TIMED_OUT ? blaming(failure, neighbour) : failure;
                    }
                }),
                wrong(516, "blames who aborts later", honest -> new ForwardingBackend(honest) {
                    private volatile boolean abortedLater;

                    @Override
                    public void abort(Throwable cause) {
                        abortedLater |= failure().isPresent();
                        super.abort(cause);
                    }

                    @Override
                    public Optional<FerroException> failure() {
                        return super.failure().map(first -> abortedLater ? blaming(first, rank()) : first);
                    }
                }));
    }

    static Stream<Arguments> failures() {
        return Stream.of(
                wrong(504, "aborts alone", honest -> new ForwardingBackend(honest) {
                    private volatile FerroException aborted;

                    @Override
                    public void abort(Throwable cause) {
                        FerroException.Where where = FerroException.Where.of("alone", rank());
                        aborted = new FerroException(Code.ABORTED, where.blaming(rank()), "aborted: " + cause);
                    }

                    @Override
                    public void run(Collective call, CallOptions options) {
                        if (aborted != null) {
                            throw aborted;
                        }
                        super.run(call, options);
                    }
                }),
                wrong(507, "writes after its failure", honest -> new Throwing(honest) {
                    @Override
                    FerroException changed(Collective call, FerroException failure) {
                        if (call.out() instanceof HostTensor out && out.memory() instanceof float[] data) {
                            Thread late = new Thread(() -> writeForAWhile(data), "late");
                            late.setDaemon(true);
                            late.start();
                        }
                        return failure;
                    }
                }),
                wrong(512, "forgets its first cause", honest -> new Throwing(honest) {
                    private volatile boolean calledAgain;

                    @Override
                    FerroException changed(Collective call, FerroException failure) {
                        calledAgain |= failure.where().sequence() < 0;
                        return failure;
                    }

                    @Override
                    public Optional<FerroException> failure() {
                        return super.failure()
                                .map(first -> calledAgain && rank() > 0
                                        ? new FerroException(Code.PEER_LOST, first.where(), first.getMessage())
                                        : first);
                    }
                }));
    }

    private static void writeForAWhile(float[] data) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
        while (System.nanoTime() - until < 0) {
            data[data.length - 1] = -77;
            LockSupport.parkNanos(100_000);
        }
    }

    static Stream<Arguments> parts() {
        return Stream.of(
                // fails not, but makes wrong parts, which needs a control lane too
                wrong(413, "swaps two ranks of a large part", honest -> new ForwardingBackend(honest) {
                    @Override
                    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
                        int[] swapped = ranks.clone();
                        if (ranks.length >= 5) {
                            swapped[2] = ranks[4];
                            swapped[4] = ranks[2];
                        }
                        return super.newGroup(swapped, name, timeout);
                    }
                }),
                wrong(515, "takes its parent along", honest -> new ForwardingBackend(honest) {
                    @Override
                    public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
                        return new ForwardingBackend(super.newGroup(ranks, name, timeout)) {
                            @Override
                            public void abort(Throwable cause) {
                                super.abort(cause);
                                honest.abort(cause);
                            }
                        };
                    }
                }));
    }

    static Stream<Arguments> events() {
        return Stream.of(
                wrong(513, "tells twice", honest -> new ForwardingBackend(honest) {
                    @Override
                    public void onEvent(Consumer<GroupEvent> listener) {
                        super.onEvent(listener.andThen(event -> {
                            if (event.kind() == GroupEvent.Kind.FAILED) {
                                listener.accept(event);
                            }
                        }));
                    }
                }),
                wrong(513, "tells on the thread of the call", honest -> new Throwing(honest) {
                    private final List<Consumer<GroupEvent>> listeners = new CopyOnWriteArrayList<>();
                    private volatile GroupEvent told;

                    @Override
                    public void onEvent(Consumer<GroupEvent> listener) {
                        listeners.add(listener);
                        if (told != null) {
                            listener.accept(told);
                        }
                    }

                    @Override
                    FerroException changed(Collective call, FerroException failure) {
                        if (told == null) {
                            told = GroupEvent.of(
                                    GroupEvent.Kind.FAILED, "wrong", rank(), List.of(), failure.getMessage());
                            listeners.forEach(listener -> listener.accept(told));
                        }
                        return failure;
                    }
                }));
    }
}
