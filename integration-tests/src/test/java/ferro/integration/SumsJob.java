package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.drill.Drill;
import ferro.integration.drill.FalseLines;
import ferro.integration.drill.Line;
import ferro.integration.hosts.HostProcess;
import ferro.integration.hosts.NamespaceHosts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Two launchers on two hosts, each with two ranks that add up without end ({@link SumsAcrossHosts}), and what the ranks say. */
final class SumsJob {
    static final int STORE = 29500;

    private static final int RANKS_A_HOST = 2;
    /** The heap of the drill's ranks; and where times are measured, code is compiled as users' is. */
    private static final String RANKS = " -J-Xmx64m" + (Drill.whole() ? " -J-XX:TieredStopAtLevel=4" : "");

    private final Links medium;
    private final Path end;
    private final List<HostProcess> launchers = new ArrayList<>();

    private SumsJob(Links medium, Path end) {
        this.medium = medium;
        this.end = end;
    }

    /** Starts a job in an empty folder, with data between the hosts over TCP or TLS, and a rest of milliseconds between some sums. */
    static SumsJob start(NamespaceHosts hosts, Path folder, Links medium, String options, long rest)
            throws IOException {
        Path secret = NamespaceHosts.secret(folder, "secret", "0123456789abcdef0123456789abcdef");
        SumsJob job = new SumsJob(medium, folder.resolve("end"));
        for (int host = 0; host < 2; host++) {
            // with a secret, TLS is what nobody has to ask for
            String line = "run --nodes 2 --node-rank " + host + " --master " + hosts.endpoint(0, STORE)
                    + " --secret-file " + secret + " -n " + RANKS_A_HOST + " --backend tcp -J-Dferro.tls="
                    + (medium == Links.TLS ? "auto" : "off") + RANKS + " " + options + " "
                    + SumsAcrossHosts.class.getName() + " " + job.end + " " + rest;
            job.launchers.add(hosts.ferro(host, line.split(" ")));
        }
        return job;
    }

    List<HostProcess> launchers() {
        return launchers;
    }

    void awaitSums() throws InterruptedException {
        String report = said(0, "joined", line -> true).text();
        assertTrue(report.contains("between hosts over TCP"), report);
        assertEquals(medium == Links.TLS, report.contains("with TLS"), report);
        said(0, "sums", line -> true);
    }

    /** Waits for the first sum that ended after this time, and for one more: they go on. */
    Line sumAfter(long at) throws InterruptedException {
        Line first = said(0, "sums", line -> line.number("at") - at > 0);
        said(0, "sums", line -> line.number("at") - first.number("at") > 0);
        return first;
    }

    /** Returns nanoseconds of the slowest sum of those that ended after a time, up to a sum that was said. */
    long slowest(long from, Line last) {
        return launchers.get(0).outLines().stream()
                .filter(line -> line.startsWith("[0] sums "))
                .map(line -> Line.parse(line.substring("[0] ".length())))
                .filter(line -> line.number("at") - from > 0 && line.number("at") - last.number("at") <= 0)
                .mapToLong(line -> line.number("slowest"))
                .max()
                .orElseThrow();
    }

    Line failure(int rank) throws InterruptedException {
        return said(rank, "failed", line -> true);
    }

    private Line said(int rank, String tag, Predicate<Line> wanted) throws InterruptedException {
        String prefix = "[" + rank + "] ";
        return Line.parse(launchers
                .get(rank / RANKS_A_HOST)
                .outLine(line ->
                        line.startsWith(prefix + tag + " ") && wanted.test(Line.parse(line.substring(prefix.length()))))
                .substring(prefix.length()));
    }

    /** Sees that no line that anybody has printed so far is empty or false. */
    void assertLinesHelp() {
        for (HostProcess one : launchers) {
            assertEquals(List.of(), FalseLines.betweenHosts(one.outLines()), this::toString);
            assertEquals(List.of(), FalseLines.betweenHosts(one.errLines()), this::toString);
        }
    }

    void end() throws IOException, InterruptedException {
        Files.createFile(end);
        HostProcess.assertEnd(0, launchers);
        assertTrue(
                launchers.get(0).outLines().stream().anyMatch(line -> line.startsWith("[0] done: ")), this::toString);
        assertLinesHelp();
    }

    @Override
    public String toString() {
        return launchers.stream().map(HostProcess::toString).collect(Collectors.joining("\n"));
    }
}
