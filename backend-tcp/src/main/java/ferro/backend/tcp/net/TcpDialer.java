package ferro.backend.tcp.net;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Opens authenticated connections. Tries again as long as the peer does not answer, and fails at once if the peer
 * refuses the connection.
 */
public final class TcpDialer {
    private static final long FIRST_PAUSE_MILLIS = 10;
    private static final long LONGEST_PAUSE_MILLIS = 500;

    /** Delay between the attempts at two addresses of one name (RFC 8305, section 8). */
    private static final long NEXT_ADDRESS_MILLIS = 250;

    /** How long a caller waits after the dialer's deadline for the dialer's failure. */
    private static final long GRACE_NANOS = 500_000_000;

    private static final long LOOK_NANOS = 250_000_000;

    private final SocketConfig io;
    private final EventLoopGroup loop;
    private final Credentials own;
    private final LongSupplier clock;
    /**
     * Random number that this process sends in each hello. By this number, peers distinguish processes with the same
     * rank.
     */
    private final long process;
    /** Number of attempts of this process; used on the loop only. */
    private int attempts;

    /** Creates a dialer on a loop, with the credentials of this process; {@code clock} returns nanoseconds. */
    public TcpDialer(SocketConfig io, EventLoopGroup loop, Credentials own, LongSupplier clock) {
        this.io = io;
        this.loop = loop;
        this.own = own;
        this.clock = clock;
        process = own.random().nextLong();
    }

    /**
     * Connects to a peer. The channel has an empty pipeline and reads nothing. Cancelling the future ends the attempts.
     *
     * @param call  peer and purpose
     * @param notes results of the attempts, which other threads may read meanwhile. If the loop gets no CPU time, the
     *     future fails late. Therefore a caller that waits for the deadline itself creates the failure from this object
     * @return future that completes on the loop with the channel or fails with a FerroException
     */
    public CompletableFuture<Channel> dial(DialledPeer call, ConnectAttempts notes) {
        return dial(call, () -> null, notes);
    }

    /**
     * Connects like {@link #dial(DialledPeer, ConnectAttempts)}. Between two attempts, calls {@code hopeless} to find
     * out whether to give up.
     *
     * @param call     peer and purpose
     * @param hopeless returns the reason why the peer will not answer any more, or null if it may answer; called on the
     *     loop
     * @param notes    record of the attempts
     * @return future that completes on the loop with the channel or fails with a FerroException
     */
    public CompletableFuture<Channel> dial(DialledPeer call, Supplier<FerroException> hopeless, ConnectAttempts notes) {
        DialAttempts dialling = new DialAttempts(call, hopeless, notes);
        loop.execute(dialling::next);
        return dialling.result;
    }

    /**
     * Connects to a peer, and waits for the connection. At the deadline, the dialer's loop reports a failure. If the
     * loop is late, this method itself throws a failure with the same text.
     *
     * @param call     peer and purpose
     * @param hopeless as in {@link #dial(DialledPeer, Supplier, ConnectAttempts)}
     * @param leaves   returns whether the caller no longer wants a connection; called on the caller's thread at least
     *     every 250 ms
     * @param now      clock of the caller
     * @param notes    record of the attempts
     * @return channel; empty if the caller no longer wants a connection
     * @throws FerroException the dialer's failure, INTERRUPTED with the flag set again, or RENDEZVOUS at the deadline
     */
    public Optional<Channel> connected(
            DialledPeer call,
            Supplier<FerroException> hopeless,
            BooleanSupplier leaves,
            LongSupplier now,
            ConnectAttempts notes) {
        long begun = now.getAsLong();
        CompletableFuture<Channel> dialled = dial(call, hopeless, notes);
        Optional<Channel> channel = Optional.empty();
        try {
            while (true) {
                long left = call.deadlineNanos() - now.getAsLong() + GRACE_NANOS;
                channel = LoopWaiter.within(dialled, Math.min(left, LOOK_NANOS), call.where());
                if (channel.isPresent() || leaves.getAsBoolean()) {
                    return channel;
                }
                if (left <= 0) {
                    throw notes.gaveUp(call, begun, null);
                }
            }
        } finally {
            if (channel.isEmpty() && !dialled.cancel(false)) {
                dialled.thenAccept(Channel::close);
            }
        }
    }

    /**
     * The peer to which a dialer connects, and the purpose of the connection.
     *
     * @param to            returns at least one resolved address, in the order to try; called for each round of
     *     attempts
     * @param kind          purpose of the connection, for the hello
     * @param member        connecting rank or launcher, and the rank to which it connects, for the hello
     * @param channel       data channel, for the hello
     * @param what          name of the peer in messages, such as "the store at 10.0.0.1:29500"
     * @param where         group and rank that failures name
     * @param deadlineNanos end of the attempts, on the dialer's clock
     */
    public record DialledPeer(
            Supplier<List<InetSocketAddress>> to,
            Hello.ConnectionKind kind,
            Hello.RankPair member,
            Hello.ChannelIdentity channel,
            String what,
            Where where,
            long deadlineNanos) {}

    private interface AttemptTask {
        void take() throws Refusal;
    }

    /** The attempts of one dial; used on the loop only. */
    private final class DialAttempts {
        private final CompletableFuture<Channel> result = new CompletableFuture<>();
        private final DialledPeer call;
        private final Supplier<FerroException> hopeless;
        /**
         * A task that begins a round. The caller's thread creates the task, so that the caller gets the error if its
         * class cannot be loaded.
         */
        private final AttemptTask begin = this::begin;

        private final long start = clock.getAsLong();
        private long pauseMillis = FIRST_PAUSE_MILLIS;
        private final ConnectAttempts notes;
        /** Whether the peer requires TLS for a connection that this side would not encrypt. */
        private boolean encrypts;
        /**
         * Time limit for each answer of the peer. The limit doubles after an attempt in which either side exceeded its
         * time limit.
         */
        private long answerMillis = Math.min(Integer.MAX_VALUE, io.answerLimit().toMillis());
        /**
         * Addresses that accepted a connection but did not answer the handshake, in the order in which the handshakes
         * failed.
         */
        private final Set<InetSocketAddress> unanswered = new LinkedHashSet<>();

        DialAttempts(DialledPeer call, Supplier<FerroException> hopeless, ConnectAttempts notes) {
            this.call = call;
            this.hopeless = hopeless;
            this.notes = notes;
        }

        void next() {
            guarded(begin);
        }

        private void begin() throws Refusal {
            if (over()) {
                return;
            }
            List<InetSocketAddress> all = call.to.get();
            notes.round(all);
            new DialRound(ordered(all)).next();
        }

        /** Returns all addresses in the order to try. Addresses that did not answer a handshake come last. */
        private List<InetSocketAddress> ordered(List<InetSocketAddress> all) {
            List<InetSocketAddress> order = new ArrayList<>(all);
            order.removeAll(unanswered);
            for (InetSocketAddress silent : unanswered) {
                if (all.contains(silent)) {
                    order.add(silent);
                }
            }
            return order;
        }

        private void guarded(AttemptTask part) {
            try {
                part.take();
            } catch (Refusal | RuntimeException | Error failure) {
                failed(failure);
            }
        }

        private void failed(Throwable failure) {
            if (failure instanceof Refusal own) {
                refused(own);
            } else if (failure instanceof IllegalStateException missing) {
                refused(new Refusal(Code.RESOURCE, missing.getMessage()));
            } else {
                broken(failure);
            }
        }

        /** Ends the attempts with an exception of this process. The exception would occur again in each attempt. */
        private void broken(Throwable failure) {
            Code code = ShortageDetector.of(failure).isPresent() ? Code.RESOURCE : Code.ABORTED;
            String text =
                    "rank " + call.where.rank() + " cannot connect to " + call.what + ": it failed with " + failure;
            result.completeExceptionally(new FerroException(code, blaming(call.where.rank()), text, failure));
        }

        private void refused(Refusal refusal) {
            result.completeExceptionally(refusal.failure(call.where, "cannot connect to " + call.what));
        }

        private Where blaming(int rank) {
            return rank < 0 ? call.where : call.where.blaming(rank);
        }

        /**
         * Creates the hello for an address before the connection exists. The hello may need a new key, which takes
         * time, and the time limits of both sides begin with the connection.
         */
        private AttemptHandler prepared(InetSocketAddress to) throws Refusal {
            Hello plain = hello();
            TlsIdentity key = wantsTls(plain, to) ? own.tls().ownIdentity() : null;
            return new AttemptHandler(new ConnectingHandshake(own, plain, key), to);
        }

        /**
         * Sends the hello on the first connection that was made. In this round, nothing was sent to another address.
         */
        private void shake(AttemptHandler attempt, Channel channel) {
            notes.connected(attempt.to, channel);
            attempt.connected(channel);
            channel.pipeline().addLast(new HandshakeHandler(attempt.side, attempt));
        }

        /**
         * A round of attempts: one attempt to connect to each address, until the first connection is made. The next
         * attempt begins 250 ms after the previous attempt, or as soon as the previous attempt fails.
         *
         * <p>Source: RFC 8305, sections 5 and 8 (Connection Attempt Delay).
         */
        private final class DialRound {
            private final Deque<InetSocketAddress> left;
            private final Set<Channel> connecting = new LinkedHashSet<>();
            private Future<?> timer;
            private boolean over;

            DialRound(List<InetSocketAddress> all) {
                left = new ArrayDeque<>(all);
            }

            void next() throws Refusal {
                InetSocketAddress to = over || result.isDone() ? null : left.poll();
                if (to == null) {
                    return;
                }
                AttemptHandler attempt = prepared(to);
                notes.begun(to);
                ChannelFuture made = bootstrap().connect(to);
                connecting.add(made.channel());
                if (made.isDone()) {
                    // a channel that could not be opened would call the listener on one of Netty's threads
                    new AttemptListener(attempt).operationComplete(made);
                } else {
                    made.addListener(new AttemptListener(attempt));
                }
                if (!over && !left.isEmpty()) {
                    stopTimer();
                    timer = loop.schedule(() -> guarded(this::next), NEXT_ADDRESS_MILLIS, TimeUnit.MILLISECONDS);
                }
            }

            /** A listener that is called when an attempt to connect has succeeded or failed. */
            private final class AttemptListener implements ChannelFutureListener, AttemptTask {
                private final AttemptHandler attempt;
                private ChannelFuture done;

                AttemptListener(AttemptHandler attempt) {
                    this.attempt = attempt;
                }

                @Override
                public void operationComplete(ChannelFuture made) {
                    done = made;
                    guarded(this);
                }

                @Override
                public void take() throws Refusal {
                    ended(attempt, done);
                }
            }

            private void stopTimer() {
                if (timer != null) {
                    timer.cancel(false);
                }
            }

            private void ended(AttemptHandler attempt, ChannelFuture done) throws Refusal {
                Channel channel = done.channel();
                connecting.remove(channel);
                if (over || result.isDone()) {
                    channel.close();
                    return;
                }
                Throwable cause = trouble(done);
                if (cause == null) {
                    end();
                    shake(attempt, channel);
                    return;
                }
                if (channel.isOpen()) {
                    channel.close();
                }
                notes.failed(attempt.to, cause);
                if (!left.isEmpty() && !result.isDone()) {
                    next();
                } else if (connecting.isEmpty()) {
                    end();
                    again(cause);
                }
            }

            /** Ends the round, and closes the channels that are not connected yet. */
            private void end() {
                over = true;
                stopTimer();
                List<Channel> late = List.copyOf(connecting);
                connecting.clear();
                for (Channel channel : late) {
                    channel.close();
                }
            }

            /** Returns the reason why a connection cannot be used; null if the connection can be used. */
            private Throwable trouble(ChannelFuture done) {
                if (!done.isSuccess()) {
                    return done.cause();
                }
                boolean itself =
                        done.channel().localAddress().equals(done.channel().remoteAddress());
                return itself
                        ? new ConnectException("nothing listens there, and the connection reached its own port")
                        : null;
            }
        }

        private Bootstrap bootstrap() {
            int millis = (int) within(TcpListener.HANDSHAKE_MILLIS);
            return new Bootstrap()
                    .group(loop)
                    .channel(io.channel())
                    .option(ChannelOption.AUTO_READ, false)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis)
                    // with a resolver, Netty would report the end of the loop on a thread that keeps the JVM alive for
                    // a second
                    .disableResolver()
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            guarded(() -> opened(channel));
                        }
                    });
        }

        private Hello hello() {
            return new Hello(
                    call.kind,
                    own.job(),
                    call.member,
                    call.channel,
                    new Hello.HelloOptions(
                            own.secret().present(), io.checksum(), own.tls().otherwise()),
                    new Hello.AttemptId(process, ++attempts, (int) answerMillis, own.nonce()));
        }

        private boolean wantsTls(Hello plain, InetSocketAddress to) {
            return encrypts
                    || own.tls().use() != TlsPolicy.TlsMode.OFF
                            && own.tls().wants(plain.carriesNothing(), TlsPolicy.isOwn(to.getAddress()));
        }

        private boolean over() {
            FerroException why = hopeless.get();
            if (why != null) {
                result.completeExceptionally(why);
            }
            return result.isDone();
        }

        /** Returns the smaller of a limit and the time to the deadline, in milliseconds; at least 1. */
        private long within(long limitMillis) {
            long left = TimeUnit.NANOSECONDS.toMillis(call.deadlineNanos - clock.getAsLong());
            return Math.max(1, Math.min(left, limitMillis));
        }

        private void opened(Channel channel) {
            io.keepAlive(channel);
            channel.config().setRecvByteBufAllocator(new SwitchableReadAllocator(ExactReader.nothing()));
            result.whenComplete((given, failure) -> {
                if (given != channel) {
                    channel.close();
                }
            });
        }

        /**
         * The receiver of the events of one attempt's handshake. It also limits how long the peer may be silent. The
         * time limit starts when the connection is made, and starts again at each answer. A peer that answers is alive,
         * even if a busy host takes long for the next answer.
         */
        private final class AttemptHandler implements HandshakeHandler.HandshakeListener {
            private final ConnectingHandshake side;
            private final InetSocketAddress to;
            /** The channel of the attempt; null until the connection is made. */
            private Channel channel;

            private Future<?> timer;
            /** The time after which the current timer fires, in milliseconds. */
            private long limitMillis;
            /** Whether the peer has answered on this connection. */
            private boolean answered;

            AttemptHandler(ConnectingHandshake side, InetSocketAddress to) {
                this.side = side;
                this.to = to;
            }

            void connected(Channel made) {
                channel = made;
                limit();
            }

            private void limit() {
                limitMillis = within(answerMillis);
                timer = loop.schedule(this::late, limitMillis, TimeUnit.MILLISECONDS);
            }

            /**
             * Ends the attempt, unless this side has sent its confirmation, so that the peer may already use the
             * connection.
             */
            private void late() {
                if (channel.pipeline().get(ExactReader.class) != null) {
                    channel.pipeline()
                            .fireExceptionCaught(new TimeoutException("no answer within " + limitMillis + " ms"));
                }
            }

            @Override
            public void heard(Channel connection) {
                answered = true;
                notes.answered(to);
                timer.cancel(false);
                limit();
            }

            @Override
            public void done(Channel confirmed) {
                timer.cancel(false);
                guarded(() -> {
                    if (call.kind != Hello.ConnectionKind.DATA) {
                        io.limitBackoff(channel);
                    }
                });
                if (!result.complete(channel)) {
                    channel.close();
                }
            }

            @Override
            public void refused(Channel connection, Refusal refusal) {
                timer.cancel(false);
                if (side.askedForTls()) {
                    encrypts = true;
                    channel.close();
                    next();
                } else if (refusal.isLate()) {
                    ended(channel, refusal);
                } else if (refusal.code() == Code.RESOURCE) {
                    Where there = blaming(call.member.to());
                    result.completeExceptionally(refusal.failure(there, "cannot connect to " + call.what));
                } else {
                    DialAttempts.this.refused(refusal);
                }
            }

            @Override
            public void stranger(Channel connection, byte[] bytes, int length) {
                channel.close();
            }

            @Override
            public void ended(Channel connection, Throwable cause) {
                timer.cancel(false);
                channel.close();
                // during the TLS handshake, a peer that waits too long closes the connection without a refusal
                if (answered || cause instanceof TimeoutException) {
                    long longest = Math.max(answerMillis, TcpListener.LONGEST_HANDSHAKE_MILLIS);
                    answerMillis = Math.min(2 * answerMillis, longest);
                }
                unanswered.remove(to);
                unanswered.add(to);
                notes.failed(to, cause);
                again(cause);
            }
        }

        private void again(Throwable cause) {
            if (cause instanceof LinkageError) {
                broken(cause);
                return;
            }
            ShortageDetector.of(cause).ifPresent(lacking -> {
                String text = "rank " + call.where.rank() + " cannot connect to " + call.what + ": " + lacking;
                result.completeExceptionally(
                        new FerroException(Code.RESOURCE, blaming(call.where.rank()), text, cause));
            });
            if (over()) {
                return;
            }
            long now = clock.getAsLong();
            long pause = Math.min(pauseMillis, TimeUnit.NANOSECONDS.toMillis(call.deadlineNanos - now));
            if (pause <= 0) {
                result.completeExceptionally(notes.gaveUp(call, start, cause));
                return;
            }
            pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
            loop.schedule(this::next, pause, TimeUnit.MILLISECONDS);
        }
    }
}
