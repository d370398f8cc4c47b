package ferro.backend.simulated;

import ferro.FerroException;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Runs the program of a seed: all ranks in the group of all, and the subgroups that they make meanwhile. */
final class FaultyRun {
    final Program program;
    final Simulation simulation;
    final List<GroupRun> groups = new ArrayList<>();
    final List<String> problems = new ArrayList<>();
    final List<Forming> formings = new ArrayList<>();
    /** When each rank died, or {@link GroupRun#NEVER}. */
    final long[] diedAt;
    /** How many of its subgroups each rank has not made. */
    private final int[] unmade;

    /** How the making of a subgroup went on one rank. */
    static final class Forming {
        final int rank;
        final GroupRun group;
        final long begun;
        long ended = GroupRun.NEVER;
        FerroException failure;

        Forming(int rank, GroupRun group, long begun) {
            this.rank = rank;
            this.group = group;
            this.begun = begun;
        }
    }

    private FaultyRun(long seed, int size, Planted planted) {
        program = new Program(seed, size);
        diedAt = new long[program.worldSize];
        Arrays.fill(diedAt, GroupRun.NEVER);
        simulation = new Simulation(
                program.worldSize,
                seed,
                planted.settings(program.settings),
                planted.making().withMesh(program.maxMesh));
        for (Program.Part part : program.parts) {
            groups.add(new GroupRun(part, this::now, problems));
        }
        unmade = new int[program.worldSize];
        program.parts.stream()
                .skip(1)
                .flatMapToInt(part -> Arrays.stream(part.members()))
                .forEach(rank -> unmade[rank]++);
        SplittableRandom leaves = new SplittableRandom(seed);
        // a rank that leaves does not repeat what a broken link has lost: that it has taken the messages
        if (program.faults().stream().noneMatch(Fault.Drop.class::isInstance)) {
            groups.forEach(group -> group.drawLeaves(leaves));
        }
    }

    /** Runs a seed; throws AssertionError naming it if anything is not as promised. */
    static Simulation.Result run(long seed) {
        return run(seed, Program.ANY_SIZE, Planted.NOTHING);
    }

    /** Runs the program of a seed; ranks of a number that is not drawn tell only their neighbours. */
    static Simulation.Result run(long seed, int size, Planted planted) {
        return new FaultyRun(seed, size, planted).run();
    }

    /** Runs a seed in the same way; returns whether it was of any use: three ranks or more, and a fault that happened. */
    static boolean strikes(long seed) {
        FaultyRun run = new FaultyRun(seed, Program.ANY_SIZE, Planted.NOTHING);
        run.run();
        return run.program.worldSize > 2 && !run.simulation.struck().isEmpty();
    }

    private Simulation.Result run() {
        simulation.faults(program.faults()).mayFail();
        simulation.observe(this::look);
        return simulation
                .onEveryRank(this::start)
                .check(() -> new Verdict(this).check())
                .run();
    }

    long now() {
        return simulation.elapsed().toNanos();
    }

    private void start(ProcessGroup world) {
        groups.get(0).start(world);
        form(world, 1);
    }

    /** Makes the subgroups of a rank, one after the other. */
    private void form(ProcessGroup world, int first) {
        for (int i = first; i < groups.size(); i++) {
            if (groups.get(i).part.indexOf(world.rank()) >= 0) {
                form(world, i, new Forming(world.rank(), groups.get(i), now()));
                return;
            }
        }
    }

    private void form(ProcessGroup world, int index, Forming forming) {
        formings.add(forming);
        try {
            simulation.newGroup(world, forming.group.part.members()).whenComplete((made, failure) -> {
                forming.ended = now();
                if (made == null) {
                    forming.failure = failureOf(failure);
                } else {
                    unmade[world.rank()]--;
                    start(forming.group, made);
                }
                form(world, index + 1);
            });
        } catch (FerroException refused) {
            forming.ended = now();
            forming.failure = refused;
        }
    }

    private void start(GroupRun group, ProcessGroup made) {
        try {
            group.start(made);
        } catch (RuntimeException | Error unexpected) {
            problems.add("rank " + made.rank() + " threw " + unexpected);
        }
    }

    private FerroException failureOf(Throwable failure) {
        Throwable cause =
                failure instanceof FerroException || failure.getCause() == null ? failure : failure.getCause();
        if (cause instanceof FerroException known) {
            return known;
        }
        problems.add("newGroup threw " + cause);
        return null;
    }

    private void look(int rank) {
        for (int each = 0; each < diedAt.length; each++) {
            if (diedAt[each] == GroupRun.NEVER && simulation.isDead(each)) {
                diedAt[each] = now();
            }
        }
        if (rank != EventQueue.NOBODY) {
            for (GroupRun group : groups) {
                group.look(group.part.indexOf(rank));
            }
            leave(rank);
        }
    }

    /** Leaves what a rank is done with: a subgroup before its parent or after it, but no parent while it makes a subgroup. */
    private void leave(int rank) {
        if (simulation.isDead(rank)) {
            return;
        }
        for (GroupRun group : groups) {
            if (group != groups.get(0) || unmade[rank] == 0) {
                group.leaveWhenDone(group.part.indexOf(rank));
            }
        }
    }
}
