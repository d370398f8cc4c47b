package ferro.integration.misuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.CallCounters;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DataType;
import ferro.DeviceTensor;
import ferro.HostTensor;
import ferro.Medium;
import ferro.Message;
import ferro.RankEnd;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.simulated.SimulatedBackend;
import ferro.backend.simulated.Simulation;
import ferro.collectives.CollectiveEngine;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.FallbackDecision;
import ferro.dispatch.GpuCollectives;
import ferro.examples.plain.QueueBackend;
import ferro.group.Codec;
import ferro.group.Groups;
import ferro.group.JoinOptions;
import ferro.group.MatchedMessage;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.harness.OnThread;
import ferro.spi.ForwardingContext;
import ferro.spi.GroupSpec;
import ferro.spi.InterfaceFilter;
import ferro.spi.JoinProgressPrinter;
import ferro.spi.Listeners;
import ferro.spi.Settings;
import ferro.tck.HeapDeviceMemory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** What the calls are made on: a group, the first rank's end of which they meet, and everything else that has methods. */
final class Rig implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(10);

    final SystemContext context = SystemContext.of(Map.of());
    private final List<ProcessGroup> ranks;
    private final CollectiveBackend plain;
    private final CollectiveBackend roundTrip;

    /** Something to call a method on; the name says which of several. */
    record Receiver(String name, Object one) {}

    /** Makes ranks whose calls end soon, should they begin. */
    Rig(int worldSize, Duration timeout) {
        Map<String, String> settings = Map.of("ferro.timeout", timeout.toMillis() + "ms");
        ranks = SimulatedBackend.createGroup(worldSize, settings).stream()
                .map(ProcessGroup::of)
                .toList();
        plain = CollectiveEngine.over(QueueBackend.createGroup(1).get(0), context);
        SystemContext other =
                SystemContext.of(Map.of("ferro.backend", "gloo-fallback", "ferro.fallback.host", "simulated"));
        other.shared(DeviceMemory.class, () -> new HeapDeviceMemory(1));
        roundTrip = (CollectiveBackend)
                Groups.join(GroupSpec.of("alone", 0, 1, timeout), other).backend();
    }

    ProcessGroup group() {
        return ranks.get(0);
    }

    CollectiveBackend backend() {
        return (CollectiveBackend) group().backend();
    }

    /** Returns what a method of this type can be called on; empty if nobody has said. */
    List<Receiver> receivers(Class<?> type) {
        return switch (PublicCalls.name(type)) {
            case "ProcessGroup" -> one(group());
            case "GroupObjects" -> one(group().objects(Codec.utf8()));
            case "CollectiveBackend", "Backend" ->
                List.of(
                        new Receiver("simulated", backend()),
                        new Receiver("plain", plain),
                        new Receiver("round trip", roundTrip));
            case "Work" -> List.of(new Receiver("done", done()), new Receiver("coalesced", coalesced()));
            case "MatchedMessage" -> one(matched());
            case "Message" -> one(Message.match(0, 0));
            case "HostTensor" -> one(HostTensor.of(new float[4]));
            case "CallOptions" -> one(CallOptions.of(SOON));
            case "ReduceOp" -> one(ReduceOp.MAX);
            case "GpuCollectives" -> one(GpuCollectives.with(context));
            case "FallbackDecision" -> one(FallbackDecision.of(context));
            case "SystemContext", "RankContext" -> one(context);
            case "JoinOptions" -> one(JoinOptions.of(0, 1));
            case "Setting" -> one(Settings.TIMEOUT);
            case "GroupSpec" -> one(GroupSpec.of("g", 0, 1, SOON));
            case "JoinProgressPrinter" -> one(JoinProgressPrinter.begin("g", context));
            case "CallCounters" -> one(CallCounters.NONE);
            case "CallCounters.Totals" -> one(CallCounters.Totals.NONE);
            case "InterfaceFilter" -> one(InterfaceFilter.of("lo"));
            case "Medium" -> one(Medium.UNKNOWN);
            case "RankEnd" -> one(RankEnd.of(1, "h", 0));
            case "Listeners" -> one(new Listeners("g", Runnable::run, false));
            case "Simulation" -> one(Simulation.of(1, 7));
            case "SimulatedBackend", "ForwardingBackend" -> one(backend());
            case "ForwardingContext" -> one(new ForwardingContext(context) {});
            default -> Collective.class.isAssignableFrom(type) ? collectives(type) : List.of();
        };
    }

    /** Returns the names of what a call is made on; one empty name if it needs nothing. */
    Stream<String> names(PublicCalls.Call call) {
        if (!call.needsReceiver()) {
            return Stream.of("");
        }
        List<Receiver> receivers = receivers(call.on());
        assertTrue(!receivers.isEmpty(), "what is " + call + " called on? say so in Rig, or why users never call it");
        return receivers.stream().map(Receiver::name);
    }

    /** Returns what a call is made on by its name; null if it needs nothing. */
    Object receiver(PublicCalls.Call call, String name) {
        return call.needsReceiver()
                ? receivers(call.on()).stream()
                        .filter(each -> each.name().equals(name))
                        .findFirst()
                        .orElseThrow()
                        .one()
                : null;
    }

    /** Makes a call; returns what it throws, null for nothing. */
    static Throwable thrown(PublicCalls.Call call, Object receiver, Object... arguments) {
        try {
            call.make(receiver, arguments);
            return null;
        } catch (Throwable thrown) {
            return thrown;
        }
    }

    private static List<Receiver> one(Object object) {
        return List.of(new Receiver("", object));
    }

    private static List<Receiver> collectives(Class<?> type) {
        HostTensor some = HostTensor.of(new float[] {4, 5});
        List<Collective> kinds = List.of(
                Collective.allReduce(some, ReduceOp.MAX),
                Collective.broadcast(some, 0),
                Collective.reduce(some, ReduceOp.MAX, 0),
                Collective.allGather(some, some),
                Collective.reduceScatter(some, some, ReduceOp.MAX),
                Collective.gather(some, some, 0),
                Collective.scatter(some, some, 0),
                Collective.allToAll(some, some),
                Collective.barrier());
        return kinds.stream()
                .filter(type::isInstance)
                .map(each -> new Receiver(each.kind().label(), each))
                .toList();
    }

    private MatchedMessage matched() {
        Work sent = ranks.get(1).sendAsync(HostTensor.of(new float[1]), 0, 9);
        MatchedMessage matched = group().match(1, 9);
        assertTrue(sent.await(SOON), "a small message is sent");
        return matched;
    }

    private Work done() {
        List<Work> barriers = ranks.stream().map(ProcessGroup::barrierAsync).toList();
        assertTrue(barriers.stream().allMatch(each -> each.await(SOON)), "a barrier of all ranks");
        return barriers.get(0);
    }

    void onEachRank(Consumer<ProcessGroup> calls) {
        List<CompletableFuture<Void>> running = ranks.stream()
                .map(rank -> OnThread.run(() -> calls.accept(rank)))
                .toList();
        running.forEach(OnThread::result);
    }

    private Work coalesced() {
        AtomicReference<Work> kept = new AtomicReference<>();
        for (ProcessGroup rank : ranks.subList(1, ranks.size())) {
            OnThread.run(() -> rank.coalesced(rank::barrierAsync));
        }
        group().coalesced(() -> kept.set(group().barrierAsync()));
        return kept.get();
    }

    /** Makes a collective of all ranks; returns its number, which tells how many there were. */
    long meet() {
        List<Work> barriers = ranks.stream().map(ProcessGroup::barrierAsync).toList();
        for (Work each : barriers) {
            assertTrue(each.await(SOON), "the next barrier has not ended");
            assertEquals(barriers.get(0).sequence(), each.sequence(), "numbers of one barrier");
        }
        return barriers.get(0).sequence();
    }

    static DeviceTensor onDevice() {
        return new DeviceTensor(DataType.FLOAT32, new long[] {2}, 64, 0, null);
    }

    @Override
    public void close() {
        ranks.forEach(each -> each.close(Duration.ZERO));
        plain.close();
        roundTrip.close(Duration.ZERO);
        context.close();
    }
}
