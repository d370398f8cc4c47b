package ferro.backend.simulated;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Mistakes that an engine or a medium could have: a decision replaced by a wrong one, or a transport between the two that does
 * wrong. The seeds must find each.
 */
enum Planted {
    NOTHING("what is shipped"),

    WRAPPED("what is shipped, on a transport that passes everything on") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                Link bent(Link link) {
                    return new BentLink(link);
                }
            };
        }
    },

    LATE_FLOOD("what a rank tells of a failure leaves late") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                private final List<Runnable> held = new ArrayList<>();
                private int polls;

                @Override
                boolean sends(int peer, ByteBuffer message) {
                    if (message.remaining() < LEAST_CONTROL_BYTES || kind(message) != ABORT) {
                        return true;
                    }
                    ByteBuffer copy = ByteBuffer.allocate(message.remaining())
                            .put(message.duplicate())
                            .flip();
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
    },

    NO_ABORT_FLOOD("a rank that fails tells nobody") {
        @Override
        FailurePolicy rules() {
            return new FailurePolicy() {
                @Override
                public boolean floods(Failure failure, int peer) {
                    return false;
                }

                @Override
                public boolean forwards(Failure failure, int peer) {
                    return false;
                }
            };
        }
    },

    NOTHING_TOLD_ON("what a rank hears of a failure it does not tell on") {
        @Override
        FailurePolicy rules() {
            return new FailurePolicy() {
                @Override
                public boolean forwards(Failure failure, int peer) {
                    return false;
                }
            };
        }
    },

    ONLY_HIGHER_TOLD("a rank tells a failure to higher ranks only") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                boolean sends(int peer, ByteBuffer message) {
                    return message.remaining() < LEAST_CONTROL_BYTES || kind(message) != ABORT || peer > rank();
                }
            };
        }
    },

    FIRST_CAUSE_ONLY("a rank that knows one cause takes no other") {
        @Override
        FailurePolicy rules() {
            return new FailurePolicy() {
                @Override
                public Failure merged(Failure known, Failure other) {
                    return known;
                }
            };
        }
    },

    CALLS_NOT_COMPARED("what others have called is taken for the same") {
        @Override
        FailurePolicy rules() {
            return new FailurePolicy() {
                @Override
                public boolean isSameCall(long mine, long theirs) {
                    return true;
                }
            };
        }
    },

    CONSEQUENCES_BLAMED("a rank that ends its links because the group has failed is blamed for it") {
        @Override
        FailurePolicy rules() {
            return new FailurePolicy() {
                @Override
                public long eofGraceNanos() {
                    return 0;
                }

                @Override
                public boolean blamesLoss(boolean toldAbort, boolean saidGoodbye) {
                    return true;
                }
            };
        }

        @Override
        Transport bend(Transport straight) {
            return blamingAtOnce(straight);
        }
    },

    LINKS_KEPT("links are not given up when a call fails, and go on being read") {
        @Override
        FailurePolicy rules() {
            return new FailurePolicy() {
                @Override
                public boolean abandonsLinks() {
                    return false;
                }
            };
        }

        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                boolean hears(int peer, ByteBuffer message) {
                    poll();
                    return true;
                }
            };
        }
    },

    HEADERS_NOT_COMPARED("headers of calls are not compared") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                Link bent(Link link) {
                    return new BentLink(link) {
                        @Override
                        CallHeader header(CallHeader call) {
                            return CallHeader.of(call.group(), call.sequence(), 0, call.text());
                        }
                    };
                }
            };
        }
    },

    RECEIVED_TOO_EARLY("a receive is finished one post too early where more are posted") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                Link bent(Link link) {
                    return new BentLink(link) {
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
                    };
                }
            };
        }
    },

    SENT_TOO_EARLY("a send is finished as soon as it is posted") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                Link bent(Link link) {
                    return new BentLink(link) {
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
                    };
                }
            };
        }
    },

    LIMIT_IGNORED("a rank may be silent for ever") {
        @Override
        Map<String, String> settings(Map<String, String> drawn) {
            Map<String, String> changed = new HashMap<>(drawn);
            changed.put("ferro.heartbeat.limit", "600m");
            return changed;
        }
    },

    TURNS_IGNORED("whatever a rank says of a new group is taken for this one") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                boolean sends(int peer, ByteBuffer message) {
                    if (message.remaining() >= LEAST_CONTROL_BYTES && kind(message) == AGREE) {
                        ByteBuffer changed = ByteBuffer.allocate(message.remaining())
                                .put(message.duplicate())
                                .flip();
                        straight.control(peer, changed.putLong(TURN_PLACE, 1));
                        return false;
                    }
                    return true;
                }
            };
        }
    },

    NO_ANSWERS("nobody answers where it stands") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                boolean sends(int peer, ByteBuffer message) {
                    return kind(message) != STATUS || message.remaining() < LEAST_CONTROL_BYTES;
                }
            };
        }
    };

    private final String text;

    Planted(String text) {
        this.text = text;
    }

    FailurePolicy rules() {
        return FailurePolicy.SHIPPED;
    }

    /** Returns the transport that the engine sees. */
    Transport bend(Transport straight) {
        return straight;
    }

    Map<String, String> settings(Map<String, String> drawn) {
        return drawn;
    }

    final SteppedRank.Making making() {
        return new SteppedRank.Making(this::bend, rules());
    }

    final String text() {
        return text;
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
