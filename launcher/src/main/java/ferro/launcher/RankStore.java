package ferro.launcher;

import ferro.FerroException;
import ferro.FerroException.Where;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.LoopbackHostName;
import ferro.backend.tcp.net.SecretFile;
import ferro.launcher.JobSecrets.NamedSecret;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.Endpoint;
import ferro.launcher.input.JobSpec;
import ferro.launcher.rank.JobEvent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;

/**
 * The store through which ranks find each other. The server is in this launcher or in the launcher of node 0.
 *
 * @param endpoint  address for the ranks
 * @param addresses addresses of the host at the start of the job, so that a later generation does not need the name
 *     service; empty if no addresses are needed
 * @param server    store server in this launcher; empty if another launcher serves the store
 */
record RankStore(Endpoint endpoint, List<InetAddress> addresses, Optional<TcpStoreServer> server)
        implements AutoCloseable {
    private static final Where LAUNCHERS = Where.of("launchers", 0);

    /** Creates the description of a store that another launcher serves. */
    RankStore(Endpoint endpoint) {
        this(endpoint, List.of(), Optional.empty());
    }

    /**
     * Serves the store if this node is node 0. Sends the job an event when all ranks have joined.
     *
     * @param notes prints a line for the user
     */
    static RankStore open(JobSpec spec, NamedSecret key, BlockingQueue<JobEvent> events, Consumer<String> notes)
            throws IOException {
        Endpoint wanted = spec.master().orElse(Endpoint.LOOPBACK);
        if (spec.placement().nodes() > 1) {
            wanted = reachable(wanted, spec.placement().servesStore(), notes);
        }
        List<InetAddress> addresses = resolved(wanted);
        InetAddress nearest = AddressLookup.nearest(addresses, LAUNCHERS);
        checkStrong(nearest, key.secretFile());
        if (spec.placement().servesStore() && AddressLookup.isElsewhere(nearest)) {
            throw new BadInputException("--master " + wanted + ": " + AddressLookup.text(nearest)
                    + " does not belong to this machine, need an address of node 0 that all nodes can reach");
        }
        RankStore host = new RankStore(wanted, addresses, Optional.empty());
        return spec.placement().servesStore()
                ? host.serving(wanted.port(), key, spec.placement().worldSize(), events)
                : host;
    }

    /**
     * Serves a store for the ranks of one generation, on the same host as this store.
     *
     * @param port port to use if it is free
     */
    RankStore forRanks(int port, NamedSecret key, int worldSize, BlockingQueue<JobEvent> events) throws IOException {
        try {
            return serving(port, key, worldSize, events);
        } catch (FerroException taken) {
            if (port == 0 || taken.code() != FerroException.Code.RENDEZVOUS) {
                throw taken;
            }
            return serving(0, key, worldSize, events);
        }
    }

    private RankStore serving(int port, NamedSecret key, int worldSize, BlockingQueue<JobEvent> events)
            throws IOException {
        byte[] secret = SecretFile.read(key.secretFile());
        TcpStoreServer server =
                TcpStoreServer.start(AddressLookup.nearest(addresses, LAUNCHERS), port, key.id(), worldSize, secret);
        server.allJoined().thenRun(() -> events.add(new JobEvent.AllJoinedEvent()));
        return new RankStore(new Endpoint(endpoint.host(), server.port()), addresses, Optional.of(server));
    }

    private static List<InetAddress> resolved(Endpoint wanted) {
        try {
            return AddressLookup.attempt(wanted.host(), 0);
        } catch (UnknownHostException unknown) {
            String text = AddressLookup.linkLocal(wanted.host()).isPresent()
                    ? unknown.getMessage()
                    : "no address is known for this host name, need an address of node 0";
            throw new BadInputException("--master " + wanted + ": " + text, unknown);
        }
    }

    /**
     * Replaces a name of the host that node 0 resolves to loopback, because many distributions write the name to
     * /etc/hosts with a loopback address. On another node, a name that resolves to loopback leads to that node itself
     * and is refused. Loopback addresses and localhost are accepted.
     */
    static Endpoint reachable(Endpoint wanted, boolean servedHere, Consumer<String> notes) {
        Optional<LoopbackHostName> own = LoopbackHostName.find(wanted.host());
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

    /** Refuses, before a rank starts, a secret that other users could guess when they reach the store. */
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
