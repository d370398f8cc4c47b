package ferro.lightgbm;

import ferro.lightgbm.ffi.LightGbmFunctions;

/** An object of LightGBM that has to be freed on the thread of its network. */
abstract class LightGbmHandle implements AutoCloseable {
    private final LightGbmNetwork network;
    private final long address;
    private boolean isClosed;

    LightGbmHandle(LightGbmNetwork network, long address) {
        this.network = network;
        this.address = address;
        network.opened(this);
    }

    final LightGbmNetwork network() {
        return network;
    }

    /** Returns LightGBM's handle. */
    final long address(String what) {
        network.require(what);
        if (isClosed) {
            throw new IllegalStateException(what + ": " + this + " is closed");
        }
        return address;
    }

    /** Frees the object of LightGBM with this handle. */
    abstract int free(long handle);

    /**
     * Frees the memory of LightGBM. Idempotent.
     *
     * @throws IllegalStateException if the network belongs to another thread
     */
    @Override
    public final void close() {
        if (!isClosed) {
            network.closed(this);
            isClosed = true;
            if (free(address) != 0) {
                throw new IllegalStateException("cannot free " + this + ": " + LightGbmFunctions.LGBM_GetLastError());
            }
        }
    }
}
