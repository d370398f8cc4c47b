package ferro.tck;

import ferro.Allocation;
import ferro.Backend;
import ferro.CallCounters;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.CollectiveKind;
import ferro.DataType;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Tensor;
import ferro.Work;
import ferro.collectives.reduce.Elements;
import ferro.tck.WrongResults.Decorated;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Back ends that misbehave with messages, order and failures; {@link WrongBackEndsTest} says which rule catches which. */
final class WrongManners {
    private WrongManners() {}

    /** The kit over queues of another kind. */
    abstract static class Queued extends BackendContract {
        @Override
        protected List<Backend> createGroup(int worldSize) {
            return hub(worldSize).ranks();
        }

        abstract QueueHub hub(int worldSize);

        @Override
        protected Set<String> declaredRefusals() {
            return Set.of(SUBGROUPS, ASYNCHRONOUS_MESSAGES, OPEN_RECEIVES, ABORT_ACROSS_RANKS);
        }
    }

    static final class DeliversMessagesOfAnotherTag extends Queued {
        @Override
        QueueHub hub(int worldSize) {
            return new QueueHub(worldSize) {
                @Override
                List<Integer> key(int from, int to, int tag) {
                    return List.of(from, to, Math.min(tag, 0));
                }
            };
        }
    }

    static final class TakesAMessageOfAnotherLength extends Queued {
        @Override
        QueueHub hub(int worldSize) {
            return new QueueHub(worldSize) {
                @Override
                void deliver(byte[] message, ByteBuffer into, Where where) {
                    into.put(message, 0, Math.min(message.length, into.remaining()));
                }
            };
        }
    }

    static final class TakesAwayWhatALeaverHasSent extends Queued {
        @Override
        QueueHub hub(int worldSize) {
            return new QueueHub(worldSize) {
                @Override
                void left(int rank, Map<List<Integer>, Deque<byte[]>> sent) {
                    sent.forEach((key, queue) -> {
                        if (key.get(0) == rank) {
                            queue.clear();
                        }
                    });
                }
            };
        }
    }

    static final class SwapsMessagesInPairs extends Queued {
        @Override
        QueueHub hub(int worldSize) {
            return new QueueHub(worldSize) {
                private byte[] heldBack;

                @Override
                void add(Deque<byte[]> queue, byte[] message, int tag) {
                    if (tag < 0) {
                        queue.add(message);
                    } else if (heldBack == null) {
                        heldBack = message;
                    } else {
                        queue.add(message);
                        queue.add(heldBack);
                        heldBack = null;
                    }
                }
            };
        }
    }

    /** Takes every message at once and keeps it, received or not. */
    static final class KeepsEveryMessage extends Queued {
        @Override
        QueueHub hub(int worldSize) {
            return new QueueHub(worldSize);
        }

        @Override
        protected Set<String> declaredRefusals() {
            return Set.of(SUBGROUPS, OPEN_RECEIVES, ABORT_ACROSS_RANKS);
        }
    }

    static final class SaysThatItGaveUpOnTheNextRank extends Decorated {
        SaysThatItGaveUpOnTheNextRank() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work recv(Tensor tensor, int from, int tag, CallOptions options) {
                    try {
                        return super.recv(tensor, from, tag, options);
                    } catch (FerroException failure) {
                        String text = failure.getMessage().replace("on rank " + from, "on rank " + (from + 1));
                        throw new FerroException(failure.code(), failure.where(), text, failure);
                    }
                }
            });
        }
    }

    static final class CountsAReceiveAsASend extends Decorated {
        CountsAReceiveAsASend() {
            super(honest -> new Decorator(honest) {
                @Override
                public CallCounters counters() {
                    CallCounters honest = super.counters();
                    return new CallCounters(
                            honest.collectives(), honest.sends().plus(honest.receives()), CallCounters.Totals.NONE);
                }
            });
        }
    }

    /** Counts a call as soon as it is submitted. */
    static final class CountsCallsInFlight extends Decorated {
        CountsCallsInFlight() {
            super(honest -> new Decorator(honest) {
                private final Queue<Work> submitted = new ConcurrentLinkedQueue<>();

                @Override
                public Work submit(Collective call, CallOptions options) {
                    Work work = super.submit(call, options);
                    submitted.add(work);
                    return work;
                }

                @Override
                public CallCounters counters() {
                    return super.counters()
                            .plus(barriers(submitted.stream()
                                    .filter(work -> !hasSucceeded(work))
                                    .count()));
                }
            });
        }

        private static boolean hasSucceeded(Work work) {
            if (!work.isDone()) {
                return false;
            }
            try {
                work.await();
                return true;
            } catch (FerroException failure) {
                return false;
            }
        }
    }

    private static CallCounters barriers(long calls) {
        CallCounters.Totals more = new CallCounters.Totals(calls, 0, Duration.ZERO);
        return new CallCounters(
                Map.of(CollectiveKind.BARRIER, more), CallCounters.Totals.NONE, CallCounters.Totals.NONE);
    }

    /** Counts the calls that have failed, too. */
    static final class CountsFailedCalls extends Decorated {
        CountsFailedCalls() {
            super(honest -> new Decorator(honest) {
                private final AtomicLong failed = new AtomicLong();

                @Override
                public Work submit(Collective call, CallOptions options) {
                    try {
                        return super.submit(call, options);
                    } catch (RuntimeException failure) {
                        failed.incrementAndGet();
                        throw failure;
                    }
                }

                @Override
                public CallCounters counters() {
                    return super.counters().plus(barriers(failed.get()));
                }
            });
        }
    }

    static final class SwallowsMismatches extends Decorated {
        SwallowsMismatches() {
            super(honest -> new Decorator(honest) {
                @Override
                public void run(Collective call, CallOptions options) {
                    try {
                        super.run(call, options);
                    } catch (FerroException failure) {
                        if (failure.code() != Code.MISMATCH) {
                            throw failure;
                        }
                    }
                }
            });
        }
    }

    static final class LosesTheBroadcastsOfABlock extends Decorated {
        LosesTheBroadcastsOfABlock() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submitCoalesced(List<Collective> calls, List<String> labels, Duration timeout) {
                    List<Collective> kept = calls.stream()
                            .filter(call -> call.kind() != CollectiveKind.BROADCAST)
                            .toList();
                    return super.submitCoalesced(kept, Collections.nCopies(kept.size(), ""), timeout);
                }
            });
        }
    }

    static final class ScansABlockInclusively extends Decorated {
        ScansABlockInclusively() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submitCoalesced(List<Collective> calls, List<String> labels, Duration timeout) {
                    List<Collective> scans = calls.stream()
                            .map(call -> call.kind() == CollectiveKind.EXCLUSIVE_SCAN
                                    ? Collective.scan(call.operand(), ReduceOp.SUM)
                                    : call)
                            .toList();
                    return super.submitCoalesced(scans, labels, timeout);
                }
            });
        }
    }

    static final class SaysThatABlockHasEnded extends Decorated {
        SaysThatABlockHasEnded() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submitCoalesced(List<Collective> calls, List<String> labels, Duration timeout) {
                    super.submitCoalesced(calls, labels, timeout);
                    return Handle.done();
                }
            });
        }
    }

    static final class ForgetsLabels extends Decorated {
        ForgetsLabels() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    return super.submit(call, CallOptions.of(options.timeout()));
                }
            });
        }
    }

    static final class LetsDataLandBeforeItPolls extends Decorated {
        LetsDataLandBeforeItPolls() {
            super(honest -> new Decorator(honest) {
                @Override
                public void run(Collective call, CallOptions options) {
                    try {
                        super.run(call, options);
                    } catch (FerroException failure) {
                        boolean floats = call.operand() instanceof HostTensor data && data.memory() instanceof float[];
                        if (floats) {
                            HostTensor data = (HostTensor) call.operand();
                            // as if what the last rank sent had been added
                            ((float[]) data.memory())[(int) data.offset()] *= 1 + (1 << worldSize() - 1);
                        }
                        throw failure;
                    }
                }
            });
        }
    }

    static final class ForgetsTheInterrupt extends Decorated {
        ForgetsTheInterrupt() {
            super(honest -> new Decorator(honest) {
                @Override
                public void run(Collective call, CallOptions options) {
                    try {
                        super.run(call, options);
                    } finally {
                        Thread.interrupted();
                    }
                }
            });
        }
    }

    static final class CountsFromZero extends Decorated {
        CountsFromZero() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    return new Handle(super.submit(call, options)) {
                        @Override
                        public long sequence() {
                            return super.sequence() - 1;
                        }
                    };
                }
            });
        }
    }

    static final class AbortsWhenPolled extends Decorated {
        AbortsWhenPolled() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    CollectiveBackend self = this;
                    return new Handle(super.submit(call, options)) {
                        @Override
                        public boolean await(Duration timeout) {
                            boolean done = super.await(timeout);
                            if (!done) {
                                self.abort(new IllegalStateException("looked in vain"));
                            }
                            return done;
                        }
                    };
                }
            });
        }
    }

    /** Each rank leaves a thread that ends long after its group has been closed. */
    static final class LeavesAThreadBehind extends Decorated {
        private static final long LIFE_NANOS = TimeUnit.SECONDS.toNanos(10);

        LeavesAThreadBehind() {
            super(honest -> new Decorator(honest) {
                @Override
                public void close(Duration timeout) {
                    Thread left = new Thread(LeavesAThreadBehind::live, "left-" + rank());
                    left.setDaemon(true);
                    left.start();
                    super.close(timeout);
                }
            });
        }

        private static void live() {
            long end = System.nanoTime() + LIFE_NANOS;
            while (System.nanoTime() - end < 0) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
        }
    }

    static final class TakesCallsAfterClose extends Decorated {
        TakesCallsAfterClose() {
            super(honest -> new Decorator(honest) {
                private volatile boolean closed;

                @Override
                public Work submit(Collective call, CallOptions options) {
                    return closed ? Handle.done() : super.submit(call, options);
                }

                @Override
                public void close() {
                    close(Duration.ofSeconds(5));
                }

                @Override
                public void close(Duration timeout) {
                    closed = true;
                    super.close(timeout);
                }
            });
        }
    }

    static final class RecoversFromFailures extends Decorated {
        RecoversFromFailures() {
            super(honest -> new Decorator(honest) {
                private volatile boolean failed;

                @Override
                public Work submit(Collective call, CallOptions options) {
                    if (failed) {
                        return Handle.done();
                    }
                    return super.submit(call, options);
                }

                @Override
                public void run(Collective call, CallOptions options) {
                    try {
                        super.run(call, options);
                    } catch (FerroException failure) {
                        failed = true;
                        throw failure;
                    }
                }
            });
        }
    }

    /** Every allocation is the same memory. */
    static final class GivesTheSameMemoryTwice extends Decorated {
        GivesTheSameMemoryTwice() {
            super(honest -> new Decorator(honest) {
                private final HostTensor given = HostTensor.allocate(DataType.FLOAT32, 200_000);

                @Override
                public Allocation allocate(DataType dataType, long elementCount, Duration timeout) {
                    return Allocation.own(given.slice(0, elementCount), "the same memory each time");
                }
            });
        }
    }

    /** Right numbers, but another back end would refuse the same program. */
    static final class CopiesOperandsThatOverlap extends Decorated {
        CopiesOperandsThatOverlap() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    return super.submit(
                            call.kind() == CollectiveKind.ALL_TO_ALL ? call.on(copy(call), call.out()) : call, options);
                }
            });
        }

        private static HostTensor copy(Collective call) {
            HostTensor in = (HostTensor) call.in();
            HostTensor copy = HostTensor.allocate(in.dataType(), in.elementCount());
            Elements.copy(in.dataType(), copy.memory(), 0, in.memory(), Elements.at(in, 0), in.elementCount());
            return copy;
        }
    }

    static final class RefusesAResultInsideItsOperand extends Decorated {
        RefusesAResultInsideItsOperand() {
            super(honest -> new Decorator(honest) {
                @Override
                public Work submit(Collective call, CallOptions options) {
                    if (call.kind() == CollectiveKind.REDUCE_SCATTER
                            && ((HostTensor) call.in()).memory() == ((HostTensor) call.out()).memory()) {
                        throw new IllegalArgumentException("reduceScatter: operand and result are in one memory");
                    }
                    return super.submit(call, options);
                }
            });
        }
    }
}
