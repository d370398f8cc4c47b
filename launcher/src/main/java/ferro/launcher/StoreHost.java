package ferro.launcher;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.connect.Addresses;
import ferro.backend.tcp.connect.OwnHost;
import ferro.backend.tcp.connect.SecretFile;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.Endpoint;
import ferro.launcher.input.JobSpec;
import ferro.launcher.rank.JobEvent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;

/**
 * The store through which ranks meet: one of this launcher, or that of the launcher of node 0.
 *
 * @param endpoint address that ranks are given
 * @param server   server of this launcher, if it serves the store
 */
record StoreHost(Endpoint endpoint, Optional<TcpStoreServer> server) implements AutoCloseable {
    private static final Where LAUNCHERS = Where.of("launchers", 0);

    /**
     * Serves the store if this is node 0; tells the job when all ranks have joined.
     *
     * @param notes prints a line for the user
     */
    static StoreHost open(JobSpec spec, JobKeys.JobKey key, BlockingQueue<JobEvent> events, Consumer<String> notes)
            throws IOException {
        Endpoint wanted = spec.master().orElse(Endpoint.LOOPBACK);
        if (spec.placement().nodes() > 1) {
            wanted = reachable(wanted, spec.placement().servesStore(), notes);
        }
        InetAddress address = resolved(wanted);
        checkStrong(address, key.secretFile());
        if (!spec.placement().servesStore()) {
            return new StoreHost(wanted, Optional.empty());
        }
        return serving(wanted, key, spec.placement().worldSize(), events);
    }

    /**
     * Serves a store for the ranks of one generation.
     *
     * @param at host of the store, and the port to use if it is free
     */
    static StoreHost forRanks(Endpoint at, JobKeys.JobKey key, int worldSize, BlockingQueue<JobEvent> events)
            throws IOException {
        try {
            return serving(at, key, worldSize, events);
        } catch (FerroException taken) {
            if (at.port() == 0 || taken.code() != FerroException.Code.RENDEZVOUS) {
                throw taken;
            }
            return serving(new Endpoint(at.host(), 0), key, worldSize, events);
        }
    }

    private static StoreHost serving(Endpoint at, JobKeys.JobKey key, int worldSize, BlockingQueue<JobEvent> events)
            throws IOException {
        byte[] secret = SecretFile.read(key.secretFile());
        TcpStoreServer server = TcpStoreServer.start(resolved(at), at.port(), key.id(), worldSize, secret);
        server.allJoined().thenRun(() -> events.add(new JobEvent.Joined()));
        return new StoreHost(new Endpoint(at.host(), server.port()), Optional.of(server));
    }

    private static InetAddress resolved(Endpoint wanted) {
        try {
            return Addresses.nearest(Addresses.attempt(wanted.host(), 0), LAUNCHERS);
        } catch (UnknownHostException unknown) {
            throw new BadInputException(
                    "--master " + wanted + ": no address is known for this host name, need an address of node 0",
                    unknown);
        }
    }

    /**
     * Replaces a name that node 0 resolves to loopback, as many distributions write the name of a machine to /etc/hosts. On
     * another node such a name leads to that node itself, so it is refused. Loopback that was typed as such is accepted.
     */
    static Endpoint reachable(Endpoint wanted, boolean servedHere, Consumer<String> notes) {
        Optional<OwnHost> own = OwnHost.find(wanted.host());
        if (own.isEmpty()) {
            return wanted;
        }
        String trouble = "--master " + wanted + ": " + own.get().trouble();
        if (!servedHere) {
            throw new BadInputException(trouble + ": need an address of node 0 that all nodes can reach");
        }
        try {
            String address = own.get().reachableAddress(LAUNCHERS);
            notes.accept(trouble + "; the store is at " + address + " instead, which is an address of this machine");
            return new Endpoint(address, wanted.port());
        } catch (FerroException none) {
            throw new BadInputException(
                    trouble
                            + ", and this machine has no default route: need an address of node 0 that all nodes can reach",
                    none);
        }
    }

    /** Refuses, before a rank starts, a secret that others could guess if they can reach the store. */
    private static void checkStrong(InetAddress address, Path secret) throws IOException {
        int random = SecretFile.randomBytes(SecretFile.read(secret));
        if (!address.isLoopbackAddress() && random < SecretFile.LEAST_RANDOM_BYTES) {
            throw new BadInputException("--secret-file " + secret + ": has at most " + random
                    + " random bytes, but --master is not a loopback address: need at least "
                    + SecretFile.LEAST_RANDOM_BYTES + " random bytes (32 hexadecimal digits); create a file with: "
                    + Invocation.ofProcess().line("secret", "FILE"));
        }
    }

    @Override
    public void close() {
        server.ifPresent(TcpStoreServer::close);
    }
}
