package ferro.launcher;

import ferro.job.DetectedLauncher;
import ferro.job.HostFacts;
import ferro.job.JobFinder;
import ferro.job.JobVariables;
import ferro.job.LauncherKind;
import ferro.job.RankOfJob;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.Endpoint;
import java.util.Map;
import java.util.Optional;

/**
 * The Slurm step that has started this launcher once on each of its nodes.
 *
 * @param nodes    number of nodes of the step
 * @param nodeRank number of this node
 * @param master   address at which the launcher of node 0 serves the store
 * @param key      name of the job, which is the same on all nodes
 */
record SlurmStep(int nodes, int nodeRank, Endpoint master, String key) {
    private static final String TASKS = "SLURM_STEP_NUM_TASKS";
    private static final String STEP_NODES = "SLURM_STEP_NUM_NODES";

    /**
     * Finds the Slurm step that has started this launcher.
     *
     * @return the step. Empty if there is no step, as in the shell of sbatch or salloc, if the step has one task, or if
     *     the step has started this launcher through another launcher
     * @throws BadInputException if the ranks of this launcher could not determine their numbers, or if RANK and
     *     WORLD_SIZE, which srun passes on from the surrounding script, hide the step
     */
    static Optional<SlurmStep> find(Map<String, String> environment) {
        JobVariables found = JobFinder.find(environment, HostFacts.ofThisHost());
        if (found.seen().isEmpty() || !isStep(found.seen().get(0))) {
            refuseHidden(found, environment);
            return Optional.empty();
        }
        found.refusal().ifPresent(why -> {
            throw new BadInputException(why + "; --nodes 1 starts a job of this launcher alone");
        });
        RankOfJob task = found.required();
        return task.worldSize() == 1 ? Optional.empty() : Optional.of(of(task, environment));
    }

    /**
     * Refuses the variables RANK and WORLD_SIZE if they hide the step. No launcher has set these variables for this
     * process alone, so each task of the step would start a separate job.
     */
    private static void refuseHidden(JobVariables found, Map<String, String> environment) {
        Optional<DetectedLauncher> step = hidden(found, environment);
        if (step.isPresent() && found.seen().get(0).family() == LauncherKind.BARE) {
            throw new BadInputException(found.seen().get(0).variables() + " and "
                    + step.get().variables()
                    + " are both set, and the first take precedence: ferro run takes nodes and node rank from the step of srun,"
                    + " but because of RANK and WORLD_SIZE each of the step's " + environment.get(TASKS)
                    + " tasks would start"
                    + " a separate job. Remove them (unset RANK WORLD_SIZE in the script, or env -u RANK -u WORLD_SIZE srun ...),"
                    + " or add --nodes 1 if each launcher shall start a separate job");
        }
    }

    /** Returns the step of this launcher if the step has several tasks but another launcher has precedence. */
    private static Optional<DetectedLauncher> hidden(JobVariables found, Map<String, String> environment) {
        boolean several = !environment.getOrDefault(TASKS, "1").trim().equals("1");
        return found.seen().stream()
                .skip(1)
                .filter(SlurmStep::isStep)
                .filter(step -> several)
                .findFirst();
    }

    /** Returns a note that srun would use other nodes, too; empty if srun would use only this node. */
    static Optional<String> unused(Map<String, String> environment) {
        String nodes = environment.getOrDefault("SLURM_JOB_NUM_NODES", "1");
        JobVariables found = JobFinder.find(environment, HostFacts.ofThisHost());
        Optional<DetectedLauncher> hidden = hidden(found, environment);
        if (hidden.isPresent()) {
            return Optional.of("this launcher starts a separate job, without the other tasks of its Slurm step ("
                    + hidden.get().variables() + "), because "
                    + found.seen().get(0).variables() + " of "
                    + found.seen().get(0).family().title() + " take precedence");
        }
        boolean inStep = found.seen().stream().anyMatch(SlurmStep::isStep);
        return environment.containsKey("SLURM_JOB_ID") && !inStep && nodes.matches("[0-9]+") && !nodes.equals("1")
                ? Optional.of("Slurm job " + environment.get("SLURM_JOB_ID") + " has " + nodes
                        + " nodes, but this launcher uses one; to use all: srun --ntasks-per-node=1 "
                        + Invocation.ofProcess().line("run"))
                : Optional.empty();
    }

    private static boolean isStep(DetectedLauncher seen) {
        return seen.family() == LauncherKind.SLURM && seen.complete();
    }

    private static SlurmStep of(RankOfJob task, Map<String, String> environment) {
        String nodes = environment.getOrDefault(STEP_NODES, "");
        if (!nodes.equals("" + task.worldSize())) {
            throw new BadInputException(
                    "srun starts this launcher " + task.worldSize() + " times on " + (nodes.isEmpty() ? "?" : nodes)
                            + " nodes (" + TASKS + ", " + STEP_NODES + "): start it once per node with srun"
                            + " --ntasks-per-node=1, start the program itself with srun, or add --nodes 1 if each launcher"
                            + " shall start a separate job");
        }
        String host = task.rendezvous()
                .host()
                .orElseThrow(
                        () -> new BadInputException(
                                "SLURM_STEP_NODELIST is not set, so the address of node 0 is unknown: need --master host:port"));
        return new SlurmStep(
                task.worldSize(),
                task.rank(),
                new Endpoint(host, task.rendezvous().port().orElseThrow()),
                task.rendezvous().key().orElse("default"));
    }

    /** Returns the first line that the launcher prints in a Slurm step. */
    String line() {
        return "Slurm step " + key + " (job.step.restart): node " + nodeRank + " of " + nodes + ", the store is at "
                + master;
    }
}
