package ferro.backend.tcp.mesh;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.net.Hello;
import ferro.backend.tcp.net.LoopWaiter;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.TlsHandshakeHandler;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * Opens the data connections between peers: exactly one per group, pair of ranks, lane and epoch. The lower rank of a
 * pair connects, by its own decision or at the request of the higher rank. A rank that waits for a connection always
 * receives the connection, or the reason why the connection cannot be made. Used on the loop only.
 */
final class DataChannels {
    private final TcpMesh mesh;
    private final InboxRouter inboxes;
    private final AdmissionCheck admission;
    /** For each channel, the highest epoch that this rank has requested or, as the lower rank, has dialled. */
    private final Map<ChannelKey, Integer> asked = new HashMap<>();
    /** For each channel, the hello of the highest epoch that this rank, as the higher rank, has admitted. */
    private final Map<ChannelKey, Hello> entered = new HashMap<>();
    /** Connections that were admitted but not confirmed. */
    private final Map<Channel, PendingChannel> entering = new HashMap<>();

    private final Map<CompletableFuture<Channel>, ChannelKey> dialling = new HashMap<>();

    /** A connection that was admitted but not confirmed. */
    private final class PendingChannel implements ChannelFutureListener {
        private final Hello hello;
        /** The hello that was admitted for the channel before {@link #hello}; null if no earlier hello was admitted. */
        private final Hello before;
        /**
         * The reason why the peer opens no other connection of this epoch; null if the peer may still open a
         * connection.
         */
        private FerroException refusal;

        PendingChannel(Hello hello, Hello before) {
            this.hello = hello;
            this.before = before;
        }

        /** Undoes the admission of this connection: {@link #entered} gets its earlier hello again, or none. */
        void giveBack() {
            ChannelKey key = key(hello);
            if (before == null) {
                entered.remove(key, hello);
            } else {
                entered.replace(key, hello, before);
            }
        }

        /** Handles the case that the connection ends before it was confirmed. */
        @Override
        public void operationComplete(ChannelFuture ended) {
            entering.remove(ended.channel());
            giveBack();
            ChannelKey key = key(hello);
            FerroException lost = mesh.lost[key.peer()];
            if (refusal != null) {
                willNotCome(key, refusal);
            } else if (lost != null) {
                gone(key.peer(), lost);
            }
        }
    }

    /**
     * The listener for the steps of a new connection. The listener is a class and no lambda, because the first call of
     * a group waits for a connection, and linking a lambda takes longer than loading a class.
     */
    private final class ConnectListener
            implements Supplier<FerroException>, BiConsumer<Channel, Throwable>, ChannelFutureListener {
        private final ChannelKey key;
        private final int epoch;
        /** The connection that the lower rank dials; null on the higher rank, which does not dial. */
        private CompletableFuture<Channel> dialled;

        ConnectListener(ChannelKey key, int epoch) {
            this.key = key;
            this.epoch = epoch;
        }

        /** Returns the reason why the peer cannot be reached any more; null if the peer may be reached. */
        @Override
        public FerroException get() {
            return mesh.lost[key.peer()];
        }

        @Override
        public void accept(Channel channel, Throwable failure) {
            dialled(this, channel, failure);
        }

        @Override
        public void operationComplete(ChannelFuture done) {
            deregistered(this, done);
        }
    }

    /**
     * A task for the loop that requests a connection. The task is no lambda; {@link ConnectListener} states the reason.
     */
    record OpenDataTask(TcpMesh mesh, ChannelKey key, int epoch) implements Runnable {
        @Override
        public void run() {
            mesh.openData(key, epoch);
        }
    }

    DataChannels(TcpMesh mesh, InboxRouter inboxes, AdmissionCheck admission) {
        this.mesh = mesh;
        this.inboxes = inboxes;
        this.admission = admission;
    }

    /** Opens a data channel that this rank needs. */
    void open(ChannelKey key, int epoch) {
        if (isAsked(key, epoch) || hasEntered(key, epoch)) {
            return;
        }
        FerroException lost = mesh.lost[key.peer()];
        if (lost != null) {
            willNotCome(key, lost);
            return;
        }
        asked.put(key, epoch);
        if (mesh.rank() > key.peer()) {
            mesh.send(key.peer(), ControlFrame.openData(key, epoch));
        } else {
            dial(key, epoch);
        }
    }

    /** Handles a frame of a peer about one channel, or about all channels that this rank connects to the peer. */
    void received(ChannelKey key, ControlFrame frame) {
        ByteBuffer body = ByteBuffer.wrap(frame.body());
        int epoch = body.getInt();
        switch (frame.type()) {
            case OPEN_DATA -> openFor(key, epoch);
            // the lower rank could not open a channel for which this rank waits
            case NO_DATA -> willNotCome(key, epoch, Refusal.decoded(body), key.peer());
            default -> notAccepted(key, epoch, Refusal.decoded(body));
        }
    }

    /** Opens a data channel that a higher rank requests. */
    private void openFor(ChannelKey key, int epoch) {
        if (inboxes.isOver(key.group())) {
            mesh.send(key.peer(), ControlFrame.noData(key, epoch, over(key)));
        } else {
            open(key, epoch);
        }
    }

    private boolean isAsked(ChannelKey key, int epoch) {
        Integer highest = asked.get(key);
        return highest != null && highest >= epoch;
    }

    private boolean hasEntered(ChannelKey key, int epoch) {
        Hello highest = entered.get(key);
        return highest != null && highest.channel().epoch() >= epoch;
    }

    private Refusal over(ChannelKey key) {
        return new Refusal(
                Code.PEER_LOST,
                "rank " + mesh.rank() + " has closed group " + Long.toHexString(key.group())
                        + " and takes part in no further call");
    }

    private void dial(ChannelKey key, int epoch) {
        ConnectListener made = new ConnectListener(key, epoch);
        made.dialled = mesh.dialData(key, epoch, made);
        dialling.put(made.dialled, key);
        made.dialled.whenComplete(made);
    }

    private void dialled(ConnectListener made, Channel channel, Throwable failure) {
        dialling.remove(made.dialled);
        if (channel != null) {
            try {
                handOver(made, channel);
            } catch (LinkageError broken) {
                channel.close();
                failed(made.key, made.epoch, mesh.ownFailure(made.key.peer(), broken));
            }
        } else if (!made.dialled.isCancelled()) {
            failed(made.key, made.epoch, LoopWaiter.failure(failure, mesh.where));
        }
    }

    private void failed(ChannelKey key, int epoch, FerroException failure) {
        asked.remove(key, epoch);
        mesh.send(
                key.peer(),
                isLackOf(key.peer(), failure) && failure.getCause() instanceof Refusal why
                        ? ControlFrame.notAccepted(key, epoch, why)
                        : ControlFrame.noData(key, epoch, new Refusal(failure.code(), failure.getMessage())));
        willNotCome(key, failure);
    }

    private void willNotCome(ChannelKey key, FerroException failure) {
        inboxes.deliver(key.group(), key.peer(), (to, rank) -> to.data().noData(rank, key.lane(), failure));
    }

    private static boolean isLackOf(int peer, FerroException failure) {
        return failure.code() == Code.RESOURCE && failure.where().culprits().equals(Set.of(peer));
    }

    /**
     * Handles a report that the higher rank lacks a resource for a connection. If the peer is the higher rank,
     * connections that this rank opens to the peer may never complete. If the peer is the lower rank, the named channel
     * will not open.
     */
    private void notAccepted(ChannelKey key, int epoch, Refusal why) {
        if (key.peer() < mesh.rank()) {
            willNotCome(key, epoch, why, mesh.rank());
            return;
        }
        String text = "rank " + mesh.rank() + " is not connected to rank " + key.peer();
        FerroException failure = why.failure(mesh.where.blaming(key.peer()), text);
        for (Map.Entry<CompletableFuture<Channel>, ChannelKey> one : List.copyOf(dialling.entrySet())) {
            if (one.getValue().peer() == key.peer()) {
                one.getKey().completeExceptionally(failure);
            }
        }
    }

    private void willNotCome(ChannelKey key, int epoch, Refusal why, int culprit) {
        asked.remove(key, epoch);
        FerroException failure = why.failure(
                mesh.where.blaming(culprit),
                "rank " + key.peer() + " could not connect lane " + key.lane() + " to rank " + mesh.rank());
        if (hasEntered(key, epoch)) {
            // the peer opened this connection without a request and has closed its group since; the peer's data arrives
            // over this connection, unless the peer has given up the connection
            entering.values().stream()
                    .filter(one -> one.hello == entered.get(key))
                    .forEach(one -> one.refusal = failure);
            return;
        }
        willNotCome(key, failure);
    }

    /**
     * Handles the loss of a peer. Connections that this rank has requested from the peer will not be made. Admitted
     * connections stay open on both sides, because they may still contain data of the peer. Each dial to the peer
     * detects the loss and ends.
     */
    void gone(int peer, FerroException cause) {
        if (peer > mesh.rank()) {
            return;
        }
        for (ChannelKey key : List.copyOf(asked.keySet())) {
            if (key.peer() == peer && !hasEntered(key, asked.get(key))) {
                asked.remove(key);
                willNotCome(key, cause);
            }
        }
    }

    /** Admits or refuses a connection of the lower rank. */
    void admit(Hello hello, Channel channel) throws Refusal {
        int from = hello.member().rank();
        byte lane = hello.channel().lane();
        if (from >= mesh.rank() || lane < 0 || lane >= ChannelKey.LANES) {
            throw new Refusal(
                    Code.PROTOCOL,
                    "a data connection for lane " + lane + " from rank " + from + " to rank " + mesh.rank()
                            + ": the lower rank connects, for lane 0 to " + (ChannelKey.LANES - 1));
        }
        ChannelKey key = key(hello);
        if (inboxes.isOver(key.group())) {
            throw over(key);
        }
        int epoch = hello.channel().epoch();
        dropFormer(hello);
        Hello before = entered.get(key);
        if (before != null && hello.isOlderThan(before)) {
            throw admission.outdated(hello);
        }
        if (hasEntered(key, epoch)) {
            throw new Refusal(
                    Code.PROTOCOL,
                    "a data connection of epoch " + epoch + " from rank " + from + ": epoch "
                            + before.channel().epoch() + " is already connected");
        }
        entered.put(key, hello);
        PendingChannel now = new PendingChannel(hello, before);
        entering.put(channel, now);
        channel.closeFuture().addListener(now);
    }

    /**
     * Closes an earlier, unconfirmed attempt of the same process for the same channel. The process has given up the
     * earlier attempt, but this rank has not yet detected its end.
     */
    private void dropFormer(Hello hello) {
        for (Map.Entry<Channel, PendingChannel> former : List.copyOf(entering.entrySet())) {
            PendingChannel given = former.getValue();
            if (hello.asksAgain(given.hello)) {
                entering.remove(former.getKey());
                former.getKey().closeFuture().removeListener(given);
                given.giveBack();
                former.getKey().close();
            }
        }
    }

    void enter(Hello hello, Channel channel) {
        PendingChannel given = entering.remove(channel);
        if (given == null) {
            // the connection has ended meanwhile, and "entered" no longer has its epoch
            return;
        }
        // the receiver owns the channel from here on, and a progress thread may end the channel
        channel.closeFuture().removeListener(given);
        handOver(new ConnectListener(key(hello), hello.channel().epoch()), channel);
    }

    private static ChannelKey key(Hello hello) {
        Hello.ChannelIdentity channel = hello.channel();
        return new ChannelKey(hello.member().rank(), channel.group(), ConnectionPurpose.values()[channel.lane()]);
    }

    private void handOver(ConnectListener made, Channel channel) {
        try {
            mesh.io().dataOptions(channel);
        } catch (ChannelException unable) {
            unusable(made.key, made.epoch, channel, unable);
            return;
        }
        channel.deregister().addListener(made);
    }

    private void deregistered(ConnectListener made, ChannelFuture done) {
        Channel channel = done.channel();
        if (done.isSuccess()) {
            inboxes.deliver(
                    made.key.group(), made.key.peer(), new ConnectedEvent(made.key.lane(), made.epoch, channel));
        } else {
            unusable(made.key, made.epoch, channel, done.cause());
        }
    }

    /**
     * Closes an unusable connection and reports the cause on this rank. The peer only detects that the connection has
     * ended.
     */
    private void unusable(ChannelKey key, int epoch, Channel channel, Throwable cause) {
        boolean here = channel.isOpen();
        TlsHandshakeHandler.closeAtOnce(channel);
        String text = "the data connection of rank " + mesh.rank() + " to rank " + key.peer() + ", lane " + key.lane()
                + ", epoch " + epoch + (here ? ", cannot be used: " : ", ended at once: ") + cause.getMessage();
        FerroException failure = new FerroException(
                here ? Code.RESOURCE : Code.PEER_LOST,
                mesh.where.blaming(here ? mesh.rank() : key.peer()),
                text,
                cause);
        willNotCome(key, failure);
    }

    private record ConnectedEvent(ConnectionPurpose lane, int epoch, Channel channel)
            implements InboxRouter.InboxEvent {
        @Override
        public void tell(InboxRouter.GroupReceiver to, int rank) {
            to.data().data(rank, lane, epoch, channel);
        }

        @Override
        public void drop() {
            TlsHandshakeHandler.closeAtOnce(channel);
        }

        @Override
        public boolean connection() {
            return true;
        }
    }

    /** Removes the data channels of a group that has ended. */
    void forget(long group) {
        asked.keySet().removeIf(key -> key.group() == group);
        entered.keySet().removeIf(key -> key.group() == group);
    }

    void close() {
        List.copyOf(entering.keySet()).forEach(Channel::close);
        Set.copyOf(dialling.keySet()).forEach(one -> one.cancel(false));
    }
}
