package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.backend.nccl.ffi.LibraryLoader;
import ferro.backend.nccl.ffi.LibraryLocations;
import ferro.backend.nccl.ffi.LoadedLibraries;
import ferro.backend.nccl.ffi.NativeLongs;
import ferro.backend.nccl.ffi.Nccl;
import ferro.backend.nccl.ffi.NcclCapability;
import ferro.backend.nccl.ffi.NcclConfigFunctions;
import ferro.backend.nccl.ffi.NcclIdStruct;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.Deadline;
import ferro.backend.nccl.queue.DeviceThread;
import ferro.backend.nccl.queue.NcclOperation;
import ferro.spi.RankContext;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/**
 * Creates communicators, each with a new thread. If an attempt fails or misses its deadline, frees everything that it
 * has created.
 */
final class CommFactory {
    private static final Duration END_BOUND = Duration.ofSeconds(2);

    private final LoadedLibraries libraries;
    private final LongSupplier clock;

    CommFactory(LoadedLibraries libraries, LongSupplier clock) {
        this.libraries = libraries;
        this.clock = clock;
    }

    /** Returns a factory with the settings of a context. Loads NCCL and the runtime unless they are loaded. */
    static CommFactory of(RankContext context) {
        return new CommFactory(LibraryLoader.load(LibraryLocations.of(context)), context::nanoTime);
    }

    LoadedLibraries libraries() {
        return libraries;
    }

    Deadline deadline(Duration timeout) {
        return Deadline.after(timeout, clock);
    }

    /**
     * Creates the communicator of one rank. All ranks must call at the same time. If NCCL lacks {@code
     * ncclCommInitRankConfig}, a call that waits for missing ranks cannot be ended, and its thread keeps running.
     *
     * @throws FerroException TIMED_OUT, INTERRUPTED, or NATIVE with a message that begins with {@code NCCL
     *     comm_init_rank failed}
     */
    Communicator rank(CommIdentity identity, NcclUniqueId id, Deadline deadline) {
        return make(List.of(identity), deadline, addresses -> begin(addresses.address(0), identity, id));
    }

    private int begin(long comm, CommIdentity identity, NcclUniqueId id) {
        NcclIdStruct.ByValue bytes = NcclIdStruct.of(id.toBytes());
        if (!libraries.has(NcclCapability.CONFIGURED)) {
            return Nccl.ncclCommInitRank(comm, identity.worldSize(), bytes, identity.rank());
        }
        try (NativeLongs config = NativeLongs.nonBlockingConfig()) {
            return NcclConfigFunctions.ncclCommInitRankConfig(
                    comm, identity.worldSize(), bytes, identity.rank(), config.address(0));
        }
    }

    /**
     * Creates the communicators of several devices at once, on one thread. One thread per communicator corrupts CUDA's
     * context on hosts with several models of GPU.
     */
    Communicator all(String group, int[] devices, Deadline deadline) {
        List<CommIdentity> identities = IntStream.range(0, devices.length)
                .mapToObj(rank -> new CommIdentity(group, rank, devices.length, devices[rank]))
                .toList();
        return make(
                identities, deadline, addresses -> Nccl.ncclCommInitAll(addresses.address(0), devices.length, devices));
    }

    /** Creates communicators by the given native call. If the native call does not return, its thread does not end. */
    Communicator make(List<CommIdentity> identities, Deadline deadline, ToIntFunction<NativeLongs> start) {
        DeviceThread thread = new DeviceThread(identities.get(0).threadName("nccl"), clock);
        CommInitCall init = new CommInitCall(thread, identities, clock, start);
        thread.submit(init);
        FerroException failure;
        try {
            if (init.await(deadline)) {
                return new Communicator(thread, init.result(), init.nonBlocking(), clock);
            }
            failure = failure(identities.get(0), deadline, null);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            failure = failure(identities.get(0), deadline, e);
        } catch (RuntimeException | Error e) {
            thread.close(END_BOUND);
            throw e;
        }
        init.drop(failure);
        init.giveUp(failure.getMessage());
        thread.close(END_BOUND);
        throw failure;
    }

    private static FerroException failure(CommIdentity identity, Deadline deadline, InterruptedException interrupt) {
        String late = ": not all of the " + identity.worldSize() + " ranks have joined, or they have different ids";
        String wayOut = "; join again on every rank";
        return Communicator.cutOff(identity, NcclOperation.INIT, deadline, late, wayOut, interrupt);
    }
}
