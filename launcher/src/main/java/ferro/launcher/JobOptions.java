package ferro.launcher;

import ferro.spi.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The options of every command that starts ranks. */
final class JobOptions {
    @Option(
            names = {"-n", "--ranks"},
            paramLabel = "RANKS",
            description = "ranks to start on this host (default: ${DEFAULT-VALUE})",
            defaultValue = "2")
    private int ranks;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            description = "hosts of the job, a ferro run on each",
            defaultValue = "1")
    private int nodes;

    @Option(names = "--node-rank", paramLabel = "I", description = "number of this host, from 0", defaultValue = "0")
    private int nodeRank;

    @Option(
            names = "--master",
            paramLabel = "HOST:PORT",
            description = "where node 0 serves the store (default: a free port of loopback)")
    private String master;

    @Option(
            names = "--secret-file",
            paramLabel = "FILE",
            description = "secret of the job, mode 0600 (default: a fresh one, on one host)")
    private Path secretFile;

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            description = "back end of every rank (default: the best usable one)")
    private String backend;

    @Option(names = "--log-dir", paramLabel = "DIR", description = "also write rank-R.log and rank-R.err there")
    private Path logDir;

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            description = "time from a signal passed on to the ranks to the end of those that are left"
                    + " (default: ${DEFAULT-VALUE})",
            defaultValue = "10s")
    private String grace;

    @Option(names = "--no-bind", description = "do not bind ranks to cores")
    private boolean noBind;

    /** Returns what was asked for, checked. */
    JobSpec spec() {
        return new JobSpec(
                new Placement(ranks, nodes, nodeRank),
                Optional.ofNullable(master).map(text -> Endpoint.parse("--master", text)),
                Optional.ofNullable(secretFile).map(JobFolder::checkSecret),
                Optional.ofNullable(backend),
                Optional.ofNullable(logDir),
                !noBind,
                signalGrace());
    }

    private Duration signalGrace() {
        try {
            // by nanoseconds, as the clock counts: what does not fit there is refused as well
            return Duration.ofNanos(Setting.duration(grace).toNanos());
        } catch (IllegalArgumentException | ArithmeticException misread) {
            throw new BadInputException("--grace " + grace + ": need a time such as 500ms, 10s or 2m", misread);
        }
    }
}
