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
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;

/**
 * Runs one call: while a piece is on the network, the next one is copied out and the one before is copied back. For one
 * thread.
 *
 * <p>A failure of a copy to the host, and a copy that does not end, abort the host group, because the other ranks would
 * wait. A failure of a copy back does not abort it, because the other ranks have what they need: this rank takes part to
 * the end and fails then.
 */
final class Pipeline {
    /** How long copies of a failed call may still run before their tensors are given up. */
    private static final long GRACE_NANOS = 1_000_000_000L;

    private final RoundTripWork work;
    private final RoundTripRoute route;
    private final PieceCut cut;
    private final CollectiveBackend host;
    private final DeviceMemory memory;
    private final Piece[] pieces;
    private FerroTransferException notCopiedBack;
    private boolean hostFailed;
    private Copy within;

    Pipeline(RoundTripWork work, RoundTripRoute route, PieceCut cut, CollectiveBackend host, DeviceMemory memory) {
        this.work = work;
        this.route = route;
        this.cut = cut;
        this.host = host;
        this.memory = memory;
        this.pieces = new Piece[(int) Math.min(PieceCut.PIECES_AT_ONCE, cut.pieces())];
    }

    /** Runs the call to its end; throws the failure that the caller gets. */
    void run(StagingPool pool) {
        try {
            for (int place = 0; place < pieces.length; place++) {
                pieces[place] = new Piece(pool.take(route.stagingBytes(cut)));
            }
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
        long all = cut.pieces();
        if (all > 1) {
            agree();
        }
        for (long turn = 0; turn < all + 2; turn++) {
            if (turn < all) {
                startOut(turn);
            }
            if (turn >= 1 && turn - 1 < all) {
                handOver(turn - 1);
            }
            if (turn >= 2) {
                startBack(turn - 2);
            }
        }
        for (Piece piece : pieces) {
            awaitBack(piece);
        }
        if (within != null) {
            await(within, "a copy");
        }
    }

    /** Checks that all ranks cut alike before any data moves: ranks that cut differently would mix up their pieces. */
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

    private void startOut(long number) {
        Piece piece = place(number);
        awaitBack(piece);
        if (route.out() != null) {
            route.out()
                    .copies(
                            cut,
                            number,
                            (tensor, at) -> piece.copies.add(memory.toHost(tensor, bytes(piece, at, tensor))));
        }
    }

    private void handOver(long number) {
        Piece piece = place(number);
        for (Copy copy : piece.copies) {
            await(copy, "a GPU->CPU copy");
        }
        piece.copies.clear();
        piece.network = submit(route.onHost(piece.view(route, route.parts() * cut.length(number))));
    }

    private void startBack(long number) {
        Piece piece = place(number);
        await(piece.network);
        piece.network = null;
        if (route.back() == null || notCopiedBack != null) {
            return;
        }
        try {
            route.back()
                    .copies(
                            cut,
                            number,
                            (tensor, at) -> piece.copies.add(memory.toDevice(bytes(piece, at, tensor), tensor)));
        } catch (RuntimeException failure) {
            notCopiedBack(failure);
        }
    }

    private void awaitBack(Piece piece) {
        for (Copy copy : piece.copies) {
            try {
                await(copy, "a CPU->GPU copy");
            } catch (RuntimeException failure) {
                if (work.isStopping()) {
                    throw failure;
                }
                notCopiedBack(failure);
            }
        }
        piece.copies.clear();
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
     * Waits, after a failure, for everything that still uses staging memory and tensors: for the network without a bound,
     * for copies for a while.
     */
    private void settle() {
        long until = System.nanoTime() + GRACE_NANOS;
        if (within != null) {
            ended(within, until);
        }
        for (Piece piece : pieces) {
            if (piece != null && piece.network != null) {
                ended(piece.network);
                piece.network = null;
            }
            if (piece != null) {
                piece.copies.removeIf(copy -> ended(copy, until));
            }
        }
    }

    private static void ended(Work network) {
        try {
            network.await();
        } catch (RuntimeException expected) {
            // the group was aborted, and its work ends with a failure
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
        for (Piece piece : pieces) {
            if (piece != null && piece.copies.isEmpty()) {
                pool.give(piece.staging);
            } else if (piece != null) {
                pool.give(piece.staging, List.copyOf(piece.copies));
            }
        }
    }

    private Piece place(long number) {
        return pieces[(int) (number % pieces.length)];
    }

    private ByteBuffer bytes(Piece piece, int atElement, DeviceTensor like) {
        int from = atElement * route.type().byteSize();
        return piece.staging.buffer().clear().position(from).limit(from + (int) like.byteCount());
    }
}
