package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.net.ExactReader;
import ferro.backend.tcp.net.LoopWaiter;
import ferro.backend.tcp.net.NettyCaller;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.TlsHandler;
import ferro.backend.tcp.net.TlsHandshakeHandler;
import ferro.backend.tcp.net.TlsPolicy;
import ferro.backend.tcp.net.WriteErrorClassifier;
import ferro.backend.tcp.store.StoreCodec.AnswerHead;
import ferro.backend.tcp.store.StoreCodec.AnswerKind;
import ferro.backend.tcp.store.StoreCodec.StoreOperation;
import ferro.backend.tcp.store.StoreCodec.StoreRequest;
import ferro.spi.Deadlines;
import ferro.spi.SurrogateCheck;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** A client of a store over one connection. Any thread except the thread of the loop may call the client. */
public final class TcpStore implements Store {
    private static final byte[] NOTHING = {};
    /** Maximum time that {@link #close} waits. */
    private static final Duration MAX_FLUSH = Duration.ofSeconds(1);

    private final Channel channel;
    private final StoreOptions opening;
    private final RequestState requests;

    /** The state of one connection, which all requests over the connection share. */
    private static final class RequestState {
        private final Map<Integer, CompletableFuture<Reply>> pending = new ConcurrentHashMap<>();
        private final AtomicInteger numbers = new AtomicInteger();
        private final AtomicReference<FerroException> lost = new AtomicReference<>();
        private final AtomicReference<FerroException> unsaid = new AtomicReference<>();
        private final AtomicBoolean closed = new AtomicBoolean();
        /** The last request that is not a wait for a key; null if no such request was made. */
        private volatile CompletableFuture<Reply> changed;
    }

    /**
     * Takes over an authenticated channel.
     *
     * @param channel channel with an empty pipeline
     * @param opening how the store was opened
     */
    public TcpStore(Channel channel, StoreOptions opening) {
        this(channel, opening, new RequestState());
        NettyCaller.run(() -> {
            channel.config().setAutoClose(false);
            TlsHandler.install(channel);
            channel.pipeline().addLast(new AnswerReader());
            // the connection may have been reset before the reader was added, so the reader may not notice the end
            channel.closeFuture().addListener(ended -> gone((Throwable) null));
        });
    }

    private TcpStore(Channel channel, StoreOptions opening, RequestState requests) {
        this.channel = channel;
        this.opening = opening;
        this.requests = requests;
    }

    /**
     * How a store was opened.
     *
     * @param what          name of the store, such as "the store at 10.0.0.1:29500"
     * @param where         group and rank in failures
     * @param clock         clock of the deadlines, in nanoseconds
     * @param opener        purpose for which the store was opened, with a deadline
     * @param each          longest wait of a call after the deadline of {@code opener}
     * @param servedLocally whether this process serves the store
     * @param release       called once when the store is closed
     */
    public record StoreOptions(
            String what,
            Where where,
            LongSupplier clock,
            StorePurpose opener,
            Duration each,
            boolean servedLocally,
            Runnable release) {}

    /** The purpose for which a store was opened, such as the join of a group. */
    public interface StorePurpose {
        /** Returns the deadline, on the clock of the store. */
        long deadlineNanos();
    }

    @Override
    public void set(String key, byte[] value) {
        ask(StoreOperation.SET, key, value.clone(), null).whenComplete((reply, failure) -> {
            if (failure instanceof FerroException refused) {
                requests.unsaid.compareAndSet(null, refused);
            }
        });
    }

    @Override
    public CompletionStage<byte[]> when(String key) {
        return ask(StoreOperation.WHEN, key, NOTHING, null)
                .thenApply(Reply::value)
                .minimalCompletionStage();
    }

    @Override
    public byte[] get(String key, Duration timeout) {
        int number = requests.numbers.incrementAndGet();
        CompletableFuture<Reply> asked =
                ask(new StoreRequest(StoreOperation.WHEN, number, checked(key), NOTHING, null));
        try {
            return await(asked, "get of key \"" + key + "\"", Deadlines.nanos(timeout))
                    .value();
        } finally {
            if (requests.pending.remove(number) != null && requests.lost.get() == null) {
                send(new StoreRequest(StoreOperation.FORGET, number, "", NOTHING, null));
            }
        }
    }

    @Override
    public long add(String key, long delta) {
        byte[] amount = ByteBuffer.allocate(Long.BYTES).putLong(delta).array();
        byte[] sum = await(ask(StoreOperation.ADD, key, amount, null), "add to key \"" + key + "\"")
                .value();
        return Long.parseLong(new String(sum, StandardCharsets.US_ASCII));
    }

    @Override
    public byte[] compareAndSet(String key, byte[] expected, byte[] value) {
        byte[] was = expected == null ? null : expected.clone();
        Reply there = await(
                ask(StoreOperation.COMPARE_AND_SET, key, value.clone(), was), "compareAndSet of key \"" + key + "\"");
        return there.valueOrNull();
    }

    @Override
    public CompletionStage<byte[]> compareAndSetAsync(String key, byte[] expected, byte[] value) {
        byte[] was = expected == null ? null : expected.clone();
        StoreRequest request = request(StoreOperation.COMPARE_AND_SET, key, value.clone(), was);
        if (requests.closed.get()) {
            return CompletableFuture.failedStage(closedBefore(request));
        }
        // does not throw if an earlier set was refused, because a leaving rank must release its slot in any case
        return submit(request).thenApply(Reply::valueOrNull).minimalCompletionStage();
    }

    @Override
    public boolean delete(String key) {
        Reply there = await(ask(StoreOperation.DELETE, key, NOTHING, null), "delete of key \"" + key + "\"");
        return there.answer == AnswerKind.VALUE;
    }

    @Override
    public boolean servedHere() {
        return opening.servedLocally;
    }

    /** Returns whether this rank has closed the store, so that the end of the connection is expected. */
    boolean isClosed() {
        return requests.closed.get();
    }

    /** Returns whether the connection is encrypted, or stays on this host. */
    boolean isPrivate() {
        return TlsHandshakeHandler.sessionOf(channel) != null
                || channel.remoteAddress() instanceof InetSocketAddress remote && TlsPolicy.isOwn(remote.getAddress());
    }

    /** Returns the purpose for which this store was opened. */
    StorePurpose opener() {
        return opening.opener;
    }

    /** Returns whether the connection to the server is lost. */
    boolean isLost() {
        return requests.lost.get() != null;
    }

    @Override
    public void close() {
        close(MAX_FLUSH);
    }

    @Override
    public void close(Duration within) {
        if (requests.closed.compareAndSet(false, true)) {
            long nanos = Math.min(Deadlines.nanos(within), MAX_FLUSH.toNanos());
            long until = System.nanoTime() + nanos;
            awaitLast(nanos);
            ChannelFuture closing = channel.close();
            if (!channel.eventLoop().inEventLoop()) {
                // waits until values that were just set are sent, because a loop that ends drops unsent bytes
                closing.awaitUninterruptibly(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
            }
            opening.release.run();
        }
    }

    /**
     * Waits a limited time for the answer to the last request that changes the store, even if this thread is
     * interrupted. Closing a connection with unread answers resets the connection. The store may then drop requests
     * that the store has not read.
     */
    private void awaitLast(long nanos) {
        CompletableFuture<Reply> last = requests.changed;
        if (last == null || channel.eventLoop().inEventLoop()) {
            return;
        }
        ChannelPromise answered = channel.newPromise();
        last.whenComplete((reply, failed) -> answered.trySuccess());
        if (!answered.awaitUninterruptibly(nanos, TimeUnit.NANOSECONDS)) {
            System.getLogger("ferro.join")
                    .log(System.Logger.Level.DEBUG, "closed " + opening.what + " before its last answer");
        }
    }

    /** Sends a request without waiting for the answer. */
    public CompletableFuture<Reply> ask(StoreOperation operation, String key, byte[] value, byte[] expected) {
        return ask(request(operation, key, value, expected));
    }

    private StoreRequest request(StoreOperation operation, String key, byte[] value, byte[] expected) {
        if (value.length > StoreMap.MOST_VALUE_BYTES) {
            throw new IllegalArgumentException("the value of key \"" + key + "\" has " + value.length
                    + " bytes: a store takes at most " + StoreMap.MOST_VALUE_BYTES);
        }
        return new StoreRequest(operation, requests.numbers.incrementAndGet(), checked(key), value, expected);
    }

    private static String checked(String key) {
        int bytes = key.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > StoreMap.MOST_KEY_BYTES) {
            throw new IllegalArgumentException("a key of " + bytes + " bytes (\"" + key.substring(0, 40)
                    + "...\"): a store takes at most " + StoreMap.MOST_KEY_BYTES);
        }
        return SurrogateCheck.refuseHalves("key \"" + key + "\" of a store", key);
    }

    private CompletableFuture<Reply> ask(StoreRequest request) {
        if (requests.closed.get()) {
            throw closedBefore(request);
        }
        FerroException earlier = requests.unsaid.getAndSet(null);
        if (earlier != null) {
            throw earlier;
        }
        return submit(request);
    }

    private IllegalStateException closedBefore(StoreRequest request) {
        return new IllegalStateException(opening.what + " was closed by this rank and accepts no " + request.operation()
                + " of key \"" + request.key() + "\" any more");
    }

    private CompletableFuture<Reply> submit(StoreRequest request) {
        CompletableFuture<Reply> reply = new CompletableFuture<>();
        if (request.operation() != StoreOperation.WHEN) {
            requests.changed = reply;
        }
        requests.pending.put(request.number(), reply);
        send(request);
        FerroException gone = requests.lost.get();
        if (gone != null) {
            requests.pending.remove(request.number());
            reply.completeExceptionally(gone);
        }
        return reply;
    }

    private void send(StoreRequest request) {
        channel.writeAndFlush(Unpooled.wrappedBuffer(request.encoded()))
                .addListener((ChannelFutureListener) this::sent);
    }

    /**
     * Handles a failed write of a request. If the connection has ended, continues to read, because its last bytes may
     * contain the reason. After any other failure, closes the connection.
     */
    private void sent(ChannelFuture request) {
        if (!request.isSuccess() && !WriteErrorClassifier.isOfConnection(request.cause())) {
            channel.close();
        }
    }

    /**
     * Returns a view of this store with a join's deadline. After the deadline, a request fails unless the store answers
     * at once.
     */
    public TcpStore until(StorePurpose join) {
        StoreOptions until = new StoreOptions(
                opening.what,
                opening.where,
                opening.clock,
                join,
                Duration.ZERO,
                opening.servedLocally,
                opening.release);
        return new TcpStore(channel, until, requests);
    }

    private Reply await(CompletableFuture<Reply> asked, String what) {
        long left = opening.opener.deadlineNanos() - opening.clock.getAsLong();
        return await(asked, what, left > 0 ? left : Deadlines.nanos(opening.each));
    }

    private Reply await(CompletableFuture<Reply> asked, String what, long nanos) {
        if (channel.eventLoop().inEventLoop()) {
            throw new IllegalStateException(what + " would block the event loop that delivers the answer: use when");
        }
        Supplier<String> late = new Supplier<>() {
            @Override
            public String get() {
                return what + " in " + opening.what + " was not answered after " + nanos / 1_000_000 + " ms";
            }
        };
        return LoopWaiter.until(asked, nanos, opening.where, late);
    }

    /**
     * Returns whether a request failed because no answer arrived in time. The connection and the store may still work.
     */
    static boolean isUnanswered(FerroException failure) {
        return failure.code() == Code.RENDEZVOUS && failure.getCause() instanceof TimeoutException;
    }

    private void gone(Throwable cause) {
        String why = cause == null ? "it closed the connection" : String.valueOf(cause.getMessage());
        gone(new FerroException(Code.RENDEZVOUS, opening.where, opening.what + " went away (" + why + ")", cause));
    }

    private void gone(FerroException failure) {
        requests.lost.compareAndSet(null, failure);
        requests.pending.values().forEach(one -> one.completeExceptionally(requests.lost.get()));
        requests.pending.clear();
    }

    /** An answer of the store to a request. */
    public record Reply(AnswerKind answer, byte[] value) {
        private byte[] valueOrNull() {
            return answer == AnswerKind.ABSENT ? null : value;
        }
    }

    /** Reads the answers of the store, on the loop. */
    private final class AnswerReader extends ExactReader {
        private AnswerHead head;

        @Override
        public void begin() {
            expect(StoreCodec.ANSWER_HEAD_BYTES);
        }

        @Override
        public void whole(ByteBuffer bytes) {
            try {
                if (head == null) {
                    head = AnswerHead.decoded(bytes);
                    if (head.bytes() > 0) {
                        expect(head.bytes());
                        return;
                    }
                }
                byte[] value = new byte[head.bytes()];
                bytes.get(value);
                answered(head, value);
                head = null;
                expect(StoreCodec.ANSWER_HEAD_BYTES);
            } catch (Refusal broken) {
                gone(broken.failure(opening.where, opening.what));
                context().close();
            }
        }

        private void answered(AnswerHead said, byte[] value) {
            // created before the request is removed: after an error between the two steps, the request would never
            // complete
            Reply reply = said.answer() == AnswerKind.REFUSED ? null : new Reply(said.answer(), value);
            CompletableFuture<Reply> asked = requests.pending.remove(said.number());
            if (reply != null) {
                if (asked != null) {
                    asked.complete(reply);
                }
                return;
            }
            FerroException refused =
                    Refusal.decoded(ByteBuffer.wrap(value)).failure(opening.where, opening.what + " refused");
            if (asked != null) {
                asked.completeExceptionally(refused);
            } else {
                gone(refused);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext inactive) {
            gone((Throwable) null);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext caught, Throwable cause) {
            gone(cause);
            caught.close();
        }
    }
}
