package ferro.launcher.input;

import ferro.spi.Settings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A job with the properties that the user has requested.
 *
 * @param placement   ranks and nodes
 * @param master      address of the store; required on several nodes
 * @param secretFile  file with the secret of the user; required on several nodes
 * @param backend     back end for all ranks; empty if each rank chooses
 * @param links       links between ranks of one host; empty if each rank chooses
 * @param logDir      folder for copies of the ranks' output
 * @param bind        whether ranks are bound to cores if binding helps
 * @param signalGrace time that ranks get to end after the launcher has received a signal
 * @param nodeTimeout longest time from the last sign of life of another node to the end of the job
 * @param debugged    ranks that wait for a debugger
 * @param restarts    how often the job may start again
 */
public record JobSpec(
        Placement placement,
        Optional<Endpoint> master,
        Optional<Path> secretFile,
        Optional<String> backend,
        Optional<String> links,
        Optional<Path> logDir,
        boolean bind,
        Duration signalGrace,
        Duration nodeTimeout,
        DebuggedRanks debugged,
        RestartLimit restarts) {
    public static final Duration NODE_TIMEOUT = Duration.ofSeconds(10);

    /** Checks that the options fit together. */
    public JobSpec {
        if (placement.nodes() > 1 && master.isEmpty()) {
            throw new BadInputException("--nodes " + placement.nodes()
                    + " needs --master host:port: an address of node 0 and a free port there, the same on all nodes");
        }
        if (placement.nodes() > 1 && secretFile.isEmpty()) {
            throw new BadInputException("--nodes " + placement.nodes()
                    + " needs --secret-file: a file of mode 0600 with the same content on all nodes");
        }
        if (backend.isPresent() && backend.get().isBlank()) {
            throw new BadInputException(
                    "--backend \"" + backend.get() + "\" is empty: need a name, ferro doctor lists them");
        }
        links.ifPresent(kind -> checkLinks(kind, backend));
        debugged.check(placement);
    }

    /** Returns the same job with other ranks that wait for a debugger. */
    public JobSpec debugging(DebuggedRanks some) {
        return with(some, restarts);
    }

    /** Returns the same job with other limits for restarts. */
    public JobSpec restarting(RestartLimit limits) {
        return with(debugged, limits);
    }

    private JobSpec with(DebuggedRanks some, RestartLimit limits) {
        return new JobSpec(
                placement, master, secretFile, backend, links, logDir, bind, signalGrace, nodeTimeout, some, limits);
    }

    private static void checkLinks(String kind, Optional<String> backend) {
        if (!List.of("auto", "tcp", "shm").contains(kind)) {
            throw new BadInputException("--links " + kind + ": need " + Settings.LINKS.need());
        }
        if (kind.equals("tcp") && backend.isPresent() && backend.get().equals("shm")) {
            throw new BadInputException("--links " + kind + " with --backend " + backend.get()
                    + ", which uses only shared memory: omit one of the two options");
        }
    }

    /** Returns a job on this host with default settings. */
    public static JobSpec onThisHost(int ranks) {
        return of(new Placement(ranks, 1, 0), Optional.empty(), Optional.empty());
    }

    /** Returns a job with default settings. */
    public static JobSpec of(Placement placement, Optional<Endpoint> master, Optional<Path> secretFile) {
        return new JobSpec(
                placement,
                master,
                secretFile,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                true,
                Duration.ofSeconds(10),
                NODE_TIMEOUT,
                DebuggedRanks.NONE,
                RestartLimit.NONE);
    }
}
