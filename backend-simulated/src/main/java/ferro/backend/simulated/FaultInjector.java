package ferro.backend.simulated;

import ferro.InvalidRankException;
import ferro.spi.Deadlines;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Holds the faults of one run, and applies each to the ranks and to the medium between them. */
final class FaultInjector {
    private final EventQueue events;
    private final SeededMedium medium;
    private final Network network;
    private final List<SteppedRank> ranks;
    private final List<Fault> ahead = new ArrayList<>();
    private final List<Fault> struck = new ArrayList<>();

    FaultInjector(EventQueue events, SeededMedium medium, Network network, List<SteppedRank> ranks) {
        this.events = events;
        this.medium = medium;
        this.network = network;
        this.ranks = ranks;
    }

    void add(Fault fault) {
        if (fault instanceof Fault.Crash crash) {
            check(crash.rank());
        } else if (fault instanceof Fault.Pause pause) {
            check(pause.rank());
        } else if (fault instanceof Fault.OneWayPartition cut) {
            check(cut.from(), cut.to());
        } else if (fault instanceof Fault.Drop drop) {
            check(drop.one(), drop.other());
        } else if (fault instanceof Fault.Duplicate twice) {
            check(twice.from(), twice.to());
        }
        ahead.add(fault);
        ahead.sort(Comparator.comparingLong(Fault::step));
    }

    private void check(int... named) {
        for (int rank : named) {
            InvalidRankException.check(rank, ranks.size());
        }
    }

    /** Applies the faults that are due before the next step. */
    void strike() {
        while (!ahead.isEmpty() && ahead.get(0).step() <= events.steps()) {
            Fault fault = ahead.remove(0);
            struck.add(fault);
            events.trace(-fault.step());
            strike(fault);
        }
    }

    private void strike(Fault fault) {
        if (fault instanceof Fault.Crash crash) {
            crash(crash.rank());
        } else if (fault instanceof Fault.Pause pause) {
            events.pause(pause.rank(), Deadlines.nanos(pause.length()));
        } else if (fault instanceof Fault.OneWayPartition cut) {
            medium.cut(cut.from(), cut.to());
        } else if (fault instanceof Fault.Drop drop) {
            medium.drop(drop.one(), drop.other());
        } else if (fault instanceof Fault.Duplicate twice) {
            medium.duplicate(twice.from(), twice.to());
        }
    }

    private void crash(int rank) {
        if (!ranks.get(rank).isDead()) {
            ranks.get(rank).die();
            events.end(rank);
            network.kill(rank);
        }
    }

    /** Returns the faults that have happened so far. */
    List<Fault> struck() {
        return struck;
    }

    boolean isDead(int rank) {
        return ranks.get(rank).isDead();
    }
}
