package ferro.backend.tcp.store;

import ferro.FerroException.Code;
import ferro.backend.tcp.net.ExactReader;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.net.TlsHandler;
import ferro.backend.tcp.net.WriteErrorClassifier;
import ferro.backend.tcp.store.StoreCodec.AnswerHead;
import ferro.backend.tcp.store.StoreCodec.AnswerKind;
import ferro.backend.tcp.store.StoreCodec.RequestHead;
import ferro.backend.tcp.store.StoreCodec.StoreRequest;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The server of a store. It has one map for all clients, and one reader for each client. All its methods run on one
 * loop.
 */
public final class StoreService {
    /**
     * Maximum number of requests of one client that wait for a key at the same time. A joining rank has one such
     * request for each other rank.
     */
    private static final int MOST_WAITS = 16 * 1024;
    /** Maximum number of keys about unauthenticated processes, so that these processes cannot fill the store. */
    static final int MOST_STRANGERS = 1024;

    public final StoreMap map = new StoreMap();

    private final BiConsumer<String, byte[]> whenSet;
    private final Set<Channel> clients = new HashSet<>();
    private int strangers;

    /** Creates a service with an empty map. */
    public StoreService() {
        this((key, value) -> {});
    }

    /** Creates a service that reports, on the loop, every key that a client sets. */
    public StoreService(BiConsumer<String, byte[]> whenSet) {
        this.whenSet = whenSet;
    }

    /** Serves a client whose handshake is complete; called on the loop. */
    void serve(Channel channel) {
        clients.add(channel);
        channel.closeFuture().addListener(closed -> clients.remove(channel));
        // a failed write of an answer must not close the connection before the received requests are read
        channel.config().setAutoClose(false);
        TlsHandler.install(channel);
        channel.pipeline().addLast(new Client());
    }

    /** Sets a key on behalf of the process that serves the store; called on the loop. */
    void note(String key, String text) {
        note(key, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Sets a key on behalf of the process that serves the store; called on the loop. */
    public void note(String key, byte[] value) {
        try {
            map.set(key, value);
        } catch (Refusal full) {
            // clients have filled the store, so this key is not set, and a client that waits for the key fails at its
            // deadline
            return;
        }
    }

    /** Sets a key about a client that was refused, unless there are too many such keys; called on the loop. */
    void noteStranger(String key, String text) {
        if (strangers < MOST_STRANGERS) {
            strangers++;
            note(key, text);
        }
    }

    /** Closes all client connections; called on the loop. */
    public void close() {
        Set.copyOf(clients).forEach(Channel::close);
    }

    /**
     * One client of the store. While answers to a client wait to be sent, no more requests of this client are read. A
     * client that has ended its connection gets no more answers. Earlier requests of such a client are still carried
     * out, and then the connection is closed.
     */
    private final class Client extends ExactReader {
        private final Map<Integer, KeyWaiter> waits = new HashMap<>();
        private RequestHead head;
        private boolean unanswerable;

        @Override
        public void begin() {
            expect(StoreCodec.REQUEST_HEAD_BYTES);
        }

        @Override
        public boolean mayRead() {
            return unanswerable || context().channel().isWritable();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext changed) {
            resume();
        }

        @Override
        public void whole(ByteBuffer bytes) {
            try {
                if (head == null) {
                    head = RequestHead.decoded(bytes);
                    if (head.following() > 0) {
                        expect(head.following());
                        return;
                    }
                }
                StoreRequest request = head.decodedBody(head.following() > 0 ? bytes : ByteBuffer.allocate(0));
                head = null;
                serve(request);
                expect(StoreCodec.REQUEST_HEAD_BYTES);
            } catch (Refusal broken) {
                answer(0, AnswerKind.REFUSED, broken.encoded());
                context().close();
            } catch (LinkageError broken) {
                String text = "the store failed with " + broken;
                answer(0, AnswerKind.REFUSED, new Refusal(Code.ABORTED, text).encoded());
                context().close();
            }
        }

        private void serve(StoreRequest request) throws Refusal {
            int number = request.number();
            try {
                switch (request.operation()) {
                    case SET -> {
                        map.set(request.key(), request.value());
                        whenSet.accept(request.key(), request.value());
                        answer(number, AnswerKind.VALUE, new byte[0]);
                    }
                    case WHEN -> await(number, request.key());
                    case ADD -> {
                        long sum = map.add(request.key(), amount(request.value()));
                        answer(number, AnswerKind.VALUE, Long.toString(sum).getBytes(StandardCharsets.US_ASCII));
                    }
                    case COMPARE_AND_SET -> {
                        byte[] there = map.compareAndSet(request.key(), request.expected(), request.value());
                        answer(number, there == null ? AnswerKind.ABSENT : AnswerKind.VALUE, there);
                    }
                    case DELETE ->
                        answer(number, map.delete(request.key()) ? AnswerKind.VALUE : AnswerKind.ABSENT, null);
                    case FORGET -> forget(number);
                }
            } catch (Refusal refusal) {
                answer(number, AnswerKind.REFUSED, refusal.encoded());
                if (refusal.code() == Code.PROTOCOL) {
                    throw refusal;
                }
            }
        }

        private void await(int number, String key) throws Refusal {
            if (waits.size() >= MOST_WAITS) {
                throw new Refusal(
                        Code.RESOURCE, "a client already waits for " + MOST_WAITS + " keys, which is the limit");
            }
            KeyWaiter wait = new KeyWaiter(key, new Consumer<>() {
                @Override
                public void accept(byte[] value) {
                    waits.remove(number);
                    answer(number, AnswerKind.VALUE, value);
                }
            });
            waits.put(number, wait);
            map.when(key, wait.told);
        }

        private void forget(int number) {
            KeyWaiter wait = waits.remove(number);
            if (wait != null) {
                map.forget(wait.key, wait.told);
            }
        }

        private void answer(int number, AnswerKind kind, byte[] value) {
            if (unanswerable) {
                return;
            }
            byte[] body = value == null ? new byte[0] : value;
            byte[] front = new AnswerHead(number, kind, body.length).encoded();
            context().writeAndFlush(Unpooled.wrappedBuffer(front, body)).addListener((ChannelFutureListener)
                    this::answered);
        }

        /**
         * Handles a failed write of an answer. If the client has ended the connection, continues to read the received
         * requests. After any other failure, closes the connection.
         */
        private void answered(ChannelFuture answer) {
            if (answer.isSuccess() || unanswerable) {
                return;
            }
            unanswerable = true;
            if (WriteErrorClassifier.isOfConnection(answer.cause())) {
                resume();
            } else {
                context().close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext inactive) {
            waits.values().forEach(wait -> map.forget(wait.key, wait.told));
            waits.clear();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext caught, Throwable cause) {
            caught.close();
        }
    }

    private static long amount(byte[] value) throws Refusal {
        if (value.length != Long.BYTES) {
            throw new Refusal(Code.PROTOCOL, "an amount of " + value.length + " bytes: need " + Long.BYTES);
        }
        return ByteBuffer.wrap(value).getLong();
    }

    private record KeyWaiter(String key, Consumer<byte[]> told) {}
}
