package ferro.backend.simulated;

import static ferro.backend.simulated.BentTransport.ABORT;
import static ferro.backend.simulated.BentTransport.AGREE;
import static ferro.backend.simulated.BentTransport.STATUS;
import static ferro.backend.simulated.BentTransport.linking;
import static ferro.backend.simulated.BentTransport.sending;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.spi.CallHeader;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Mistakes that an engine or a medium could have: a decision replaced by a wrong one, or a transport between the two that does
 * wrong. The seeds must find each.
 */
enum Planted {
    NOTHING("what is shipped", "", UnaryOperator.identity()),

    WRAPPED("what is shipped, on a transport that passes everything on", "", linking(BentTransport.BentLink::new)),

    LATE_FLOOD("what a rank tells of a failure leaves late", " ms late", Planted::late),

    NO_ABORT_FLOOD("a rank that fails tells nobody", "does not know: ", new FailurePolicy() {
        @Override
        public boolean floods(Failure failure, int peer) {
            return false;
        }

        @Override
        public boolean forwards(Failure failure, int peer) {
            return false;
        }
    }),

    NOTHING_TOLD_ON("what a rank hears of a failure it does not tell on", " disagree ", new FailurePolicy() {
        @Override
        public boolean forwards(Failure failure, int peer) {
            return false;
        }
    }),

    ONLY_HIGHER_TOLD(
            "a rank tells a failure to higher ranks only",
            " disagree ",
            sending(ABORT, (transport, peer, message) -> peer > transport.rank())),

    FIRST_CAUSE_ONLY("a rank that knows one cause takes no other", " disagree ", new FailurePolicy() {
        @Override
        public Failure merged(Failure known, Failure other) {
            return known;
        }
    }),

    CALLS_NOT_COMPARED("what others have called is taken for the same", "untrue TIMED_OUT", new FailurePolicy() {
        @Override
        public boolean isSameCall(long mine, long theirs) {
            return true;
        }
    }),

    CONSEQUENCES_BLAMED(
            "a rank that ends its links because the group has failed is blamed for it",
            "untrue PEER_LOST",
            Planted::blamingAtOnce,
            new FailurePolicy() {
                @Override
                public long eofGraceNanos() {
                    return 0;
                }

                @Override
                public boolean blamesLoss(boolean toldAbort, boolean saidGoodbye) {
                    return true;
                }
            }),

    LINKS_KEPT(
            "links are not given up when a call fails, and go on being read",
            "memory was touched",
            Planted::readingOn,
            new FailurePolicy() {
                @Override
                public boolean abandonsLinks() {
                    return false;
                }
            }),

    HEADERS_NOT_COMPARED(
            "headers of calls are not compared", "untrue PROTOCOL", linking(link -> new BentTransport.BentLink(link) {
                @Override
                CallHeader header(CallHeader call) {
                    return CallHeader.of(call.group(), call.sequence(), 0, call.text());
                }
            })),

    RECEIVED_TOO_EARLY(
            "a receive is finished one post too early where more are posted",
            "wrong result",
            linking(link -> new BentTransport.BentLink(link) {
                private long posted;

                @Override
                public void receive(CallHeader call, HostTensor into, long from, long count) {
                    posted++;
                    super.receive(call, into, from, count);
                }

                @Override
                public long received() {
                    long received = super.received();
                    return received < posted - 1 ? received + 1 : received;
                }
            })),

    SENT_TOO_EARLY(
            "a send is finished as soon as it is posted",
            "wrong result",
            linking(link -> new BentTransport.BentLink(link) {
                private long posted;

                @Override
                public void send(CallHeader call, HostTensor data, long from, long count) {
                    posted++;
                    super.send(call, data, from, count);
                }

                @Override
                public long sent() {
                    return posted;
                }
            })),

    LIMIT_IGNORED("a rank may be silent for ever", "untrue TIMED_OUT", UnaryOperator.identity()) {
        @Override
        Map<String, String> settings(Map<String, String> drawn) {
            Map<String, String> changed = new HashMap<>(drawn);
            changed.put("ferro.heartbeat.limit", "600m");
            return changed;
        }
    },

    TURNS_IGNORED(
            "whatever a rank says of a new group is taken for this one",
            ", subgroup ",
            sending(AGREE, (transport, peer, message) -> {
                transport.straight.control(peer, copy(message).putLong(BentTransport.TURN_PLACE, 1));
                return false;
            })),

    NO_ANSWERS(
            "nobody answers where it stands", "untrue TIMED_OUT", sending(STATUS, (transport, peer, message) -> false));

    /** Rounds that a message waits where it leaves late; an idle rank makes one in 10 ms. */
    private static final int LATE_POLLS = 40;

    private final String text;
    private final String sign;
    private final UnaryOperator<Transport> bend;
    private final FailurePolicy rules;

    Planted(String text, String sign, UnaryOperator<Transport> bend) {
        this(text, sign, bend, FailurePolicy.SHIPPED);
    }

    Planted(String text, String sign, FailurePolicy rules) {
        this(text, sign, UnaryOperator.identity(), rules);
    }

    Planted(String text, String sign, UnaryOperator<Transport> bend, FailurePolicy rules) {
        this.text = text;
        this.sign = sign;
        this.bend = bend;
        this.rules = rules;
    }

    Map<String, String> settings(Map<String, String> drawn) {
        return drawn;
    }

    final SteppedRank.EngineInputs making() {
        return new SteppedRank.EngineInputs(bend, rules);
    }

    final String text() {
        return text;
    }

    /** Returns what is wrong then, among other things. */
    final String sign() {
        return sign;
    }

    private static ByteBuffer copy(ByteBuffer message) {
        return ByteBuffer.allocate(message.remaining()).put(message.duplicate()).flip();
    }

    private static Transport late(Transport straight) {
        List<Runnable> held = new ArrayList<>();
        return new BentTransport(straight, Planted::late) {
            private int polls;

            @Override
            boolean sends(int peer, ByteBuffer message) {
                if (!isOf(ABORT, message)) {
                    return true;
                }
                ByteBuffer copy = copy(message);
                held.add(() -> straight.control(peer, copy));
                return false;
            }

            @Override
            public boolean poll() {
                if (++polls % LATE_POLLS == 0) {
                    held.forEach(Runnable::run);
                    held.clear();
                }
                return super.poll();
            }
        };
    }

    private static Transport readingOn(Transport straight) {
        return new BentTransport(straight, Planted::readingOn) {
            @Override
            boolean hears(int peer, ByteBuffer message) {
                poll();
                return true;
            }
        };
    }

    private static Transport blamingAtOnce(Transport straight) {
        return new BentTransport(straight, Planted::blamingAtOnce) {
            @Override
            void broken(Events events, int peer, FerroException cause) {
                events.lost(peer, cause);
            }
        };
    }
}
