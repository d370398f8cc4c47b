package ferro.backend.nccl.comm;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Collective;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Store;
import ferro.Work;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.queue.LocalStore;
import ferro.control.group.InProcessControlLanes;
import ferro.group.SystemContext;
import ferro.harness.OnThread;
import ferro.spi.ControlLane;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Ranks of a group over the stand-in, each joined on a thread of its own through a store; closed all at once. */
public final class NcclRanks implements AutoCloseable {
    public static final Duration SOON = Duration.ofSeconds(10);
    static final Duration LIMIT = Duration.ofSeconds(30);

    private final List<JnaNcclBackend> ends;
    private final List<SystemContext> contexts;
    private final Set<Integer> muted;
    private final AtomicInteger messages;

    private NcclRanks(
            List<JnaNcclBackend> ends, List<SystemContext> contexts, Set<Integer> muted, AtomicInteger messages) {
        this.ends = ends;
        this.contexts = contexts;
        this.muted = muted;
        this.messages = messages;
    }

    /** What a rank does. */
    @FunctionalInterface
    interface Body {
        void run(JnaNcclBackend rank) throws Exception;
    }

    /** Joins that many ranks on devices 0 and up. */
    public static NcclRanks of(int worldSize) {
        return over(new LocalStore(), worldSize, Duration.ofSeconds(20));
    }

    /** Joins ranks that meet in a store. */
    static NcclRanks over(Store store, int worldSize, Duration timeout) {
        return named("ranks", store, worldSize, timeout);
    }

    /** Joins ranks of a group that has the name of another one beside it. */
    static NcclRanks named(String name, Store store, int worldSize, Duration timeout) {
        List<SystemContext> contexts = new ArrayList<>();
        List<CompletableFuture<JnaNcclBackend>> joining = new ArrayList<>();
        InProcessControlLanes lanes = new InProcessControlLanes(worldSize);
        Set<Integer> muted = ConcurrentHashMap.newKeySet();
        AtomicInteger messages = new AtomicInteger();
        for (int rank = 0; rank < worldSize; rank++) {
            SystemContext context = context(rank, store, Map.of());
            contexts.add(context);
            GroupSpec group = GroupSpec.of(name, rank, worldSize, timeout);
            int self = rank;
            BooleanSupplier isMuted = () -> {
                messages.incrementAndGet();
                return muted.contains(self);
            };
            ControlLane lane = muted(lanes.lane(rank, context.background()), isMuted);
            RankContext lent = lent(lane, context);
            joining.add(OnThread.start(() -> NcclWorld.join(group, lent)));
        }
        return new NcclRanks(joining.stream().map(OnThread::result).toList(), contexts, muted, messages);
    }

    /** A context whose group has control messages within this process. */
    static RankContext lent(ControlLane lane, RankContext context) {
        return new ForwardingContext(context) {
            @Override
            public <T extends AutoCloseable> Optional<T> find(Class<T> type) {
                return type == ControlLane.class ? Optional.of(type.cast(lane)) : super.find(type);
            }
        };
    }

    /** A lane of a rank that sends nothing while it is muted, as one that stands still. */
    private static ControlLane muted(ControlLane lane, BooleanSupplier isMuted) {
        Class<?>[] type = {ControlLane.class};
        return (ControlLane) Proxy.newProxyInstance(type[0].getClassLoader(), type, (self, method, given) -> {
            if (method.getName().equals("control") && isMuted.getAsBoolean()) {
                return null;
            }
            try {
                Object made = method.invoke(lane, given);
                return made instanceof ControlLane part ? muted(part, isMuted) : made;
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        });
    }

    static SystemContext context(int rank, Store store, Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(StandIn.settings());
        settings.put("ferro.nccl.device", Integer.toString(rank));
        settings.putAll(more);
        return SystemContext.of(settings, store);
    }

    /** Lets a rank send control messages, or not. */
    void mute(int rank, boolean is) {
        if (is) {
            muted.add(rank);
        } else {
            muted.remove(rank);
        }
    }

    /** Returns how many control messages the ranks have sent so far. */
    int controlMessages() {
        return messages.get();
    }

    public JnaNcclBackend rank(int rank) {
        return ends.get(rank);
    }

    List<JnaNcclBackend> ends() {
        return ends;
    }

    /** Runs a body on every rank; all must end well. */
    void run(Body body) {
        run(ends, body);
    }

    static void run(List<JnaNcclBackend> ranks, Body body) {
        for (Throwable outcome : outcomes(ranks, body)) {
            if (outcome != null) {
                throw new AssertionError("a rank failed: " + outcome, outcome);
            }
        }
    }

    /** Runs a body on every rank and returns how each ended, null for well. */
    List<Throwable> outcomes(Body body) {
        return outcomes(ends, body);
    }

    private static List<Throwable> outcomes(List<JnaNcclBackend> ranks, Body body) {
        List<CompletableFuture<Void>> running =
                ranks.stream().map(rank -> OnThread.run(() -> body.run(rank))).toList();
        List<Throwable> outcomes = new ArrayList<>();
        running.forEach(one -> outcomes.add(OnThread.outcome(one)));
        return outcomes;
    }

    /** Runs a call on all ranks but one, and a body on that one once the others have called. The call ends well on no rank. */
    List<Throwable> whileOthersWait(int other, Supplier<Collective> call, Body body) {
        CountDownLatch called = new CountDownLatch(ends.size() - 1);
        return outcomes(rank -> {
            if (rank.rank() == other) {
                assertTrue(called.await(10, TimeUnit.SECONDS), "not all other ranks have called");
                body.run(rank);
            } else {
                Work stuck = rank.submit(call.get(), Duration.ofSeconds(20));
                called.countDown();
                stuck.await();
            }
        });
    }

    /** Returns a sum of host memory over all ranks, in place. */
    static Collective sum(float... data) {
        return Collective.allReduce(HostTensor.of(data), ReduceOp.SUM);
    }

    @Override
    public void close() {
        run(JnaNcclBackend::close);
        contexts.forEach(SystemContext::close);
    }
}
