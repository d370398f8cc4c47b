package ferro.backend.simulated;

import ferro.CollectiveBackend;
import ferro.Work;
import ferro.collectives.CollectiveEngine;
import ferro.group.ProcessGroup;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import java.util.ArrayList;
import java.util.List;

/** One rank of a seeded simulation: its engine, when it has its next turn, and what it has under way. */
final class SteppedRank implements Bell {
    private static final long TURN = 7L << 56;
    private static final long SCRIPT = 8L << 56;
    private static final long NONE = Long.MAX_VALUE;
    /** How often a rank that waits looks at its deadlines, as a driver does that parks. */
    private static final long LOOK_NANOS = 10_000_000;

    private final Agenda agenda;
    private final int rank;
    private final List<Work> works = new ArrayList<>();
    private CollectiveEngine.Stepped engine;
    private ProcessGroup group;
    private long turnAt = NONE;

    SteppedRank(Agenda agenda, int rank) {
        this.agenda = agenda;
        this.rank = rank;
    }

    void join(Network network, GroupSpec spec, RankContext context) {
        SimulatedTransport transport = network.join(spec.name(), rank);
        engine = CollectiveEngine.stepped(transport, spec, context);
        CollectiveBackend backend = new SimulatedBackend(engine.backend(), transport, network, this::submitted);
        group = ProcessGroup.of(backend);
    }

    void start(Simulation.Script script) {
        agenda.add(agenda.elapsed() + agenda.delay(), SCRIPT | rank, () -> script.run(group));
    }

    private void submitted(Work work) {
        works.add(work);
        ring();
    }

    @Override
    public void ring() {
        turn(agenda.elapsed() + agenda.delay(), true);
    }

    @Override
    public void await(long deadlineNanos) {
        throw new IllegalStateException(
                "simulated rank " + rank + " would wait, but all ranks run on one thread: its engine must be stepped");
    }

    private void turn(long at, boolean pressing) {
        if (at >= turnAt) {
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
            agenda.add(at, TURN | rank, task);
        } else {
            agenda.addTimer(at, TURN | rank, task);
        }
    }

    private void advance() {
        boolean moved = engine.advance();
        agenda.trace(moved ? 1 : 0);
        if (moved) {
            ring();
        } else if (!isDone()) {
            turn(agenda.elapsed() + LOOK_NANOS, false);
        }
    }

    /** Returns whether everything submitted has ended. */
    boolean isDone() {
        for (int i = works.size() - 1; i >= 0; i--) {
            if (!works.get(i).isDone()) {
                return false;
            }
        }
        return true;
    }

    /** Throws the failure of the first operation that failed. */
    void verify() {
        works.forEach(Work::await);
    }
}
