package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.backend.tcp.net.SecretFile;
import ferro.backend.tcp.store.LauncherClient;
import ferro.harness.Processes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the secret of a job and its tensors must not be: a job that logs and records all it can, and fails. */
class SecretsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final String WRONG = "bad5ec3e7bad5ec30102030405060708bad5ec3e7bad5ec30102030405060708";
    /** Data of the tensors, bytes and a float. The program has the text reversed, so that only tensors have this text. */
    private static final String CONTENT = "7e45017ac0ffee107e45017ac0ffee117e45017ac0ffee127e45017ac0ffee13";

    private static final String REVERSED = new StringBuilder(CONTENT).reverse().toString();
    private static final float NUMBER = 7.4567891e21f;
    private static final String MAIN = """
            import ferro.ReduceOp;
            import ferro.group.ProcessGroup;
            import java.nio.file.Files;
            import java.nio.file.Path;
            import jdk.jfr.FlightRecorder;

            public class Main {
                public static void main(String[] arguments) throws Exception {
                    if (System.getenv("RANK").equals("0")) {
                        // removed after the join if ferro run has made it
                        Files.copy(Path.of(System.getenv("FERRO_SECRET_FILE")), Path.of(arguments[1]));
                    }
                    try (ProcessGroup group = ProcessGroup.join()) {
                        float[] numbers = {3, Float.parseFloat(new StringBuilder("12e1987654.7").reverse().toString())};
                        byte[] content = new StringBuilder(arguments[2]).reverse().toString().getBytes();
                        for (int call = 0; call < 5; call++) {
                            group.allReduce(numbers, ReduceOp.MAX);
                            group.allReduce(content, ReduceOp.MAX);
                        }
                        Path recording = Path.of(arguments[0], "rank-" + group.rank() + ".jfr");
                        FlightRecorder.getFlightRecorder().takeSnapshot().dump(recording);
                        System.out.println("self " + ProcessHandle.current().pid());
                        System.out.println("port " + System.getenv("MASTER_PORT"));
                        System.out.println("job " + System.getenv("FERRO_JOB_ID"));
                        System.out.println("links " + group.linkReport());
                        while (true) {
                            group.allReduce(numbers, ReduceOp.MAX);
                            group.allReduce(content, ReduceOp.MAX);
                        }
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName(
            "the secret, its user's own or one that ferro run makes, and what tensors hold are in no log, no recording,"
                    + " no command line and no environment")
    @Tag("long")
    void theSecretAndTensorsAppearInNoLogRecordingOrCommandLine(boolean own) throws Exception {
        Map<String, String> places = new TreeMap<>();
        try (LauncherRun run = LauncherRun.start(Map.of("JDK_JAVA_OPTIONS", logAll()), job(own))) {
            long other = Long.parseLong(run.restOfLine("[0] self "));
            long victim = Long.parseLong(run.restOfLine("[1] self "));
            assertTrue(run.restOfLine("[0] links ").contains("ferro.links=tcp"), run::toString);
            places.put("failure of a stranger", refusedStranger(run).toString());
            processes(places);
            assertRead(places, other, victim);

            Processes.kill(victim);

            assertEquals(137, run.exitCode(), run::toString);
            places.put("output of the launcher", run.toString());
            assertTrue(run.errText().contains("UNAUTHENTICATED"), "the refusal of the stranger is logged: " + run);
            for (String process : List.of("", "[0] ", "[1] ")) {
                assertTrue(run.errLines().stream().anyMatch(line -> line.startsWith(process + "FINE")), run::toString);
            }
        }
        List<Path> kept = files(folder.resolve("kept"));
        assertTrue(
                kept.stream().anyMatch(file -> file.toString().endsWith(".json")), "what the recorder wrote: " + kept);
        for (String one : List.of("rank-0.err", "rank-0.jfr", "rank-1.jfr")) {
            assertTrue(kept.contains(folder.resolve("kept").resolve(one)), one + " is not among " + kept);
        }
        for (Path file : kept) {
            places.put(file.toString(), text(file));
        }
        for (int rank = 0; rank < 2; rank++) {
            places.put("events of rank " + rank, recorded(folder.resolve("kept/rank-" + rank + ".jfr")));
        }
        absent("the secret", forms(Files.readString(folder.resolve("copy"))), places);
        absent("a wrong secret", forms(WRONG), places);
        absent("what a tensor holds", forms(CONTENT), places);
        absent("what a tensor holds", List.of(Float.toString(NUMBER)), places);
    }

    private static void absent(String what, List<String> forms, Map<String, String> places) {
        places.forEach((place, text) -> forms.forEach(
                form -> assertFalse(text.contains(form), () -> what + ", as " + form + ", is in " + place)));
    }

    private String[] job(boolean own) throws IOException {
        Path main = Files.writeString(folder.resolve("Main.java"), MAIN);
        Path kept = Files.createDirectory(folder.resolve("kept"));
        Path copy = folder.resolve("copy");
        List<String> line = new ArrayList<>(List.of("run", "-n", "2", "--backend", "tcp", "--links", "tcp"));
        if (own) {
            Path secret = folder.resolve("secret");
            SecretFile.create(secret);
            line.addAll(List.of("--secret-file", secret.toString()));
        }
        line.addAll(List.of("--log-dir", kept.toString(), "-J-Dferro.recorder.dir=" + kept));
        line.addAll(List.of("-J-XX:StartFlightRecording", main.toString(), kept.toString(), copy.toString(), REVERSED));
        return line.toArray(String[]::new);
    }

    private String logAll() throws IOException {
        Path logging = Files.writeString(folder.resolve("logging.properties"), """
                handlers = java.util.logging.ConsoleHandler
                .level = ALL
                java.util.logging.ConsoleHandler.level = ALL
                """);
        return "-Djava.util.logging.config.file=" + logging;
    }

    /** Has somebody with another secret call the store of the job, so that there is a refusal to be told. */
    private static FerroException refusedStranger(LauncherRun run) throws InterruptedException {
        int port = Integer.parseInt(run.restOfLine("[0] port "));
        InetSocketAddress store = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        String job = run.restOfLine("[0] job ");
        LauncherClient.ConnectOptions call =
                new LauncherClient.ConnectOptions(store, job, WRONG.getBytes(StandardCharsets.US_ASCII), 1, 5);
        FerroException refused = assertThrows(FerroException.class, () -> LauncherClient.open(call, LONG, LONG));
        assertEquals(Code.UNAUTHENTICATED, refused.code());
        return refused;
    }

    /** What everybody who is on this machine can see of a process, and what its own user can. */
    private static void processes(Map<String, String> places) {
        for (ProcessHandle process : ProcessHandle.allProcesses().toList()) {
            for (String file : List.of("cmdline", "environ")) {
                places.put(file + " of " + process.pid(), text(Path.of("/proc", "" + process.pid(), file)));
            }
        }
    }

    /** Nothing is absent from a file that could not be read. */
    private static void assertRead(Map<String, String> places, long... ranks) {
        for (int rank = 0; rank < ranks.length; rank++) {
            assertTrue(places.get("cmdline of " + ranks[rank]).contains("Main"), "command line of rank " + rank);
            List<String> variables =
                    List.of(places.get("environ of " + ranks[rank]).split("\0"));
            assertTrue(variables.contains("RANK=" + rank), "environment of rank " + rank + ": " + variables);
        }
        long launcher = ProcessHandle.of(ranks[0])
                .flatMap(ProcessHandle::parent)
                .orElseThrow()
                .pid();
        assertTrue(places.get("cmdline of " + launcher).contains("--log-dir"), "command line of the launcher");
        assertTrue(places.get("environ of " + launcher).contains("JDK_JAVA_OPTIONS="), "environment of the launcher");
    }

    /** Returns all events of a recording as text: among them are those of the calls that moved what must not be seen. */
    private static String recorded(Path recording) throws IOException {
        List<RecordedEvent> events = RecordingFile.readAllEvents(recording);
        List<String> calls = events.stream()
                .filter(event -> event.getEventType().getName().equals("ferro.Collective"))
                .map(event -> event.getString("description"))
                .toList();
        for (String call : List.of("allReduce f32[2] max", "allReduce i8[64] max")) {
            assertTrue(calls.stream().anyMatch(one -> one.startsWith(call)), call + " in " + recording + ": " + calls);
        }
        return events.stream().map(RecordedEvent::toString).collect(Collectors.joining());
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).toList();
        }
    }

    static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return "";
        }
    }

    /** Bytes by hexadecimal digits as these digits, and as a program may print bytes. */
    private static List<String> forms(String secret) {
        List<String> forms = new ArrayList<>();
        for (byte[] bytes : List.of(
                secret.getBytes(StandardCharsets.US_ASCII), HexFormat.of().parseHex(secret))) {
            forms.add(new String(bytes, StandardCharsets.ISO_8859_1));
            forms.add(HexFormat.of().formatHex(bytes));
            forms.add(HexFormat.of().withUpperCase().formatHex(bytes));
            forms.add(Base64.getEncoder().withoutPadding().encodeToString(bytes));
            String numbers = Arrays.toString(bytes);
            forms.add(numbers.substring(1, numbers.length() - 1));
        }
        return forms;
    }
}
