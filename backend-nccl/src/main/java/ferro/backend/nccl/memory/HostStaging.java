package ferro.backend.nccl.memory;

import ferro.dispatch.DeviceMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Host memory for fast copies, until it is closed. */
final class HostStaging implements DeviceMemory.Staging {
    private final ByteBuffer buffer;
    private final boolean pinned;
    private final MemoryLease lease;

    /** Lends out a part of a block, and gives the block back at the end. */
    HostStaging(HostBlock block, int bytes, Runnable giveBack) {
        this.buffer = block.memory().slice(0, bytes).order(ByteOrder.nativeOrder());
        this.pinned = block.pinned();
        this.lease = MemoryLease.of(giveBack, "staging memory of " + bytes + " bytes");
    }

    @Override
    public ByteBuffer buffer() {
        return buffer;
    }

    @Override
    public boolean pinned() {
        return pinned;
    }

    @Override
    public void close() {
        lease.close();
    }
}
