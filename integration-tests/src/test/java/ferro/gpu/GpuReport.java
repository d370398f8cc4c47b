package ferro.gpu;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Runs all parts and prints their findings as Markdown. Its exit code is the number of failed checks, at most 100. */
public final class GpuReport {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int WORST_EXIT_CODE = 100;
    private static final long DEFAULT_MEBIBYTES = 256;

    private final PrintStream out;
    private final long bytes;
    private int passed;
    private int failed;
    private int devices;

    private GpuReport(PrintStream out, long bytes) {
        this.out = out;
        this.bytes = bytes;
    }

    /** Prints the report; the words are MiB of the large tensors (256), and the parts to run (all). */
    public static void main(String[] words) {
        long mebibytes = words.length > 0 ? Long.parseLong(words[0]) : DEFAULT_MEBIBYTES;
        Set<ReportPart> parts = EnumSet.allOf(ReportPart.class);
        if (words.length > 1) {
            // the first part counts the devices
            parts = EnumSet.of(ReportPart.AVAILABILITY);
            List.of(words).subList(1, words.length).stream()
                    .map(ReportPart::parse)
                    .forEach(parts::add);
        }
        GpuReport report = new GpuReport(System.out, mebibytes << 20);
        parts.forEach(report::run);
        report.out.println();
        report.out.println("Checks: " + report.passed + " PASS, " + report.failed + " FAIL");
        System.exit(Math.min(WORST_EXIT_CODE, report.failed));
    }

    private void run(ReportPart part) {
        out.println();
        out.println("## " + part.title());
        if (devices == 0 && part != ReportPart.AVAILABILITY) {
            print(FindingsPrinter.SKIP + part.label() + ": no device");
            return;
        }
        try {
            ranks(part);
        } catch (IOException | InterruptedException | RuntimeException failure) {
            print(FindingsPrinter.FAIL + part.label() + ": " + failure);
        }
    }

    private void ranks(ReportPart part) throws IOException, InterruptedException {
        List<RankRun> ranks = new ArrayList<>();
        try {
            int port = freePort();
            for (int rank = 0; rank < part.ranks(); rank++) {
                ranks.add(RankRun.start(rank, command(part, rank), variables(part, rank, port), (speaker, line) -> {
                    if (line.equals(PairChecks.READY)) {
                        speaker.kill();
                    }
                }));
            }
            for (RankRun rank : ranks) {
                // rank 0 of a pair has finished before the other goes on
                rank.release();
                boolean killed = part.kills() && rank.rank() == 1;
                rank.findings(PATIENCE, killed).forEach(line -> print(part.ranks() > 1 ? of(rank, line) : line));
            }
        } finally {
            for (RankRun rank : ranks) {
                rank.close();
            }
        }
    }

    private static String of(RankRun rank, String line) {
        return line.substring(0, FindingsPrinter.PASS.length()) + "rank " + rank.rank() + ", "
                + line.substring(FindingsPrinter.PASS.length());
    }

    private void print(String line) {
        out.println(line);
        out.flush();
        passed += line.startsWith(FindingsPrinter.PASS) ? 1 : 0;
        failed += line.startsWith(FindingsPrinter.FAIL) ? 1 : 0;
        if (line.startsWith(PartProgram.DEVICES)) {
            String count = line.substring(PartProgram.DEVICES.length());
            devices = count.matches("\\d+") ? Integer.parseInt(count) : 0;
        }
    }

    private List<String> command(ReportPart part, int rank) {
        List<String> line =
                new ArrayList<>(List.of(RankRun.java(), "-Xmx1g", "-XX:MaxDirectMemorySize=4g", "-XX:+UseSerialGC"));
        if (Runtime.version().feature() >= 24) {
            line.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
        }
        settings(part).forEach((name, value) -> line.add("-D" + name + "=" + value));
        if (!oneDeviceEach(part)) {
            line.add("-Dferro.nccl.device=0");
        }
        line.addAll(List.of("-cp", RankRun.classPath(), PartProgram.class.getName(), part.label(), "" + bytes));
        line.add("" + (oneDeviceEach(part) ? rank : 0));
        return line;
    }

    private boolean oneDeviceEach(ReportPart part) {
        return devices >= part.ranks();
    }

    /** Returns the settings of this process, such as the paths of the libraries, and those of the part. */
    private static Map<String, String> settings(ReportPart part) {
        Map<String, String> settings = new HashMap<>();
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith("ferro."))
                .forEach(name -> settings.put(name, System.getProperty(name)));
        settings.put("ferro.backend", part.backend());
        settings.put("ferro.gpu.fallback", part.overHost() ? "1" : "0");
        // less than the time limit of a check, so that ferro's own message is seen
        settings.put("ferro.timeout", "40s");
        return settings;
    }

    private Map<String, String> variables(ReportPart part, int rank, int port) {
        Map<String, String> variables = new HashMap<>();
        variables.put("RANK", "" + rank);
        variables.put("WORLD_SIZE", "" + part.ranks());
        variables.put("LOCAL_RANK", "" + (oneDeviceEach(part) ? rank : 0));
        variables.put("LOCAL_WORLD_SIZE", "" + (oneDeviceEach(part) ? part.ranks() : 1));
        variables.put("MASTER_ADDR", "127.0.0.1");
        variables.put("MASTER_PORT", "" + port);
        variables.put("NCCL_SOCKET_IFNAME", "lo");
        variables.put("NCCL_IB_DISABLE", "1");
        variables.put("NCCL_DEBUG", "WARN");
        if (!oneDeviceEach(part)) {
            // two ranks on one device: NCCL compares host and device, and 2.30.3 and newer have a switch
            variables.put("NCCL_HOSTID", "ferro-" + rank);
            variables.put("NCCL_MULTI_RANK_GPU_ENABLE", "1");
        }
        return variables;
    }

    /** Returns a port that was free a moment ago; rank 0 serves the store there. */
    private static int freePort() throws IOException {
        try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return probe.getLocalPort();
        }
    }
}
