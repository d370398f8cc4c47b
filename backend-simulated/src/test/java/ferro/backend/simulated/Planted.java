package ferro.backend.simulated;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.spi.CallHeader;
import ferro.spi.Link;
import ferro.spi.Transport;
import java.nio.ByteBuffer;

/** Mistakes that an engine or a medium could have, done by a transport between the two; the seeds must find each. */
enum Planted {
    NO_ABORT_FLOOD("a rank that fails tells nobody") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                boolean sends(int peer, ByteBuffer message) {
                    return kind(message) != ABORT;
                }
            };
        }
    },
    FLOOD_TO_NEIGHBOURS("a rank that fails tells only the ranks beside it, who tell nobody") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                private boolean heard;

                @Override
                boolean sends(int peer, ByteBuffer message) {
                    int distance = Math.floorMod(peer - rank(), worldSize());
                    return kind(message) != ABORT || !heard && (distance == 1 || distance == worldSize() - 1);
                }

                @Override
                boolean hears(int peer, ByteBuffer message) {
                    heard |= kind(message) == ABORT;
                    return true;
                }
            };
        }
    },
    FIRST_CAUSE_ONLY("a rank that knows one cause takes no other") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                private boolean failed;

                @Override
                boolean sends(int peer, ByteBuffer message) {
                    failed |= kind(message) == ABORT;
                    return true;
                }

                @Override
                boolean hears(int peer, ByteBuffer message) {
                    boolean late = failed && kind(message) == ABORT;
                    failed |= kind(message) == ABORT;
                    return !late;
                }
            };
        }
    },
    FINGERPRINT_IGNORED("headers of calls are not compared") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                Link bent(Link link) {
                    return new BentLink(link) {
                        @Override
                        CallHeader header(CallHeader call) {
                            return new CallHeader(call.group(), call.sequence(), 0, call.text());
                        }
                    };
                }
            };
        }
    },
    LINK_BLAMED_AT_ONCE("whoever ends a link is blamed before anything else is read") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                void broken(Events events, int peer, FerroException cause) {
                    events.lost(peer, cause);
                }
            };
        }
    },
    READS_ON_AFTER_FAILURE("links are not given up when a call fails, and go on being read") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                private boolean given;

                @Override
                public void abandon() {
                    given = true;
                }

                @Override
                boolean hears(int peer, ByteBuffer message) {
                    if (given) {
                        poll();
                    }
                    return true;
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
    GOODBYE_IGNORED("nobody hears that a rank has closed its end") {
        @Override
        Transport bend(Transport straight) {
            return new BentTransport(straight, this::bend) {
                @Override
                boolean sends(int peer, ByteBuffer message) {
                    return kind(message) != GOODBYE;
                }
            };
        }
    };

    private final String text;

    Planted(String text) {
        this.text = text;
    }

    /** Returns a transport with the mistake in it. */
    abstract Transport bend(Transport straight);

    String text() {
        return text;
    }
}
