package ferro.backend.tcp.net;

import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.mesh.TcpMesh;
import ferro.backend.tcp.store.SeededHandshakesTest;
import ferro.backend.tcp.store.TcpPort;
import ferro.spi.GroupSpec;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** One seed of {@link SeededHandshakesTest}: a rank that listens, the ranks that dial it, and strangers. */
public final class SeededHandshakes {
    private static final long SECOND = 1_000_000_000L;
    private static final long GIVE_UP_NANOS = 20 * SECOND;
    private static final long END_NANOS = 60 * SECOND;
    private static final int LONGEST_TALK_BYTES = 260;
    private static final int LONGEST_TLS_BYTES = 2_500;
    private static final long GROUP = 7;

    private final long seed;
    private final TlsPolicy tls;
    private final SeededNet net;
    private final int worldSize;
    private final Credentials own;
    private final TcpMesh peers;
    private final TcpListener listener;
    private final List<Dialler> diallers = new ArrayList<>();
    /** Who was let in, by nonce. */
    private final Map<String, Channel> entered = new HashMap<>();

    private final List<String> problems = new ArrayList<>();

    public SeededHandshakes(long seed, TcpPort port) {
        this(seed, port, null);
    }

    /** Encrypts by a policy, unless that is null. */
    public SeededHandshakes(long seed, TcpPort port, TlsPolicy tls) {
        this.seed = seed;
        this.tls = tls;
        net = new SeededNet(seed);
        worldSize = 2 + net.random.nextInt(4);
        own = credentials("job", net.random.nextBoolean() ? "right" : null);
        peers = Ranks.mesh(GroupSpec.of("g", worldSize - 1, worldSize, Ranks.LONG), port, GROUP);
        listener = new TcpListener(own, new Watched(), new UnauthenticatedPeerLog(new KeptLog(), net::now));
    }

    private Credentials credentials(String job, String secret) {
        Secret known = secret == null ? Secret.none() : Secret.of(secret.getBytes(StandardCharsets.UTF_8));
        SeededRandom random = new SeededRandom(net.random.split());
        return tls == null ? new Credentials(job, known, random) : new Credentials(job, known, random, tls);
    }

    /** Returns the hash of the trace. */
    public long run() {
        for (int rank = 0; rank < worldSize - 1; rank++) {
            dial(rank);
            if (net.random.nextInt(6) == 0) {
                dial(rank);
            }
        }
        for (int strangers = net.random.nextInt(8); strangers > 0; strangers--) {
            net.later(net.random.nextLong(3 * SECOND), this::stranger);
        }
        net.run(END_NANOS);
        diallers.forEach(Dialler::check);
        checkEnds();
        if (!problems.isEmpty()) {
            throw new AssertionError("seed " + seed + ", world size " + worldSize + ": " + problems
                    + "; replay it with -Dferro.seed=" + seed);
        }
        return net.hash();
    }

    private void dial(int rank) {
        Dialler dialler = new Dialler(rank);
        diallers.add(dialler);
        net.later(net.random.nextLong(2 * SECOND), dialler::next);
    }

    private int drawCut() {
        return net.random.nextInt(4) == 0
                ? net.random.nextInt(tls == null ? LONGEST_TALK_BYTES : LONGEST_TLS_BYTES)
                : -1;
    }

    private void checkEnds() {
        for (SeededNet.End end : net.ends()) {
            boolean kept = entered.containsValue(end) || diallers.stream().anyMatch(dialler -> dialler.given == end);
            if (end.isOpen() && !kept) {
                problems.add("a connection that nobody has is still open");
            }
        }
    }

    /** Returns a hello of a peer that is not a rank of the job. */
    private Hello hello(Credentials as, int rank, int size, int to) {
        return hello(as, new Hello.RankPair(GROUP, rank, size, to), -1, 1);
    }

    private static Hello hello(Credentials as, Hello.RankPair member, long process, int attempt) {
        return new Hello(
                Hello.ConnectionKind.CONTROL,
                as.job(),
                member,
                Hello.ChannelIdentity.NONE,
                new Hello.HelloOptions(as.secret().present(), false),
                new Hello.AttemptId(process, attempt, as.nonce()));
    }

    private ConnectingHandshake connecting(Credentials as, Hello said) {
        return new ConnectingHandshake(as, said, tls == null ? null : tls.identity());
    }

    /** Somebody who must not get in: says the wrong thing, nothing, or the right thing of somebody else. */
    private void stranger() {
        SeededNet.End[] ends = net.connect(drawCut());
        listener.accept(ends[0]);
        int rank = net.random.nextInt(worldSize);
        Credentials others = credentials("job", own.secret().present() ? "wrong" : "any");
        Credentials otherJob = credentials("other job", own.secret().present() ? "right" : null);
        int kind = net.random.nextInt(7);
        Credentials as = kind == 0 ? others : kind == 1 ? otherJob : own;
        Hello said = switch (kind) {
            case 0, 1 -> hello(as, rank, worldSize, worldSize - 1);
            case 2 -> hello(as, rank, worldSize + 1, worldSize - 1);
            case 3 -> hello(as, worldSize - 1, worldSize, worldSize - 1);
            case 4 -> hello(as, rank, worldSize, worldSize);
            default -> null;
        };
        if (said != null) {
            ends[1].pipeline().addLast(new HandshakeHandler(connecting(as, said), new Ignored()));
        } else {
            ends[1].writeOutbound(Unpooled.wrappedBuffer(noise()));
            net.later(net.random.nextLong(8 * SECOND), ends[1]::close);
        }
        ends[1].settle();
    }

    private byte[] noise() {
        byte[] noise = new byte[net.random.nextInt(200)];
        net.random.nextBytes(noise);
        byte[] right = hello(own, 0, worldSize, worldSize - 1).encoded();
        switch (net.random.nextInt(3)) {
            case 0 -> System.arraycopy(right, 0, noise, 0, Math.min(noise.length, net.random.nextInt(right.length)));
            case 1 -> {
                byte[] text = "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
                return Arrays.copyOf(text, 1 + net.random.nextInt(text.length));
            }
            default -> {}
        }
        return noise;
    }

    private static String name(Hello hello) {
        return HexFormat.of().formatHex(hello.attempt().nonce());
    }

    /** A rank that belongs here; tries again as the dialer does, until it is in, refused, or out of time. */
    private final class Dialler implements HandshakeHandler.HandshakeListener {
        private final int rank;
        private final List<String> nonces = new ArrayList<>();
        private long pause = 10_000_000;
        private SeededNet.End trying;
        private Channel given;
        private Refusal refusal;
        private boolean cut;
        private boolean over;

        Dialler(int rank) {
            this.rank = rank;
        }

        void next() {
            SeededNet.End[] ends = net.connect(drawCut());
            Hello.RankPair member = new Hello.RankPair(GROUP, rank, worldSize, worldSize - 1);
            Hello hello = hello(own, member, diallers.indexOf(this), nonces.size());
            nonces.add(name(hello));
            trying = ends[1];
            SeededNet.End attempt = trying;
            listener.accept(ends[0]);
            attempt.pipeline().addLast(new HandshakeHandler(connecting(own, hello), this));
            attempt.settle();
            ends[0].settle();
            net.later(TcpListener.HANDSHAKE_MILLIS * 1_000_000, () -> {
                if (attempt != given) {
                    attempt.close();
                    attempt.settle();
                }
            });
        }

        @Override
        public void done(Channel channel) {
            given = channel;
            over = true;
        }

        @Override
        public void refused(Channel channel, Refusal no) {
            if (no.isLate()) {
                channel.close();
                ended(channel, no);
                return;
            }
            refusal = no;
            over = true;
            channel.close();
        }

        @Override
        public void stranger(Channel channel, byte[] bytes, int length) {
            problems.add("rank " + rank + " took the listener for a stranger");
        }

        @Override
        public void ended(Channel channel, Throwable cause) {
            cut |= trying.wasCut();
            if (net.now() < GIVE_UP_NANOS) {
                net.later(pause, this::next);
                pause = Math.min(2 * pause, SECOND / 2);
            } else {
                over = true;
            }
        }

        void check() {
            boolean alone =
                    diallers.stream().filter(other -> other.rank == rank).count() == 1;
            if (!over) {
                problems.add("rank " + rank + " neither got in nor failed");
            } else if (given == null && alone && !cut) {
                problems.add("rank " + rank + " did not get in" + (refusal == null ? "" : ": " + refusal.getMessage()));
            }
            String last = nonces.get(nonces.size() - 1);
            if (given != null && !entered.containsKey(last) && !trying.wasCut()) {
                problems.add("rank " + rank + " believes that it is in, but nobody let it in");
            }
            long in = nonces.stream().filter(entered::containsKey).count();
            if (in > (given == null ? 0 : 1) || in == 1 && !entered.containsKey(last)) {
                problems.add("rank " + rank + " has given an attempt up that was taken for its connection");
            }
        }
    }

    /** Lets in whom the group lets in, and writes it down. */
    private final class Watched implements TcpListener.ConnectionReceiver {
        private final Map<Integer, Channel> slots = new HashMap<>();

        @Override
        public void admit(Hello hello, Channel channel) throws Refusal {
            peers.admit(hello, channel);
            if (diallers.stream().noneMatch(dialler -> dialler.nonces.contains(name(hello)))) {
                problems.add("a stranger was let in as rank " + hello.member().rank());
            }
            Channel before = slots.put(hello.member().rank(), channel);
            if (before != null && before.isOpen()) {
                problems.add("two connections have the slot of rank "
                        + hello.member().rank());
            }
        }

        @Override
        public void entered(Hello hello, Channel channel) {
            entered.put(name(hello), channel);
            peers.entered(hello, channel);
        }
    }

    /** The end of a stranger, who does not care. */
    private static final class Ignored implements HandshakeHandler.HandshakeListener {
        @Override
        public void done(Channel channel) {
            channel.close();
        }

        @Override
        public void refused(Channel channel, Refusal refusal) {
            channel.close();
        }

        @Override
        public void stranger(Channel channel, byte[] bytes, int length) {
            channel.close();
        }

        @Override
        public void ended(Channel channel, Throwable cause) {
            channel.close();
        }
    }
}
