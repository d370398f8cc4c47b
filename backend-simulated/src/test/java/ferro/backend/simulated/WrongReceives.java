package ferro.backend.simulated;

import ferro.CallOptions;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.MessageStatus;
import ferro.Tensor;
import ferro.Work;
import ferro.spi.ForwardingBackend;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * Back ends whose receives do wrong in one thing each, over an honest one; {@link WrongFailuresTest} says which rule catches
 * which.
 */
final class WrongReceives {
    private WrongReceives() {}

    /** A handle that hands everything on. */
    private static class Handle implements Work {
        final Work work;

        Handle(Work work) {
            this.work = work;
        }

        @Override
        public boolean isDone() {
            return work.isDone();
        }

        @Override
        public void await() {
            work.await();
        }

        @Override
        public boolean await(Duration timeout) {
            return work.await(timeout);
        }

        @Override
        public CompletionStage<Void> completion() {
            return work.completion();
        }

        @Override
        public long sequence() {
            return work.sequence();
        }

        @Override
        public Duration elapsed() {
            return work.elapsed();
        }

        @Override
        public Optional<MessageStatus> status() {
            return work.status();
        }

        @Override
        public boolean cancel() {
            return work.cancel();
        }
    }

    /** A receive is said to be cancelled although its message has arrived. */
    static final class CancelsAfterTheMatch extends WrongFailures.Decorated {
        CancelsAfterTheMatch() {
            super(honest -> new ForwardingBackend(honest) {
                @Override
                public Work recv(Tensor tensor, int from, int tag, CallOptions options) {
                    return new Handle(inner().recv(tensor, from, tag, options)) {
                        @Override
                        public boolean cancel() {
                            super.cancel();
                            return true;
                        }
                    };
                }
            });
        }
    }

    /** The status of a receive is that of the receive before it. */
    static final class ReturnsThePreviousStatus extends WrongFailures.Decorated {
        ReturnsThePreviousStatus() {
            super(honest -> new ForwardingBackend(honest) {
                private Optional<MessageStatus> previous = Optional.empty();

                @Override
                public Work recvUpTo(Tensor tensor, int from, int tag, CallOptions options) {
                    return new Handle(inner().recvUpTo(tensor, from, tag, options)) {
                        @Override
                        public Optional<MessageStatus> status() {
                            Optional<MessageStatus> answer = previous.or(work::status);
                            previous = work.status();
                            return answer;
                        }
                    };
                }
            });
        }
    }

    /** A receive up to a length fills the rest of its tensor with zeros. */
    static final class WritesBehindTheMessage extends WrongFailures.Decorated {
        WritesBehindTheMessage() {
            super(honest -> new ForwardingBackend(honest) {
                @Override
                public Work recvUpTo(Tensor tensor, int from, int tag, CallOptions options) {
                    int[] memory = (int[]) ((HostTensor) tensor).memory();
                    Arrays.fill(memory, 0);
                    return inner().recvUpTo(tensor, from, tag, options);
                }
            });
        }
    }

    /** A receive from any rank waits for the rank that has sent the last message, as long as there was one. */
    static final class StaysWithOneRank extends WrongFailures.Decorated {
        StaysWithOneRank() {
            super(honest -> new ForwardingBackend(honest) {
                private int last = ANY_SOURCE;

                @Override
                public Work recv(Tensor tensor, int from, int tag, CallOptions options) {
                    Work work = inner().recv(tensor, from == ANY_SOURCE ? last : from, tag, options);
                    if (from == ANY_SOURCE && last == ANY_SOURCE) {
                        work.await();
                        last = work.status().orElseThrow().source();
                    }
                    return work;
                }
            });
        }
    }

    /** A receive from any rank is posted behind the receive that comes after it. */
    static final class PostsAnyRankLate extends WrongFailures.Decorated {
        PostsAnyRankLate() {
            super(honest -> new ForwardingBackend(honest) {
                private Late late;

                @Override
                public Work recv(Tensor tensor, int from, int tag, CallOptions options) {
                    if (from == ANY_SOURCE && late == null) {
                        late = new Late();
                        late.post = () -> inner().recv(tensor, from, tag, options);
                        return late;
                    }
                    Work work = inner().recv(tensor, from, tag, options);
                    if (late != null) {
                        late.posted();
                        late = null;
                    }
                    return work;
                }
            });
        }

        /** The handle of a receive that is posted later. */
        private static final class Late extends Handle {
            private Supplier<Work> post;
            private Work posted;

            Late() {
                super(null);
            }

            Work posted() {
                posted = posted == null ? post.get() : posted;
                return posted;
            }

            @Override
            public void await() {
                posted().await();
            }

            @Override
            public Optional<MessageStatus> status() {
                return posted().status();
            }
        }
    }

    /** A receive from any rank blames all ranks when it times out. */
    static final class BlamesAllCandidates extends WrongFailures.Decorated {
        BlamesAllCandidates() {
            super(honest -> new ForwardingBackend(honest) {
                @Override
                public Work recv(Tensor tensor, int from, int tag, CallOptions options) {
                    return new Handle(inner().recv(tensor, from, tag, options)) {
                        @Override
                        public void await() {
                            try {
                                work.await();
                            } catch (FerroException failure) {
                                throw WrongFailures.blaming(failure, 1, 2);
                            }
                        }
                    };
                }
            });
        }
    }

    /** A probe takes the message that it describes. */
    static final class TakesProbedMessages extends WrongFailures.Decorated {
        TakesProbedMessages() {
            super(honest -> new ForwardingBackend(honest) {
                @Override
                public Work probe(int from, int tag, CallOptions options) {
                    return inner().match(from, tag, options);
                }
            });
        }
    }

    /** Another receive may take a message that was matched. */
    static final class LosesMatchedMessages extends WrongFailures.Decorated {
        LosesMatchedMessages() {
            super(honest -> new ForwardingBackend(honest) {
                @Override
                public Work match(int from, int tag, CallOptions options) {
                    return inner().probe(from, tag, options);
                }

                @Override
                public Work recv(Work matched, Tensor tensor, CallOptions options) {
                    MessageStatus message = matched.status().orElseThrow();
                    return inner().recvUpTo(tensor, message.source(), message.tag(), options);
                }
            });
        }
    }

    /** A probe describes the message of the probe before it. */
    static final class DescribesThePreviousMessage extends WrongFailures.Decorated {
        DescribesThePreviousMessage() {
            super(honest -> new ForwardingBackend(honest) {
                private Optional<MessageStatus> previous = Optional.empty();

                @Override
                public Work probe(int from, int tag, CallOptions options) {
                    return new Handle(inner().probe(from, tag, options)) {
                        @Override
                        public Optional<MessageStatus> status() {
                            Optional<MessageStatus> answer = previous.or(work::status);
                            previous = work.status();
                            return answer;
                        }
                    };
                }
            });
        }
    }

    /** A matched message can be received again, and brings nothing then. */
    static final class ReceivesAMatchedMessageTwice extends WrongFailures.Decorated {
        ReceivesAMatchedMessageTwice() {
            super(honest -> new ForwardingBackend(honest) {
                @Override
                public Work recv(Work matched, Tensor tensor, CallOptions options) {
                    try {
                        return inner().recv(matched, tensor, options);
                    } catch (IllegalStateException receivedBefore) {
                        return Work.all(List.of());
                    }
                }
            });
        }
    }

    /** A send that should wait for its receive does not. */
    static final class SendsWithoutAReceive extends WrongFailures.Decorated {
        SendsWithoutAReceive() {
            super(honest -> new ForwardingBackend(honest) {
                @Override
                public Work sendUntilMatched(Tensor tensor, int to, int tag, CallOptions options) {
                    return inner().send(tensor, to, tag, options);
                }
            });
        }
    }
}
