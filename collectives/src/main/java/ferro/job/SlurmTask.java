package ferro.job;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A task of a step that srun has started. An allocation alone is not a task. The shell of sbatch has {@code
 * SLURM_PROCID=0} and {@code SLURM_NTASKS} too, but srun sets {@code SLURM_STEP_NUM_TASKS} only for its own tasks.
 */
final class SlurmTask {
    static final String RANK = "SLURM_PROCID";
    static final String SIZE = "SLURM_STEP_NUM_TASKS";
    static final String RESTART = "SLURM_RESTART_COUNT";
    static final String WAY_OUT =
            "; start the program by srun, or set FERRO_RANK, FERRO_WORLD_SIZE, MASTER_ADDR and MASTER_PORT";

    static final String START = ": start the program by srun, or by srun --ntasks-per-node=1 ferro run";

    private static final String NUMBER = "a number from 0" + WAY_OUT;
    static final String JOB = "SLURM_JOB_ID";
    static final String STEP = "SLURM_STEP_ID";
    private static final String LOCAL_RANK = "SLURM_LOCALID";
    private static final String TASKS_PER_NODE = "SLURM_STEP_TASKS_PER_NODE";
    private static final String NODE = "SLURM_NODEID";
    private static final String HOSTS = "SLURM_STEP_NODELIST";
    private static final String COMPONENTS = "SLURM_HET_SIZE";
    /**
     * The lowest port that a step uses. All ports of steps are lower than the ephemeral ports of the system, which
     * begin at 32768 on Linux.
     */
    private static final int FIRST_PORT = 20000;

    private static final int PORTS = 10000;
    /**
     * Number of the first step that is a shell. Source: slurm.h, SLURM_INTERACTIVE_STEP is 0xfffffffa.
     * SLURM_BATCH_SCRIPT, SLURM_EXTERN_CONT and SLURM_PENDING_STEP are above this number.
     */
    private static final long FIRST_SHELL_STEP = 0xfffffffaL;
    /** Distance between the ports of two steps, because steps of one job may run at the same time. */
    private static final int PORTS_BETWEEN_STEPS = 97;

    private final LauncherVariables variables;
    private final RendezvousPointFactory meetings;

    SlurmTask(LauncherVariables variables, RendezvousPointFactory meetings) {
        this.variables = variables;
        this.meetings = meetings;
    }

    /**
     * Returns whether this step is a shell. Shells that Slurm itself starts are also steps. A shell that Slurm starts
     * has one task and a reserved step number.
     */
    boolean isShell() {
        try {
            return variables
                    .find(STEP)
                    .filter(step -> Long.parseLong(step) >= FIRST_SHELL_STEP)
                    .isPresent();
        } catch (NumberFormatException named) {
            return false;
        }
    }

    RankOfJob job() {
        refuseComponents();
        int size = variables.size(SIZE, WAY_OUT);
        int rank = variables.rankBelow(RANK, size, SIZE, WAY_OUT);
        OptionalInt here = tasksHere();
        if (rank == 0 && variables.numberIfAny(NODE, 0, NUMBER).orElse(0) != 0 && !variables.has("MASTER_ADDR")) {
            throw new IllegalArgumentException(variables.shown(RANK, NODE, HOSTS)
                    + ": rank 0 is not on the first node of the step, where the other ranks connect to it (--distribution="
                    + "arbitrary causes this): set MASTER_ADDR to the host of rank 0 on all ranks");
        }
        boolean allLocal = here.isPresent() && here.getAsInt() == size;
        return new RankOfJob(
                LauncherKind.SLURM,
                rank,
                size,
                new RankOfJob.HostRank(variables.rankIfAny(LOCAL_RANK, WAY_OUT), here),
                meetings.at(key(), allLocal, variables.find(HOSTS).map(list -> firstHost(HOSTS, list)), port()));
    }

    private void refuseComponents() {
        if (variables.numberIfAny(COMPONENTS, 0, NUMBER).orElse(0) > 1) {
            throw new IllegalArgumentException(variables.shown(COMPONENTS)
                    + ": Slurm numbers the ranks of each part of a heterogeneous job separately: use a job of one part, or"
                    + " set FERRO_RANK and FERRO_WORLD_SIZE over all parts, with MASTER_ADDR and MASTER_PORT");
        }
    }

    private OptionalInt tasksHere() {
        if (!variables.has(TASKS_PER_NODE, NODE)) {
            return OptionalInt.empty();
        }
        List<Integer> perNode =
                perNode(TASKS_PER_NODE, variables.find(TASKS_PER_NODE).orElseThrow());
        int node = variables.number(NODE, 0, NUMBER);
        if (node >= perNode.size()) {
            throw new IllegalArgumentException(
                    variables.shown(NODE, TASKS_PER_NODE) + ": the list has " + perNode.size() + " nodes" + WAY_OUT);
        }
        return OptionalInt.of(perNode.get(node));
    }

    /** Returns the key of the job. The key has the count of restarts, because a requeued job keeps its job number. */
    private Optional<String> key() {
        return variables
                .find(JOB)
                .map(job -> job + "." + variables.find(STEP).orElse("0") + "."
                        + variables.find(RESTART).orElse("0"));
    }

    private OptionalInt port() {
        // a federation of clusters gives its jobs numbers above 2^31
        long job = variables.longIfAny(JOB, NUMBER).orElse(0) % PORTS;
        long step = variables.longIfAny(STEP, NUMBER).orElse(0) % PORTS;
        return OptionalInt.of((int) (FIRST_PORT + (job + PORTS_BETWEEN_STEPS * step) % PORTS));
    }

    // the two notations in which Slurm writes one value per node: a[01-03,7],b2 and 4(x2),3

    /**
     * Returns the first host of a list. A host may have several brackets: {@code rack[0-1]n[01-16]}.
     *
     * @throws IllegalArgumentException if the text is not a list of hosts
     */
    static String firstHost(String name, String list) {
        StringBuilder host = new StringBuilder();
        int at = 0;
        while (at < list.length() && list.charAt(at) != ',') {
            char next = list.charAt(at);
            if (next == ']') {
                throw unreadable(name, list, "a closing bracket has no opening bracket");
            }
            if (next != '[') {
                host.append(next);
                at++;
                continue;
            }
            int end = list.indexOf(']', at);
            String first = end < 0 ? "" : list.substring(at + 1, end).split("[-,x]", 2)[0];
            if (first.isEmpty() || !first.chars().allMatch(Character::isLetterOrDigit)) {
                throw unreadable(
                        name,
                        list,
                        end < 0 ? "an opening bracket has no closing bracket" : "a bracket has no first number");
            }
            host.append(first);
            at = end + 1;
        }
        if (host.length() == 0) {
            throw unreadable(name, list, "it has no first host");
        }
        return host.toString();
    }

    /**
     * Returns the number of each node, in the order of the list of hosts.
     *
     * @throws IllegalArgumentException if the text is not a list of numbers in the form of Slurm
     */
    static List<Integer> perNode(String name, String list) {
        List<Integer> numbers = new ArrayList<>();
        for (String part : list.split(",", -1)) {
            if (!part.matches("[0-9]{1,9}(\\(x[0-9]{1,6}\\))?")) {
                throw unreadable(name, list, "need numbers such as 4(x2),3");
            }
            int bracket = part.indexOf('(');
            int number = Integer.parseInt(bracket < 0 ? part : part.substring(0, bracket));
            int times = bracket < 0 ? 1 : Integer.parseInt(part.substring(bracket + 2, part.length() - 1));
            for (int i = 0; i < times; i++) {
                numbers.add(number);
            }
        }
        return numbers;
    }

    private static IllegalArgumentException unreadable(String name, String list, String why) {
        return new IllegalArgumentException(name + "=" + list + ": " + why + WAY_OUT);
    }
}
