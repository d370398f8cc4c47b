package ferro.integration;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jdi.VMDisconnectedException;
import ferro.backend.tcp.TcpStoreServer;
import ferro.harness.PrintedLines;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

/** How many types of ferro a call enters on its rank. {@code -Drooms} prints their names. */
@Timeout(100)
@Tag("long")
class RoomsTest {
    private static final int CALLS = 20;
    private static final int KILLS = 4;
    private static final long AHEAD_MILLIS = 30;
    private static final long UNTIL_RANK_0_WAITS_MILLIS = 200;
    private static final String PROGRAM = WarmCalls.class.getName();
    private static final String AGENT =
            "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,timeout=60000,address=127.0.0.1:0";
    private static final String LISTENS = "Listening for transport dt_socket at address: ";
    /** Threads that work by the clock, and beside calls. */
    private static final String BESIDE_CALLS = "ferro-(background|world-0-net)";

    private static final Pattern INITIALIZED =
            Pattern.compile("Initializing '(ferro/(?!shaded/)[^']+?)(\\$\\$Lambda.*)?'");

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    @TempDir
    private Path folder;

    @AfterEach
    void end() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    @ParameterizedTest(name = "{0} over {1}")
    @CsvFileSource(files = "../config/figures/rooms.csv", numLinesToSkip = 1)
    void aWarmCallEntersAtMostItsLimitOfTypes(String call, String medium, int max) throws Exception {
        assumeTrue(!medium.equals("nccl") || Files.exists(Path.of(StandInPair.nccl())), "no stand-in libraries");
        Set<String> types = call.equals("run") ? ofTheLauncher() : ofRank(call, medium);
        String found =
                call + " over " + medium + " enters " + types.size() + " types, at most " + max + " are expected";
        System.out.println(found + (Boolean.getBoolean("rooms") ? ": " + types : ""));
        // fewer than half are those of a call that was not seen
        assertTrue(types.size() <= max && types.size() > max / 2, () -> found + ":\n" + String.join("\n", types));
        if (medium.equals("tcp") && !call.equals("kill")) {
            String page = Files.readString(Path.of("../docs/architecture.md"));
            String picture =
                    page.substring(page.indexOf("The picture has each class")).split("```")[1];
            types.removeIf(type -> Pattern.compile("\\b" + type.replaceAll(".*\\.|\\$.*", "") + "\\b")
                    .matcher(picture)
                    .find());
            assertEquals(Set.of(), types, "types that are not in the picture of architecture.md");
        }
    }

    /** Returns the types that are entered in each of several calls: in others they depend on which thread is faster. */
    private Set<String> ofRank(String call, String medium) throws Exception {
        boolean kills = call.equals("kill");
        List<String> line = JavaLine.rank(List.of(AGENT), PROGRAM, call);
        List<Process> others = new ArrayList<>();
        for (int job = 0; job < (kills ? KILLS : 1); job++) {
            TcpStoreServer store = TcpStoreServer.start(InetAddress.getLoopbackAddress(), 0, "default", 2, null);
            opened.push(store);
            line.add(store.endpoint());
            others.add(start(1, medium, JavaLine.rank(List.of(), PROGRAM, call, store.endpoint())));
        }
        PrintedLines said = new PrintedLines(start(0, medium, line).getInputStream(), "rank-0", Duration.ofSeconds(60));
        String port = said.await(printed -> printed.startsWith(LISTENS)).substring(LISTENS.length());
        Set<String> inEach = null;
        try (SocketDebugger debugger = SocketDebugger.attach(port)) {
            for (int round = 0; round < (kills ? KILLS : CALLS); round++) {
                debugger.runTo(PROGRAM, "begin");
                if (kills) {
                    CompletableFuture.delayedExecutor(UNTIL_RANK_0_WAITS_MILLIS, MILLISECONDS)
                            .execute(others.get(round)::destroyForcibly);
                } else {
                    OutputStream input = others.get(0).getOutputStream();
                    input.write('\n');
                    input.flush();
                    // nobody sends word that its part has arrived
                    MILLISECONDS.sleep(AHEAD_MILLIS);
                }
                Set<String> types = debugger.typesUntil(PROGRAM, "end", kills ? "" : BESIDE_CALLS);
                inEach = inEach == null ? types : inEach;
                inEach.retainAll(types);
            }
        } catch (VMDisconnectedException ended) {
            throw new AssertionError("rank 0 has ended: " + said.lines(), ended);
        }
        return inEach;
    }

    /** By the log of its JVM, which names what a debugger does, and interfaces with default methods. */
    private Set<String> ofTheLauncher() throws Exception {
        Path log = folder.resolve("initialized");
        String ranks = "[ $RANK = 1 ] && exit 3; exec sleep 60";
        Map<String, String> logging = Map.of("JAVA_TOOL_OPTIONS", "-Xlog:class+init:file=" + log + ":none");
        LauncherRun.start(logging, "run", "-n", "2", "--", "sh", "-c", ranks).ends(3);
        return INITIALIZED
                .matcher(Files.readString(log))
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private Process start(int rank, String medium, List<String> line) throws IOException {
        Map<String, String> variables = new HashMap<>(Map.of("WORLD_SIZE", "2", "FERRO_HEARTBEAT_INTERVAL", "0s"));
        variables.putAll(
                medium.equals("nccl") ? StandInPair.variables("FERRO_BACKEND", medium) : Map.of("FERRO_LINKS", medium));
        variables.putAll(Map.of("RANK", "" + rank, "LOCAL_RANK", "" + rank));
        ProcessBuilder builder = new ProcessBuilder(line).redirectErrorStream(true);
        builder.environment().putAll(variables);
        Process started = builder.start();
        opened.push(started::destroyForcibly);
        return started;
    }
}
