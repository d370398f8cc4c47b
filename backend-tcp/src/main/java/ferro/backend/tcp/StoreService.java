package ferro.backend.tcp;

import ferro.FerroException.Code;
import ferro.backend.tcp.StoreFrames.Answer;
import ferro.backend.tcp.StoreFrames.AnswerHead;
import ferro.backend.tcp.StoreFrames.Head;
import ferro.backend.tcp.StoreFrames.Request;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
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

/** A store that is served: one map, and a reader per client with a state of its own; everything on one loop. */
final class StoreService {
    /** Of one client at once; a rank that joins waits for one per other rank. */
    private static final int MOST_WAITS = 16 * 1024;
    /** What is noted of those who have not proved themselves must not fill the store. */
    static final int MOST_STRANGERS = 1024;

    final StoreMap map = new StoreMap();

    private final BiConsumer<String, byte[]> whenSet;
    private final Set<Channel> clients = new HashSet<>();
    private int strangers;

    StoreService() {
        this((key, value) -> {});
    }

    /** Tells, on the loop, of every key that a client sets. */
    StoreService(BiConsumer<String, byte[]> whenSet) {
        this.whenSet = whenSet;
    }

    /** Serves a client whose handshake is over; on the loop. */
    void serve(Channel channel) {
        clients.add(channel);
        channel.closeFuture().addListener(closed -> clients.remove(channel));
        channel.pipeline().addLast(new Client());
    }

    /** Sets a key that no client has set; on the loop. */
    void note(String key, String text) {
        try {
            map.set(key, text.getBytes(StandardCharsets.UTF_8));
        } catch (Refusal full) {
            // clients have filled the store: whoever waits for this key hears of it by the deadline of its own calls
            return;
        }
    }

    /** As {@link #note}, of a client that was refused; on the loop. */
    void noteStranger(String key, String text) {
        if (strangers < MOST_STRANGERS) {
            strangers++;
            note(key, text);
        }
    }

    /** Ends all clients; on the loop. */
    void close() {
        Set.copyOf(clients).forEach(Channel::close);
    }

    /** One client; a slow one is not read from while its answers do not leave. */
    private final class Client extends ExactReader {
        private final Map<Integer, Wait> waits = new HashMap<>();
        private Head head;

        @Override
        void begin() {
            expect(StoreFrames.REQUEST_HEAD_BYTES);
        }

        @Override
        boolean mayRead() {
            return context().channel().isWritable();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext changed) {
            resume();
        }

        @Override
        void whole(ByteBuffer bytes) {
            try {
                if (head == null) {
                    head = Head.decoded(bytes);
                    if (head.following() > 0) {
                        expect(head.following());
                        return;
                    }
                }
                Request request = head.decodedBody(head.following() > 0 ? bytes : ByteBuffer.allocate(0));
                head = null;
                serve(request);
                expect(StoreFrames.REQUEST_HEAD_BYTES);
            } catch (Refusal broken) {
                answer(0, Answer.REFUSED, broken.encoded());
                context().close();
            }
        }

        private void serve(Request request) throws Refusal {
            int number = request.number();
            try {
                switch (request.operation()) {
                    case SET -> {
                        map.set(request.key(), request.value());
                        whenSet.accept(request.key(), request.value());
                        answer(number, Answer.VALUE, new byte[0]);
                    }
                    case WHEN -> await(number, request.key());
                    case ADD -> {
                        long sum = map.add(request.key(), amount(request.value()));
                        answer(number, Answer.VALUE, Long.toString(sum).getBytes(StandardCharsets.US_ASCII));
                    }
                    case COMPARE_AND_SET -> {
                        byte[] there = map.compareAndSet(request.key(), request.expected(), request.value());
                        answer(number, there == null ? Answer.ABSENT : Answer.VALUE, there);
                    }
                    case DELETE -> answer(number, map.delete(request.key()) ? Answer.VALUE : Answer.ABSENT, null);
                    case FORGET -> forget(number);
                }
            } catch (Refusal refusal) {
                answer(number, Answer.REFUSED, refusal.encoded());
                if (refusal.code() == Code.PROTOCOL) {
                    throw refusal;
                }
            }
        }

        private void await(int number, String key) throws Refusal {
            if (waits.size() >= MOST_WAITS) {
                throw new Refusal(Code.RESOURCE, "a client waits for " + MOST_WAITS + " keys already: the limit");
            }
            Wait wait = new Wait(key, value -> {
                waits.remove(number);
                answer(number, Answer.VALUE, value);
            });
            waits.put(number, wait);
            map.when(key, wait.told);
        }

        private void forget(int number) {
            Wait wait = waits.remove(number);
            if (wait != null) {
                map.forget(wait.key, wait.told);
            }
        }

        private void answer(int number, Answer kind, byte[] value) {
            byte[] body = value == null ? new byte[0] : value;
            byte[] front = new AnswerHead(number, kind, body.length).encoded();
            context()
                    .writeAndFlush(Unpooled.wrappedBuffer(front, body))
                    .addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
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

    /** A key that a client waits for. */
    private record Wait(String key, Consumer<byte[]> told) {}
}
