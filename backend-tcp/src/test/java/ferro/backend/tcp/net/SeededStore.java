package ferro.backend.tcp.net;

import ferro.FerroException.Where;
import ferro.backend.tcp.store.StoreCodec.AnswerKind;
import ferro.backend.tcp.store.StoreCodec.StoreOperation;
import ferro.backend.tcp.store.StoreConnectionReceiver;
import ferro.backend.tcp.store.StoreService;
import ferro.backend.tcp.store.TcpStore;
import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One seed of {@link SeededStoreTest}: some clients with their requests and answers. The answers must be those of one map that
 * serves one after the other: a counter that gives every sum once, a value that is swapped along one chain, a value that is
 * never older than what was written before it was asked for.
 */
public final class SeededStore {
    private static final long SECOND = 1_000_000_000L;
    private static final long NEVER = Long.MAX_VALUE;
    private static final String COUNTER = "counter";
    private static final String CHAIN = "chain";
    private static final String VALUE = "value";

    private final long seed;
    private final SeededNet net;
    private final StoreService service = new StoreService();
    private final Credentials own;
    private final TcpListener listener;
    private final List<Asked> history = new ArrayList<>();
    private final List<TcpStore> stores = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private int unique;

    /** A question and what became of it; times are steps of the run. */
    private static final class Asked {
        final StoreOperation operation;
        final String value;
        final String expected;
        final long begun;
        long ended = NEVER;
        boolean failed;
        String answer;

        Asked(StoreOperation operation, String value, String expected, long begun) {
            this.operation = operation;
            this.value = value;
            this.expected = expected;
            this.begun = begun;
        }

        boolean isAnswered() {
            return ended != NEVER && !failed;
        }

        boolean isBefore(Asked other) {
            return isAnswered() && ended < other.begun;
        }
    }

    public SeededStore(long seed) {
        this.seed = seed;
        net = new SeededNet(seed);
        own = new Credentials("job", Secret.none(), new SeededRandom(net.random.split()));
        listener = new TcpListener(
                own, new StoreConnectionReceiver(service), new UnauthenticatedPeerLog(new KeptLog(), net::now));
    }

    /** Returns the hash of the trace. */
    public long run() {
        for (int clients = 2 + net.random.nextInt(3); clients > 0; clients--) {
            net.later(net.random.nextLong(SECOND / 100), this::open);
        }
        net.run(30 * SECOND);
        stores.forEach(TcpStore::close);
        net.ends().forEach(SeededNet.End::settle);
        net.run(60 * SECOND);
        checkEnds();
        checkCounter();
        checkChain();
        checkValue();
        if (!problems.isEmpty()) {
            throw new AssertionError("seed " + seed + ": " + problems + "; replay it with -Dferro.seed=" + seed);
        }
        return net.hash();
    }

    private void open() {
        int cut = net.random.nextInt(4) == 0 ? net.random.nextInt(1200) : -1;
        SeededNet.End[] ends = net.connect(cut);
        listener.accept(ends[0]);
        Hello.RankPair member = new Hello.RankPair(0, stores.size(), 8, -1);
        Hello hello = new Hello(
                Hello.ConnectionKind.STORE,
                own.job(),
                member,
                Hello.ChannelIdentity.NONE,
                new Hello.HelloOptions(false, false),
                new Hello.AttemptId(stores.size(), 1, own.nonce()));
        ends[1].pipeline().addLast(new HandshakeHandler(new ConnectingHandshake(own, hello), new Entering(ends[1])));
        ends[1].settle();
        ends[0].settle();
    }

    private void entered(SeededNet.End end) {
        Where where = Where.of("g", stores.size());
        TcpStore store = new TcpStore(
                end,
                new TcpStore.StoreOptions(
                        "the store", where, null, () -> 0, java.time.Duration.ofSeconds(1), false, () -> {}));
        stores.add(store);
        long at = 0;
        for (int asks = 3 + net.random.nextInt(10); asks > 0; asks--) {
            at += net.random.nextLong(SECOND / 1000);
            net.later(at, () -> {
                ask(store);
                end.settle();
            });
        }
    }

    private void ask(TcpStore store) {
        switch (net.random.nextInt(5)) {
            case 0 -> {
                byte[] one = ByteBuffer.allocate(Long.BYTES).putLong(1).array();
                follow(store, COUNTER, one, new Asked(StoreOperation.ADD, "1", null, net.steps()));
            }
            case 1, 2 -> {
                String next = "v" + unique++;
                String seen = lastSeen();
                follow(store, CHAIN, bytes(next), new Asked(StoreOperation.COMPARE_AND_SET, next, seen, net.steps()));
            }
            case 3 -> {
                String next = "w" + unique++;
                follow(store, VALUE, bytes(next), new Asked(StoreOperation.SET, next, null, net.steps()));
            }
            default -> follow(store, VALUE, new byte[0], new Asked(StoreOperation.WHEN, "", null, net.steps()));
        }
    }

    /** Returns what some client was told last of the chain, or null. */
    private String lastSeen() {
        String seen = null;
        for (Asked asked : history) {
            seen = asked.operation == StoreOperation.COMPARE_AND_SET && asked.isAnswered() ? asked.answer : seen;
        }
        return net.random.nextInt(8) == 0 ? "v" + net.random.nextInt(1 + unique) : seen;
    }

    private void follow(TcpStore store, String key, byte[] value, Asked asked) {
        history.add(asked);
        store.ask(asked.operation, key, value, asked.expected == null ? null : bytes(asked.expected))
                .whenComplete((reply, failure) -> {
                    asked.ended = net.steps();
                    asked.failed = failure != null;
                    if (reply != null && reply.answer() != AnswerKind.ABSENT) {
                        asked.answer = new String(reply.value(), StandardCharsets.UTF_8);
                    }
                });
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void checkEnds() {
        for (Asked asked : history) {
            if (asked.ended == NEVER) {
                problems.add(asked.operation + " was neither answered nor failed");
            }
        }
        if (service.map.waiters() != 0) {
            problems.add(service.map.waiters() + " waiters are left in the store");
        }
        if (net.ends().stream().anyMatch(Channel::isOpen)) {
            problems.add("a connection is still open");
        }
    }

    private void checkCounter() {
        Set<Long> sums = new HashSet<>();
        for (Asked asked : history) {
            if (asked.operation != StoreOperation.ADD || !asked.isAnswered()) {
                continue;
            }
            long sum = Long.parseLong(asked.answer);
            if (!sums.add(sum)) {
                problems.add("the counter gave " + sum + " twice");
            }
            for (Asked earlier : history) {
                if (earlier.operation == StoreOperation.ADD
                        && earlier.isBefore(asked)
                        && Long.parseLong(earlier.answer) >= sum) {
                    problems.add("the counter gave " + sum + " after " + earlier.answer);
                }
            }
        }
    }

    private void checkChain() {
        Map<String, String> successor = new HashMap<>();
        for (Asked asked : history) {
            boolean swapped = asked.operation == StoreOperation.COMPARE_AND_SET
                    && asked.isAnswered()
                    && asked.value.equals(asked.answer);
            if (swapped && successor.put(String.valueOf(asked.expected), asked.value) != null) {
                problems.add("two clients swapped " + asked.expected);
            }
        }
    }

    private void checkValue() {
        for (Asked read : history) {
            if (read.operation != StoreOperation.WHEN || !read.isAnswered()) {
                continue;
            }
            Asked written = history.stream()
                    .filter(one -> one.operation == StoreOperation.SET && one.value.equals(read.answer))
                    .findFirst()
                    .orElse(null);
            if (written == null || written.begun > read.ended) {
                problems.add("a client read " + read.answer + ", which nobody had written");
                continue;
            }
            for (Asked later : history) {
                if (later.operation == StoreOperation.SET && written.isBefore(later) && later.isBefore(read)) {
                    problems.add("a client read " + read.answer + ", which " + later.value + " had replaced");
                }
            }
        }
    }

    /** A client on its way in. */
    private final class Entering implements HandshakeHandler.HandshakeListener {
        private final SeededNet.End end;

        Entering(SeededNet.End end) {
            this.end = end;
        }

        @Override
        public void done(Channel channel) {
            SeededStore.this.entered(end);
        }

        @Override
        public void refused(Channel channel, Refusal refusal) {
            problems.add("a client was refused: " + refusal.getMessage());
            channel.close();
        }

        @Override
        public void stranger(Channel channel, byte[] bytes, int length) {
            problems.add("a client was taken for a stranger");
            channel.close();
        }

        @Override
        public void ended(Channel channel, Throwable cause) {
            channel.close();
        }
    }
}
