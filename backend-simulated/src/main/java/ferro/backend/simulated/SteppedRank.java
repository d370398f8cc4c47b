package ferro.backend.simulated;

import ferro.CollectiveBackend;
import ferro.FerroException;
import ferro.Work;
import ferro.collectives.CollectiveEngine;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Overlay;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Transport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

/** One rank of a seeded simulation, with the rank's engines, next progress step and open operations. */
final class SteppedRank implements WakeSignal {
    private static final long TURN = 7L << 56;
    private static final long SCRIPT = 8L << 56;
    private static final long NONE = Long.MAX_VALUE;
    /** Time between two checks of the deadlines of a rank that waits. */
    private static final long LOOK_NANOS = 10_000_000;

    private final EventQueue events;
    private final int rank;
    private final VirtualTimeExecutor background;
    private final List<Work> works = new ArrayList<>();
    /** The engines of this rank's groups. The first engine belongs to the group of all ranks. */
    private final List<CollectiveEngine.SteppedEngine> engines = new ArrayList<>();

    private final List<ProcessGroup> groups = new ArrayList<>();
    private RankContext context;
    private SimulatedTransport transport;
    private long turnAt = NONE;
    /** Index of the first operation that may be open. All operations before this index have ended. */
    private int firstOpen;

    /** Number of groups that this rank is creating. */
    private int beingMade;

    private boolean dead;
    private boolean closed;

    SteppedRank(EventQueue events, int rank, VirtualTimeExecutor background) {
        this.events = events;
        this.rank = rank;
        this.background = background;
    }

    /**
     * The parts with which the engine of a rank is created. A test that plants a fault replaces a part.
     *
     * @param medium  changes the transport that the engine uses
     * @param rules   decisions of the engine about failures
     * @param maxMesh size of the largest group in which each rank sends a failure to every other rank
     */
    record EngineInputs(UnaryOperator<Transport> medium, FailurePolicy rules, int maxMesh) {
        static final EngineInputs SHIPPED = new EngineInputs(UnaryOperator.identity(), FailurePolicy.SHIPPED);

        EngineInputs(UnaryOperator<Transport> medium, FailurePolicy rules) {
            this(medium, rules, Overlay.MAX_MESH);
        }

        EngineInputs withMesh(int size) {
            return new EngineInputs(medium, rules, size);
        }
    }

    void join(NetworkState network, GroupSpec spec, RankContext with, EngineInputs making) {
        context = with;
        transport = network.join(spec.name(), rank);
        add(CollectiveEngine.stepped(making.medium.apply(transport), spec, context, making.rules, making.maxMesh));
    }

    private ProcessGroup add(CollectiveEngine.SteppedEngine engine) {
        CollectiveBackend backend = new SimulatedBackend(engine.backend(), transport, this::submitted);
        engines.add(engine);
        groups.add(Groups.of(backend, context));
        return groups.get(groups.size() - 1);
    }

    ProcessGroup group() {
        return groups.get(0);
    }

    boolean has(ProcessGroup group) {
        return groups.contains(group);
    }

    CompletionStage<ProcessGroup> newGroup(ProcessGroup parent, int[] ranks) {
        CollectiveEngine.SteppedEngine engine = engines.get(groups.indexOf(parent));
        CompletionStage<CollectiveEngine.SteppedEngine> making =
                engine.newGroup(ranks, Arrays.toString(ranks), Deadlines.ofCalls(context));
        beingMade++;
        return making.whenComplete((made, failed) -> beingMade--).thenApply(this::add);
    }

    void start(Simulation.Script script) {
        events.add(events.elapsed() + events.delay(), rank, SCRIPT | rank, () -> script.run(group()));
    }

    private void submitted(Work work) {
        works.add(work);
        signal();
    }

    @Override
    public void signal() {
        turn(events.elapsed() + events.delay(), true);
    }

    @Override
    public void await(long deadlineNanos) {
        throw new IllegalStateException(
                "simulated rank " + rank + " would wait, but all ranks run on one thread: its engine must be stepped");
    }

    private void turn(long at, boolean pressing) {
        if (at >= turnAt || dead || closed) {
            return;
        }
        turnAt = at;
        Runnable task = () -> {
            if (turnAt == at) {
                turnAt = NONE;
                advance();
            }
        };
        if (pressing) {
            events.add(at, rank, TURN | rank, task);
        } else {
            events.addTimer(at, rank, TURN | rank, task);
        }
    }

    private void advance() {
        if (closed) {
            return;
        }
        boolean moved = false;
        for (int i = 0; i < engines.size(); i++) {
            moved |= engines.get(i).advance();
        }
        events.trace(moved ? 1 : 0);
        if (moved) {
            signal();
        } else if (!isDone()) {
            turn(events.elapsed() + LOOK_NANOS, false);
        }
    }

    /** Stops the rank forever, as if its process was killed. */
    void die() {
        dead = true;
    }

    boolean isDead() {
        return dead;
    }

    /** Returns whether every submitted operation has ended; true for a dead rank. */
    boolean isDone() {
        while (firstOpen < works.size() && works.get(firstOpen).isDone()) {
            firstOpen++;
        }
        return dead || beingMade == 0 && firstOpen == works.size();
    }

    /**
     * Throws the failure of the first operation that failed. An operation that the program has cancelled does not count
     * as failed.
     */
    void verify() {
        for (Work work : works) {
            try {
                work.await();
            } catch (CancellationException byTheProgram) {
                // continues with the next operation
            }
        }
    }

    /** Closes all groups of this rank. */
    void close() {
        closed = true;
        FerroException failure = null;
        for (int i = groups.size() - 1; i >= 0; i--) {
            try {
                groups.get(i).close();
            } catch (FerroException untold) {
                failure = untold;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Returns how many timers of this rank would still fire; 0 for a dead rank. */
    int openTimers() {
        return dead ? 0 : background.openTimers();
    }
}
