package ferro.backend.nccl.comm;

import ferro.FerroException;
import ferro.backend.nccl.NcclResult;
import ferro.backend.nccl.ffi.NativeLongs;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.backend.nccl.queue.CommIdentity;
import ferro.backend.nccl.queue.DeviceCall;
import ferro.backend.nccl.queue.DeviceThread;
import ferro.backend.nccl.queue.NcclOperation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;

/**
 * Creates communicators on the device thread. If NCCL does not block, the new handles are known at once, and an abort
 * can end a join that waits for missing ranks. If NCCL blocks, communicators that are created after the caller has
 * given up are freed at once.
 */
final class CommInitCall extends DeviceCall<List<CommHandle>> {
    private final DeviceThread thread;
    private final List<CommIdentity> identities;
    private final LongSupplier clock;
    private final ToIntFunction<NativeLongs> start;
    /** Native memory into which NCCL writes the addresses of the communicators until the call ends. */
    private final NativeLongs addresses;

    private final List<CommHandle> made = new ArrayList<>();
    private boolean nonBlocking;
    private boolean givenUp;

    /**
     * Creates the call. {@code start} begins to create communicators and returns NCCL's code. Its argument has one word
     * for the address of each communicator.
     */
    CommInitCall(
            DeviceThread thread, List<CommIdentity> identities, LongSupplier clock, ToIntFunction<NativeLongs> start) {
        this.thread = thread;
        this.identities = identities;
        this.clock = clock;
        this.start = start;
        this.addresses = new NativeLongs(identities.size());
    }

    @Override
    protected boolean issue() {
        CommIdentity first = identities.get(0);
        try {
            if (made.isEmpty()) {
                begin();
            }
            return settled();
        } catch (FerroException e) {
            giveUp("its init failed: " + e.getMessage());
            throw Communicator.during(NcclOperation.INIT, first, e);
        }
    }

    private void begin() {
        thread.use(identities.get(0).device());
        int code = start.applyAsInt(addresses);
        thread.forgetDevice();
        ResultChecker.begun(code, "ncclCommInit");
        nonBlocking = code == NcclResult.IN_PROGRESS.code();
        adopt();
    }

    private synchronized void adopt() {
        for (int i = 0; i < identities.size(); i++) {
            made.add(new CommHandle(addresses.at(i), identities.get(i), clock));
        }
        if (givenUp) {
            abortAll("no caller waits for its init any more");
        }
    }

    private boolean settled() {
        for (CommHandle handle : made) {
            if (handle.isAborted()) {
                throw handle.aborted(NcclOperation.INIT, null);
            }
            NcclResult state = nonBlocking ? handle.asyncError() : NcclResult.SUCCESS;
            if (state.equals(NcclResult.IN_PROGRESS)) {
                return false;
            }
            ResultChecker.nccl(state.code(), "ncclCommInit");
        }
        return true;
    }

    /**
     * Frees the communicators that exist, and makes the device thread free those that are created later; any thread may
     * call.
     */
    synchronized void giveUp(String why) {
        givenUp = true;
        abortAll(why);
    }

    private void abortAll(String why) {
        made.forEach(handle -> handle.abort(why));
    }

    @Override
    protected List<CommHandle> outcome() {
        addresses.close();
        return List.copyOf(made);
    }

    /** Returns whether calls on the new communicators return {@code ncclInProgress} instead of blocking. */
    boolean nonBlocking() {
        return nonBlocking;
    }
}
