package ferro.backend.tcp;

import ferro.FerroException.Where;
import ferro.Store;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/** Opens the store of a rendezvous, serving it first where this rank is the one to serve. */
final class StoreOpening {
    private static final Hello.Channel NO_CHANNEL = Hello.Channel.NONE;

    private static final long GRACE_NANOS = 500_000_000;

    private StoreOpening() {}

    static Store open(Rendezvous meeting, GroupSpec group, RankContext context) {
        Where where = Where.outside(group.name(), group.rank());
        long deadline = context.nanoTime() + group.timeout().toNanos();
        TcpPort port = meeting.servedHere()
                ? TcpPort.serving(meeting, group, context, deadline)
                : TcpPort.use(group, context, deadline);
        try {
            InetSocketAddress at = meeting.servedHere()
                    ? port.bound()
                    : new InetSocketAddress(
                            Addresses.resolved(meeting.host(), deadline, context, where), meeting.port());
            String what = "the store at " + Addresses.text(meeting.host(), meeting.port());
            Hello.Member member = new Hello.Member(0, group.rank(), group.worldSize(), -1);
            CompletableFuture<Channel> dialled = port.dialer()
                    .dial(new TcpDialer.Call(
                            () -> at, Hello.Kind.STORE, member, NO_CHANNEL, what + server(meeting), where, deadline));
            Channel channel = connected(dialled, deadline - context.nanoTime(), what, where);
            return new TcpStore(
                    channel,
                    new TcpStore.Opening(
                            what, where, context, deadline, group.timeout(), () -> context.release(TcpPort.class)));
        } catch (RuntimeException failure) {
            context.release(TcpPort.class);
            throw failure;
        }
    }

    private static String server(Rendezvous meeting) {
        return meeting.servedHere() ? "" : ", which " + meeting.server() + " serves,";
    }

    /** The dialer ends at the deadline by itself, with a better text; this wait is a second line. */
    private static Channel connected(CompletableFuture<Channel> dialled, long nanos, String what, Where where) {
        try {
            return Waits.until(dialled, nanos + GRACE_NANOS, where, () -> what + " did not answer before the deadline");
        } finally {
            dialled.cancel(false);
        }
    }
}
