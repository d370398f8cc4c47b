package ferro.backend.tcp.store;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.TcpListener;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.function.BiConsumer;

/**
 * The receiver of a listener that admits clients to a store.
 *
 * @param service  service that serves the store
 * @param otherJob receives the job id and the address of each refused process of another job, on the loop
 */
public record StoreConnectionReceiver(StoreService service, BiConsumer<String, String> otherJob)
        implements TcpListener.ConnectionReceiver {
    /** Creates a receiver that does not report processes of other jobs. */
    public StoreConnectionReceiver(StoreService service) {
        this(service, (job, address) -> {});
    }

    /** Creates the receiver for a store that listens at an address. */
    static StoreConnectionReceiver of(StoreService service, InetSocketAddress bound) throws Refusal {
        if (service == null) {
            throw new Refusal(
                    Code.RENDEZVOUS,
                    "no store is served at " + AddressLookup.text(bound)
                            + ": check MASTER_ADDR and MASTER_PORT, or ferro.rendezvous");
        }
        return new StoreConnectionReceiver(service);
    }

    @Override
    public void admit(Hello hello, Channel channel) throws Refusal {
        if (hello.kind() != Hello.ConnectionKind.STORE) {
            throw new Refusal(
                    Code.RENDEZVOUS,
                    "only a store is served here, no rank; refused a " + hello.kind() + " connection to rank "
                            + hello.member().to());
        }
    }

    @Override
    public void entered(Hello hello, Channel channel) {
        service.serve(channel);
        if (hello.member().isLauncher()) {
            String key =
                    LauncherClient.goneKey(hello.member().node(), hello.member().group());
            channel.closeFuture().addListener(closed -> service.note(key, ""));
        }
    }

    @Override
    public void refused(Hello hello, SocketAddress from, Refusal refusal) {
        String address = ((InetSocketAddress) from).getAddress().getHostAddress();
        String note = new LauncherClient.RefusedProcess(address, refusal.code(), refusal.getMessage()).encoded();
        if (hello == null) {
            if (refusal.code() == Code.PROTOCOL) {
                service.noteStranger(LauncherClient.STRANGER, note);
            }
            return;
        }
        if (refusal.code() == Code.RENDEZVOUS) {
            otherJob.accept(hello.job(), address);
        }
        if (hello.kind() == Hello.ConnectionKind.STORE && hello.member().isLauncher()) {
            int node = hello.member().node();
            boolean wrongProof = refusal.code() == Code.UNAUTHENTICATED;
            service.noteStranger(wrongProof ? LauncherClient.refusedKey(node) : LauncherClient.otherJobKey(node), note);
        }
    }
}
