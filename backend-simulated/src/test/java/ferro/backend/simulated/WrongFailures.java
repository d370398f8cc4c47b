package ferro.backend.simulated;

import ferro.Backend;
import ferro.CallOptions;
import ferro.Collective;
import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.GroupEvent;
import ferro.HostTensor;
import ferro.Work;
import ferro.spi.ForwardingBackend;
import ferro.tck.BackendContract;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Back ends that fail wrongly in one thing each, over an honest one with a control lane; {@link WrongFailuresTest} says which
 * rule catches which.
 */
final class WrongFailures {
    private WrongFailures() {}

    /** The kit over decorated ranks. */
    abstract static class Decorated extends BackendContract {
        private final UnaryOperator<CollectiveBackend> decorate;

        Decorated(UnaryOperator<CollectiveBackend> decorate) {
            this.decorate = decorate;
        }

        @Override
        protected List<? extends Backend> createGroup(int worldSize) {
            return SimulatedBackend.createGroup(worldSize, Map.of("ferro.timeout", "1s")).stream()
                    .map(decorate)
                    .toList();
        }
    }

    /** Changes what calls throw. */
    abstract static class Throwing extends ForwardingBackend {
        Throwing(CollectiveBackend honest) {
            super(honest);
        }

        /** Returns what is thrown instead. */
        abstract FerroException changed(Collective call, FerroException failure);

        @Override
        public void run(Collective call, CallOptions options) {
            try {
                inner().run(call, options);
            } catch (FerroException failure) {
                throw changed(call, failure);
            }
        }

        @Override
        public Work submit(Collective call, CallOptions options) {
            return inner().submit(call, options);
        }
    }

    static FerroException blaming(FerroException failure, int... ranks) {
        return new FerroException(
                failure.code(), failure.where().blaming(ranks), failure.getMessage(), failure.getCause());
    }

    static final class AbortsAlone extends Decorated {
        AbortsAlone() {
            super(honest -> new ForwardingBackend(honest) {
                private volatile FerroException aborted;

                @Override
                public void abort(Throwable cause) {
                    aborted = new FerroException(
                            Code.ABORTED,
                            FerroException.Where.of("alone", rank()).blaming(rank()),
                            "rank " + rank() + " aborted: " + cause);
                }

                @Override
                public void run(Collective call, CallOptions options) {
                    if (aborted != null) {
                        throw aborted;
                    }
                    inner().run(call, options);
                }
            });
        }
    }

    static final class BlamesNobody extends Decorated {
        BlamesNobody() {
            super(honest -> new Throwing(honest) {
                @Override
                FerroException changed(Collective call, FerroException failure) {
                    return failure.code() == Code.TIMED_OUT ? blaming(failure) : failure;
                }
            });
        }
    }

    static final class BlamesItsNeighbour extends Decorated {
        BlamesItsNeighbour() {
            super(honest -> new Throwing(honest) {
                @Override
                FerroException changed(Collective call, FerroException failure) {
                    int neighbour = (rank() + 1) % worldSize();
                    return failure.code() == Code.TIMED_OUT ? blaming(failure, neighbour) : failure;
                }
            });
        }
    }

    static final class ForgetsItsFirstCause extends Decorated {
        ForgetsItsFirstCause() {
            super(honest -> new Throwing(honest) {
                private volatile boolean calledAgain;

                @Override
                FerroException changed(Collective call, FerroException failure) {
                    calledAgain |= failure.where().sequence() < 0;
                    return failure;
                }

                @Override
                public Optional<FerroException> failure() {
                    return inner().failure().map(first -> calledAgain && rank() > 0 ? asAborted(first) : first);
                }
            });
        }

        private static FerroException asAborted(FerroException first) {
            return new FerroException(Code.PEER_LOST, first.where(), first.getMessage());
        }
    }

    static final class BlamesWhoAbortsLater extends Decorated {
        BlamesWhoAbortsLater() {
            super(honest -> new ForwardingBackend(honest) {
                private volatile boolean abortedLater;

                @Override
                public void abort(Throwable cause) {
                    abortedLater |= failure().isPresent();
                    inner().abort(cause);
                }

                @Override
                public Optional<FerroException> failure() {
                    return inner().failure().map(first -> abortedLater ? blaming(first, rank()) : first);
                }
            });
        }
    }

    /** Does not fail, but makes wrong parts, which needs a control lane too. */
    static final class SwapsTwoRanksOfALargePart extends Decorated {
        SwapsTwoRanksOfALargePart() {
            super(honest -> new ForwardingBackend(honest) {
                @Override
                public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
                    int[] swapped = ranks.clone();
                    if (ranks.length >= 5) {
                        swapped[2] = ranks[4];
                        swapped[4] = ranks[2];
                    }
                    return inner().newGroup(swapped, name, timeout);
                }
            });
        }
    }

    static final class TakesItsParentAlong extends Decorated {
        TakesItsParentAlong() {
            super(honest -> new ForwardingBackend(honest) {
                @Override
                public CollectiveBackend newGroup(int[] ranks, String name, Duration timeout) {
                    CollectiveBackend parent = inner();
                    return new ForwardingBackend(parent.newGroup(ranks, name, timeout)) {
                        @Override
                        public void abort(Throwable cause) {
                            inner().abort(cause);
                            parent.abort(cause);
                        }
                    };
                }
            });
        }
    }

    static final class WritesAfterItsFailure extends Decorated {
        WritesAfterItsFailure() {
            super(honest -> new Throwing(honest) {
                @Override
                FerroException changed(Collective call, FerroException failure) {
                    if (call.out() instanceof HostTensor out && out.memory() instanceof float[] data) {
                        Thread late = new Thread(() -> writeForAWhile(data), "late");
                        late.setDaemon(true);
                        late.start();
                    }
                    return failure;
                }
            });
        }

        private static void writeForAWhile(float[] data) {
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
            while (System.nanoTime() - until < 0) {
                data[data.length - 1] = -77;
                LockSupport.parkNanos(100_000);
            }
        }
    }

    static final class TellsTwice extends Decorated {
        TellsTwice() {
            super(honest -> new ForwardingBackend(honest) {
                @Override
                public void onEvent(Consumer<GroupEvent> listener) {
                    inner().onEvent(listener.andThen(event -> {
                        if (event.kind() == GroupEvent.Kind.FAILED) {
                            listener.accept(event);
                        }
                    }));
                }
            });
        }
    }

    static final class TellsOnTheThreadOfTheCall extends Decorated {
        TellsOnTheThreadOfTheCall() {
            super(honest -> new Throwing(honest) {
                private final List<Consumer<GroupEvent>> listeners = new CopyOnWriteArrayList<>();
                private volatile GroupEvent told;

                @Override
                public void onEvent(Consumer<GroupEvent> listener) {
                    listeners.add(listener);
                    if (told != null) {
                        listener.accept(told);
                    }
                }

                @Override
                FerroException changed(Collective call, FerroException failure) {
                    if (told == null) {
                        told = GroupEvent.of(GroupEvent.Kind.FAILED, "wrong", rank(), List.of(), failure.getMessage());
                        listeners.forEach(listener -> listener.accept(told));
                    }
                    return failure;
                }
            });
        }
    }
}
