package ferro.backend.tcp;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.spi.Transport.Lane;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Makes the data connections of a group of peers: exactly one per group, pair, lane and epoch. The lower rank connects; the higher
 * asks it to. On the loop only.
 */
final class DataChannels {
    private final Peers peers;
    private final Inboxes inboxes;
    /** The highest epoch asked for or connected (lower rank), by channel. */
    private final Map<DataKey, Integer> asked = new HashMap<>();
    /** The highest epoch let in (higher rank), by channel. */
    private final Map<DataKey, Integer> entered = new HashMap<>();

    private final Set<CompletableFuture<Channel>> dialling = new HashSet<>();

    DataChannels(Peers peers, Inboxes inboxes) {
        this.peers = peers;
        this.inboxes = inboxes;
    }

    /** This rank, or the peer by a frame, asks for a channel. */
    void open(DataKey key, int epoch) {
        Integer before = asked.get(key);
        if (before != null && before >= epoch) {
            return;
        }
        asked.put(key, epoch);
        if (peers.rank() > key.peer()) {
            peers.send(key.peer(), ControlFrame.openData(key, epoch));
            return;
        }
        CompletableFuture<Channel> dialled = peers.dialData(key, epoch);
        dialling.add(dialled);
        dialled.whenComplete((channel, failure) -> {
            dialling.remove(dialled);
            if (channel != null) {
                handOver(key, epoch, channel);
            } else if (!dialled.isCancelled()) {
                failed(key, epoch, Waits.failure(failure, peers.where()));
            }
        });
    }

    private void failed(DataKey key, int epoch, FerroException failure) {
        asked.remove(key, epoch);
        peers.send(key.peer(), ControlFrame.noData(key, epoch, new Refusal(failure.code(), failure.getMessage())));
        inboxes.deliver(key.group(), listener -> listener.noData(key.peer(), key.lane(), failure));
    }

    /** The lower rank could not open a channel that this rank waits for. */
    void refused(DataKey key, int epoch, Refusal why) {
        asked.remove(key, epoch);
        FerroException failure = why.failure(
                peers.where(),
                "rank " + key.peer() + " could not connect lane " + key.lane() + " to rank " + peers.rank());
        inboxes.deliver(key.group(), listener -> listener.noData(key.peer(), key.lane(), failure));
    }

    /** Decides about a connection of the lower rank. */
    void admit(Hello hello) throws Refusal {
        int from = hello.member().rank();
        byte lane = hello.channel().lane();
        if (from >= peers.rank() || lane < 0 || lane >= DataKey.LANES) {
            throw new Refusal(
                    Code.PROTOCOL,
                    "a data connection for lane " + lane + " from rank " + from + " to rank " + peers.rank()
                            + ": the lower rank connects, for lane 0 to " + (DataKey.LANES - 1));
        }
        DataKey key = key(hello);
        int epoch = hello.channel().epoch();
        Integer before = entered.get(key);
        if (before != null && before >= epoch) {
            throw new Refusal(
                    Code.PROTOCOL,
                    "a data connection of epoch " + epoch + " from rank " + from + ": epoch " + before
                            + " has been connected already");
        }
        entered.put(key, epoch);
    }

    void enter(Hello hello, Channel channel) {
        handOver(key(hello), hello.channel().epoch(), channel);
    }

    private static DataKey key(Hello hello) {
        Hello.Channel channel = hello.channel();
        return new DataKey(hello.member().rank(), channel.group(), Lane.values()[channel.lane()]);
    }

    private void handOver(DataKey key, int epoch, Channel channel) {
        peers.io().dataOptions(channel);
        channel.deregister().addListener((ChannelFutureListener) done ->
                inboxes.deliver(key.group(), new Inboxes.Event() {
                    @Override
                    public void tell(TcpMesh.Listener listener) {
                        listener.data(key.peer(), key.lane(), epoch, channel);
                    }

                    @Override
                    public void drop() {
                        channel.close();
                    }
                }));
    }

    /** Forgets the channels of a group that is over. */
    void forget(long group) {
        asked.keySet().removeIf(key -> key.group() == group);
        entered.keySet().removeIf(key -> key.group() == group);
    }

    void close() {
        Set.copyOf(dialling).forEach(one -> one.cancel(false));
    }
}
