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
import java.util.function.Supplier;

/** Finds the host round trip, explains why a call may not use it, and logs, counts and records each call that does. */
final class SlowPath implements AutoCloseable {
    private static final String ARTIFACT = "ferro-backend-gloo-fallback";
    private static final String NONE = "nothing here does one: add " + ARTIFACT + " to the class path";

    private final RankContext context;
    private final Supplier<Optional<HostFallback>> finds;
    private final System.Logger log;
    private volatile HostFallback found;
    private volatile SlowCalls calls;
    private DeviceMemory memory;

    SlowPath(RankContext context, Supplier<Optional<HostFallback>> finds, System.Logger log) {
        this.context = context;
        this.finds = finds;
        this.log = log;
    }

    /**
     * Finds the fallback among the services. Throws UnsupportedOperationException, with the reason, if it cannot be loaded.
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

    /** Returns whether there is a service. It may be broken; the calls that need it report that. */
    static boolean isThere() {
        try {
            return service().isPresent();
        } catch (UnsupportedOperationException broken) {
            return true;
        }
    }

    /** Returns why a back end that is called directly takes no device tensors although the gate is open. */
    static String whyNotAlone() {
        return isThere() ? "this back end itself takes none: call ProcessGroup or GpuCollectives" : NONE;
    }

    /** Returns whether calls through host memory are still to be handed over to a back end; cheap if there never was any. */
    boolean isBusy(CollectiveBackend host, Duration patience) {
        HostFallback carrier = calls().carrier();
        return carrier != null && carrier.isBusy(host, context, patience);
    }

    /** Queues a call on host tensors behind the calls through host memory; call it only while {@link #isBusy}. */
    Work behind(Collective call, CollectiveBackend host, CallOptions options) {
        HostFallback carrier = calls().carrier();
        if (carrier == null) {
            throw new IllegalStateException(call.kind() + " on rank " + host.rank()
                    + " has nothing to come behind: no call goes through host memory: give it to the back end");
        }
        return carrier.submit(call, host, context, options);
    }

    RankContext context() {
        return context;
    }

    /** Returns the fallback that carries the tensors; call it only after {@link #refusal} has found it. */
    HostFallback fallback() {
        return found;
    }

    synchronized DeviceMemory memory() {
        if (memory == null) {
            memory = DeviceMemories.shared(context);
        }
        return memory;
    }

    /** Returns why a call may not take the slow path, as an exception message; empty if it may. */
    Optional<String> refusal(String operation, Backend backend, FallbackGate gate) {
        if (gate.isOpen() && backend instanceof CollectiveBackend) {
            return missing().map(why -> gate.refusal(operation, backend, why));
        }
        return Optional.of(gate.refusal(
                operation,
                backend,
                "this back end has no collectives: wrap it by ProcessGroup.of, which with " + ARTIFACT
                        + " on the class path takes device tensors"));
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

    /** Logs a warning, counts the call and records it; runs on every call, before any data moves. */
    void tell(String operation, String label, DeviceTensor tensor, FallbackGate gate, Backend backend) {
        log.log(
                System.Logger.Level.WARNING,
                CallOptions.named(operation, label) + " of " + tensor + " on rank " + backend.rank() + " of world size "
                        + backend.worldSize()
                        + " takes a host round-trip (Gloo-equivalent slow path), collective=" + operation + ": unset "
                        + gate.decidedBy() + " to get an error");
        calls().add(operation, found);
        FallbackTrace.commit(operation, label, tensor.byteCount(), tensor.device());
    }

    /**
     * Returns the shared data about the slow path. It is never released: the counters live as long as the context and hold
     * no resources.
     */
    SlowCalls calls() {
        SlowCalls known = calls;
        if (known == null) {
            known = context.shared(SlowCalls.class, SlowCalls::new);
            calls = known;
        }
        return known;
    }

    @Override
    public synchronized void close() {
        if (memory != null) {
            memory = null;
            context.release(DeviceMemory.class);
        }
    }
}
