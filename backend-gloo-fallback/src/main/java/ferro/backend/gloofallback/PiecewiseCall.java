package ferro.backend.gloofallback;

import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.DeviceTensor;
import ferro.FerroException.Code;
import ferro.FerroTransferException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.dispatch.DeviceMemory;
import ferro.dispatch.DeviceMemory.Copy;
import ferro.dispatch.DeviceMemory.Staging;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs one call piece by piece: copies a piece to the host, makes the call on the host, and copies the piece back. Not
 * thread-safe.
 *
 * <p>If a copy to the host fails, or a copy does not end, the host group is aborted, because the other ranks would
 * wait. If a copy back fails, the group is not aborted, because the other ranks have their data. After a failed copy
 * back, this rank runs the remaining pieces of the call, and then the call fails on this rank.
 */
final class PiecewiseCall {
    /** How long the copies of a failed call may still run until the call abandons their tensors. */
    private static final long GRACE_NANOS = 1_000_000_000L;

    private final RoundTripWork work;
    private final RoundTripCopies route;
    private final PieceLayout cut;
    private final CollectiveBackend host;
    private final DeviceMemory memory;
    /** Copies to the host or to the device that may still run. */
    private final List<Copy> copies = new ArrayList<>();

    private Staging staging;
    /** The pending work of the host back end; null if no work is pending. */
    private Work network;

    private FerroTransferException notCopiedBack;
    private boolean hostFailed;
    private Copy within;

    PiecewiseCall(
            RoundTripWork work, RoundTripCopies route, PieceLayout cut, CollectiveBackend host, DeviceMemory memory) {
        this.work = work;
        this.route = route;
        this.cut = cut;
        this.host = host;
        this.memory = memory;
    }

    /** Runs the call to its end. Throws the failure for the caller. */
    void run(StagingPool pool) {
        try {
            staging = pool.take(route.stagingBytes(cut));
            move();
        } catch (RuntimeException | Error failure) {
            if (!hostFailed) {
                host.abort(failure);
            }
            settle();
            throw failure;
        } finally {
            giveBack(pool);
        }
        if (notCopiedBack != null) {
            throw notCopiedBack;
        }
    }

    private void move() {
        if (route.within() != null) {
            within = memory.onDevice(route.within().from(), route.within().to());
        }
        if (cut.pieces() > 1) {
            agree();
        }
        for (long piece = 0; piece < cut.pieces(); piece++) {
            copyOut(piece);
            staging.buffer()
                    .clear()
                    .limit(route.parts() * cut.length(piece) * route.type().byteSize());
            network = submit(route.onHost(HostTensor.of(route.type(), staging.buffer())));
            await(network);
            network = null;
            copyBack(piece);
        }
        if (within != null) {
            await(within, "a copy");
        }
    }

    /** Checks that all ranks cut the call into the same pieces. Otherwise, ranks would combine different elements. */
    private void agree() {
        long[] bounds = {cut.partElements(), -cut.partElements(), cut.pieceElements(), -cut.pieceElements()};
        HostTensor both = HostTensor.of(bounds);
        Work agreeing = submit(Collective.allReduce(both, ReduceOp.MAX));
        await(agreeing);
        if (bounds[0] != -bounds[1] || bounds[2] != -bounds[3]) {
            // an abort must not reach a rank before that rank knows the reason
            ended(submit(Collective.barrier()));
            throw work.failure(Code.MISMATCH, differently(bounds), null);
        }
    }

    private String differently(long[] bounds) {
        return "ranks cut the call differently: this rank has " + cut.partElements() + " elements in pieces of "
                + cut.pieceElements() + ", all ranks have " + -bounds[1] + " to " + bounds[0]
                + " elements in pieces of " + -bounds[3] + " to " + bounds[2]
                + ": give every rank the same length and the same ferro.fallback.chunk";
    }

    private void copyOut(long piece) {
        if (route.out() != null) {
            route.out().copies(cut, piece, (tensor, at) -> copies.add(memory.toHost(tensor, bytes(at, tensor))));
        }
        for (Copy copy : copies) {
            await(copy, "a GPU->CPU copy");
        }
        copies.clear();
    }

    private void copyBack(long piece) {
        if (route.back() == null || notCopiedBack != null) {
            return;
        }
        try {
            route.back().copies(cut, piece, (tensor, at) -> copies.add(memory.toDevice(bytes(at, tensor), tensor)));
        } catch (RuntimeException failure) {
            notCopiedBack(failure);
        }
        for (Copy copy : copies) {
            try {
                await(copy, "a CPU->GPU copy");
            } catch (RuntimeException failure) {
                if (work.isStopping()) {
                    throw failure;
                }
                notCopiedBack(failure);
            }
        }
        copies.clear();
    }

    private void notCopiedBack(RuntimeException cause) {
        if (notCopiedBack == null) {
            notCopiedBack = new FerroTransferException(
                    work.text("CPU->GPU transfer failed on device " + route.device() + ": " + cause.getMessage()
                            + ": the collective itself succeeded on every rank, but the output is incomplete"),
                    cause);
        } else {
            notCopiedBack.addSuppressed(cause);
        }
    }

    private void await(Copy copy, String what) {
        work.await(copy, what + " on device " + route.device());
    }

    private Work submit(Collective call) {
        work.stopIfLate("an earlier operation");
        try {
            Work submitted = host.submit(call, work.rest());
            work.numbered(submitted.sequence());
            return submitted;
        } catch (RuntimeException | Error failure) {
            hostFailed = true;
            throw failure;
        }
    }

    private void await(Work network) {
        try {
            network.await();
        } catch (RuntimeException | Error failure) {
            hostFailed = true;
            throw failure;
        }
    }

    /**
     * Waits, after a failure, for all users of staging memory and tensors. Waits for the network without a limit, and
     * for copies for a limited time.
     */
    private void settle() {
        long until = System.nanoTime() + GRACE_NANOS;
        if (within != null) {
            ended(within, until);
        }
        if (network != null) {
            ended(network);
        }
        copies.removeIf(copy -> ended(copy, until));
    }

    private static void ended(Work network) {
        try {
            network.await();
        } catch (RuntimeException expected) {
            // the group was aborted, so its work ends with a failure
        }
    }

    private static boolean ended(Copy copy, long untilNanos) {
        try {
            return copy.await(Duration.ofNanos(Math.max(0, untilNanos - System.nanoTime())));
        } catch (RuntimeException alsoFailed) {
            return true;
        }
    }

    private void giveBack(StagingPool pool) {
        if (staging != null) {
            pool.give(staging, copies);
        }
    }

    private ByteBuffer bytes(int atElement, DeviceTensor like) {
        int from = atElement * route.type().byteSize();
        return staging.buffer().clear().position(from).limit(from + (int) like.byteCount());
    }
}
