package ferro.launcher;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/**
 * Where ranks meet.
 *
 * @param endpoint what ranks are told
 * @param served   whether it is served for them, so that rank 0 need not
 */
record StoreHost(Endpoint endpoint, boolean served) implements AutoCloseable {
    /** Chooses a free port; rank 0 serves the store there. */
    static StoreHost byRankZero(Endpoint wanted) throws IOException {
        if (wanted.port() != 0) {
            return new StoreHost(wanted, false);
        }
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName(wanted.host()))) {
            return new StoreHost(new Endpoint(wanted.host(), free.getLocalPort()), false);
        }
    }

    @Override
    public void close() {}
}
