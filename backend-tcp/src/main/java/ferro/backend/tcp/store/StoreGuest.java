package ferro.backend.tcp.store;

import ferro.FerroException.Code;
import ferro.backend.tcp.connect.Addresses;
import ferro.backend.tcp.connect.Hello;
import ferro.backend.tcp.connect.Refusal;
import ferro.backend.tcp.connect.TcpListener;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** Admits clients to a store. */
public record StoreGuest(StoreService service) implements TcpListener.Guest {
    /** Makes the guest that admits connections of a store at an address. */
    public static StoreGuest of(StoreService service, InetSocketAddress bound) throws Refusal {
        if (service == null) {
            throw new Refusal(
                    Code.RENDEZVOUS,
                    "no store is served at " + Addresses.text(bound)
                            + ": check MASTER_ADDR and MASTER_PORT, or ferro.rendezvous");
        }
        return new StoreGuest(service);
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
                    LauncherStore.goneKey(hello.member().node(), hello.member().group());
            channel.closeFuture().addListener(closed -> service.note(key, ""));
        }
    }

    @Override
    public void refused(Hello hello, SocketAddress from, Refusal refusal) {
        String address = ((InetSocketAddress) from).getAddress().getHostAddress();
        String note = new LauncherStore.Refused(address, refusal.code(), refusal.getMessage()).encoded();
        if (hello == null) {
            if (refusal.code() == Code.PROTOCOL) {
                service.noteStranger(LauncherStore.STRANGER, note);
            }
        } else if (hello.kind() == Hello.ConnectionKind.STORE && hello.member().isLauncher()) {
            int node = hello.member().node();
            boolean wrongProof = refusal.code() == Code.UNAUTHENTICATED;
            service.noteStranger(wrongProof ? LauncherStore.refusedKey(node) : LauncherStore.otherJobKey(node), note);
        }
    }
}
