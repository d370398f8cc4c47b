package ferro.dispatch;

import ferro.Backend;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.Work;
import ferro.spi.RankContext;
import ferro.spi.Services;
import java.time.Duration;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/**
 * The access of the dispatch to the host round trip. This class finds the fallback, and gives the reason why a call may
 * not use the fallback. This class also logs, counts and records each call through host memory.
 */
final class HostFallbackPath implements AutoCloseable {
    private static final String ARTIFACT = "ferro-backend-gloo-fallback";
    private static final String NONE =
            "the class path has no implementation of the round-trip: add " + ARTIFACT + " to the class path";

    private static final boolean HAS_JFR =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private final RankContext context;
    private final Supplier<Optional<HostFallback>> finds;
    private final System.Logger log;
    private volatile HostFallback found;
    /** The shared data, which is never released, since the counters live as long as the context. */
    private final FallbackCounters calls;

    private DeviceMemory memory;

    /**
     * Data about the slow path that all {@code GpuCollectives} of one context share. A call on host tensors may have to
     * wait for the fallback that ran the last call on the slow path, even if another {@code GpuCollectives} object made
     * that call.
     *
     * @param byCollective number of calls on the slow path, by name of the collective
     * @param carrier      fallback that ran the last call on the slow path; null before the first call on the slow path
     */
    private record FallbackCounters(
            ConcurrentHashMap<String, LongAdder> byCollective, AtomicReference<HostFallback> carrier)
            implements AutoCloseable {
        FallbackCounters() {
            this(new ConcurrentHashMap<>(), new AtomicReference<>());
        }

        @Override
        public void close() {
            // counters hold no resources
        }
    }

    static HostFallbackPath of(RankContext context) {
        return new HostFallbackPath(context, HostFallbackPath::service, System.getLogger("ferro.gpu.fallback"));
    }

    HostFallbackPath(RankContext context, Supplier<Optional<HostFallback>> finds, System.Logger log) {
        this.context = context;
        this.calls = context.shared(FallbackCounters.class, FallbackCounters::new);
        this.finds = finds;
        this.log = log;
    }

    /**
     * Finds the fallback among the services. Throws UnsupportedOperationException with the reason if the fallback
     * cannot be loaded.
     */
    static Optional<HostFallback> service() {
        try {
            return Services.first(HostFallback.class);
        } catch (ServiceConfigurationError | LinkageError broken) {
            throw new UnsupportedOperationException(
                    "the host round-trip cannot be loaded (" + broken.getMessage()
                            + "): use one version of ferro's jars",
                    broken);
        }
    }

    /**
     * Returns whether a fallback service is declared. The result is true even if the service cannot be loaded. If the
     * service cannot be loaded, calls that need the service throw an exception.
     */
    static boolean isDeclared(Supplier<Optional<HostFallback>> finds) {
        try {
            return finds.get().isPresent();
        } catch (UnsupportedOperationException broken) {
            return true;
        }
    }

    /**
     * Returns why a back end that is called directly does not accept device tensors although the settings allow the
     * host round trip.
     */
    static String whyNotAlone() {
        return isDeclared(HostFallbackPath::service)
                ? "this back end itself does not accept device tensors: call ProcessGroup or GpuCollectives"
                : NONE;
    }

    /**
     * Returns what the host round trip lacks besides the permission of the settings, as the end of a sentence; empty if
     * nothing is missing.
     */
    static String needs(Supplier<Optional<HostFallback>> finds) {
        return isDeclared(finds) ? "" : " and needs " + ARTIFACT + " on the class path";
    }

    /**
     * Returns whether calls through host memory have not yet been passed to a back end. The check is cheap if no call
     * has ever gone through host memory.
     */
    boolean isBusy(CollectiveBackend host, Duration timeout) {
        HostFallback last = calls.carrier.get();
        return last != null && last.isBusy(host, context, timeout);
    }

    /**
     * Queues a call on host tensors behind the calls through host memory. Callers call this method only while
     * {@link #isBusy} returns true.
     */
    Work behind(Collective call, CollectiveBackend host, CallOptions options) {
        HostFallback last = calls.carrier.get();
        if (last == null) {
            throw new IllegalStateException(call.kind() + " on rank " + host.rank()
                    + " cannot be queued behind calls through host memory, because no such call was made: "
                    + "call the back end itself");
        }
        return last.submit(call, host, context, options);
    }

    RankContext context() {
        return context;
    }

    /** Returns the fallback. Callers call this method only after {@link #refusal} has found the fallback. */
    HostFallback fallback() {
        return found;
    }

    synchronized DeviceMemory memory() {
        if (memory == null) {
            memory = DeviceMemories.shared(context);
        }
        return memory;
    }

    /**
     * Returns the exception message for a call that may not take the slow path, or empty if the call may take the slow
     * path.
     */
    Optional<String> refusal(String operation, Backend backend, FallbackDecision decision) {
        if (!decision.isOpen()) {
            return Optional.of(decision.refusal(operation, backend, needs(finds)));
        }
        if (backend instanceof CollectiveBackend) {
            return missing().map(why -> decision.refusal(operation, backend, why));
        }
        return Optional.of(decision.refusal(
                operation,
                backend,
                "this back end has no collectives: wrap it with ProcessGroup.of, which accepts " + "device tensors if "
                        + ARTIFACT + " is on the class path"));
    }

    private Optional<String> missing() {
        HostFallback fallback = found;
        if (fallback == null) {
            Optional<HostFallback> service = finds.get();
            if (service.isEmpty()) {
                return Optional.of(NONE);
            }
            fallback = service.get();
            found = fallback;
        }
        return fallback.unavailableBecause(context).map(why -> ARTIFACT + " cannot work here: " + why);
    }

    /**
     * Logs a warning, counts the call and records it as a JFR event. Runs for every call on the slow path, before any
     * data moves.
     */
    void publish(String operation, String label, DeviceTensor tensor, FallbackDecision decision, Backend backend) {
        log.log(
                System.Logger.Level.WARNING,
                CallOptions.named(operation, label) + " of " + tensor + " on rank " + backend.rank() + " of world size "
                        + backend.worldSize()
                        + " takes a host round-trip (Gloo-equivalent slow path), collective=" + operation + ": unset "
                        + decision.decidedBy() + " to get an error");
        calls.carrier.set(found);
        calls.byCollective.computeIfAbsent(operation, name -> new LongAdder()).increment();
        if (HAS_JFR) {
            GpuFallback.commit(operation, label, tensor.byteCount(), tensor.device());
        }
    }

    long count(String collective) {
        LongAdder count = calls.byCollective.get(collective);
        return count == null ? 0 : count.sum();
    }

    /**
     * The JFR event of a call on device tensors that is about to go through host memory. No other class of this package
     * uses the module jdk.jfr, which a small runtime may lack.
     */
    @Name("ferro.GpuFallback")
    @Label("GPU Fallback")
    @Category("ferro")
    @Description("A call on device tensors that goes through host memory, as there is no NCCL")
    static final class GpuFallback extends Event {
        @Label("Collective")
        String collective;

        @Label("Call Label")
        @Description("label of the call; empty if it has none")
        String label;

        @Label("Bytes")
        @Description("of the larger tensor of the call")
        @DataAmount
        long bytes;

        @Label("Device")
        int device;

        private static void commit(String collective, String label, long bytes, int device) {
            GpuFallback event = new GpuFallback();
            event.collective = collective;
            event.label = label;
            event.bytes = bytes;
            event.device = device;
            event.commit();
        }
    }

    @Override
    public synchronized void close() {
        if (memory != null) {
            memory = null;
            context.release(DeviceMemory.class);
        }
    }
}
