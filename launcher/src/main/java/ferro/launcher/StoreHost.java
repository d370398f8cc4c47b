package ferro.launcher;

import ferro.FerroException.Where;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.connect.Addresses;
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

/**
 * The store through which ranks meet: one of this launcher, or that of the launcher of node 0.
 *
 * @param endpoint address that ranks are given
 * @param server   server of this launcher, if it serves the store
 */
record StoreHost(Endpoint endpoint, Optional<TcpStoreServer> server) implements AutoCloseable {
    /** Serves the store if this is node 0; tells the job when all ranks have joined. */
    static StoreHost open(JobSpec spec, String jobId, Path secret, BlockingQueue<JobEvent> events) throws IOException {
        Endpoint wanted = spec.master().orElse(Endpoint.LOOPBACK);
        InetAddress address = resolved(wanted);
        if (spec.placement().nodes() > 1) {
            checkReachable(wanted, address);
        }
        checkStrong(address, secret);
        if (!spec.placement().servesStore()) {
            return new StoreHost(wanted, Optional.empty());
        }
        byte[] known = SecretFile.read(secret);
        TcpStoreServer server = TcpStoreServer.start(
                address, wanted.port(), jobId, spec.placement().worldSize(), known);
        server.allJoined().thenRun(() -> events.add(new JobEvent.Joined()));
        return new StoreHost(new Endpoint(wanted.host(), server.port()), Optional.of(server));
    }

    private static InetAddress resolved(Endpoint wanted) {
        try {
            Where where = Where.outside("launchers", 0);
            return Addresses.nearest(Addresses.attempt(wanted.host(), 0), where);
        } catch (UnknownHostException unknown) {
            throw new BadInputException(
                    "--master " + wanted + ": no address is known for this host name, need one of node 0", unknown);
        }
    }

    /**
     * Refuses a name that resolves to loopback on this machine only; many distributions write such a name to /etc/hosts.
     * Loopback that was typed as such is accepted.
     */
    static void checkReachable(Endpoint wanted, InetAddress address) {
        if (address.isLoopbackAddress() && !wanted.namesLoopback()) {
            throw new BadInputException("--master " + wanted + ": this machine takes " + wanted.host() + " for "
                    + address.getHostAddress()
                    + ", where no other node can reach it (often by a line in /etc/hosts): need"
                    + " an address of node 0 that all nodes can reach");
        }
    }

    /** Refuses, before a rank starts, a secret that others could guess if they can reach the store. */
    private static void checkStrong(InetAddress address, Path secret) throws IOException {
        int random = SecretFile.randomBytes(SecretFile.read(secret));
        if (!address.isLoopbackAddress() && random < SecretFile.LEAST_RANDOM_BYTES) {
            throw new BadInputException("--secret-file " + secret + ": has " + random
                    + " random bytes at most, and --master is off loopback: need " + SecretFile.LEAST_RANDOM_BYTES
                    + " (32 hexadecimal digits), make one by: "
                    + Invocation.ofProcess().line("secret", "FILE"));
        }
    }

    @Override
    public void close() {
        server.ifPresent(TcpStoreServer::close);
    }
}
