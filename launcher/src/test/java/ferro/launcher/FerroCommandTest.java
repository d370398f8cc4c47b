package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static ferro.launcher.Said.message;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.Backend;
import ferro.backend.tcp.net.SecretFile;
import ferro.group.BackendReport;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.JobSpec;
import ferro.launcher.output.Screen;
import ferro.launcher.program.BackendChoice;
import ferro.launcher.program.JavaSettings;
import ferro.launcher.program.JavaTarget;
import ferro.launcher.program.LaunchTarget;
import ferro.spi.BackendProvider;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FerroCommandTest {
    @TempDir
    private Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "run -n 0 -- true | ferro run: -n 0: need a number of ranks",
                "run -n 2 --debug 1 -- python3 train.py | ferro run: --debug [1] needs a Java program (Main.java, app.jar or a main class), found the command \"python3 train.py\"",
                "run -n 2 --debug 2 ferro.launcher.FerroCommand | ferro run: --debug 2: need a rank from 0 to 1, as the job has 2 ranks",
                "run -n 2 --debug 2 Missing.java | ferro run: --debug 2: need a rank from 0 to 1, as the job has 2 ranks",
                "run -n 2 --debug 0,-1 ferro.launcher.FerroCommand | ferro run: --debug -1: need a rank from 0 to 1",
                "run -n 2 --debug one ferro.launcher.FerroCommand | ferro run: Invalid value for option '--debug'",
                "run -n many -- true | ferro run: Invalid value for option '--ranks': 'many' is not an int",
                "run --nod 3 -- true | ferro run: Unknown option: '--nod'",
                "run -n 2 | ferro run: nothing to run: found 0 words after the options",
                "run -n 2 -- | ferro run: nothing to run: found 0 words after --",
                "run -n 2 Nothing.java | Nothing.java not found",
                "run -n 2 no.such.Main | ferro run: main class \"no.such.Main\" not found",
                "run -n 2 -- no-such-command | ferro run: command \"no-such-command\" not found",
                "run --nodes 2 -- true | ferro run: --nodes 2 needs --master",
                "run --nodes 2 --master h:1 -- true | ferro run: --nodes 2 needs --secret-file",
                "run --restarts many -- true | ferro run: Invalid value for option '--restarts': 'many' is not an int",
                "run --restarts -1 -- true | ferro run: --restarts -1: need a number of restarts of 0 or more",
                "run --restart-window 1h -- true | ferro run: --restart-window 1h needs --restarts with a number of 1 or",
                "run --restarts 3 --restart-window soon -- true | ferro run: --restart-window soon: need a time",
                "secret | ferro secret: Missing required parameter: 'FILE'",
                "secret /no/such/folder/file | ferro secret: /no/such/folder/file cannot be written",
                "run --master nowhere -- true | ferro run: --master nowhere: need host:port",
                "run --log-dir /proc/none -- true | ferro run: --log-dir /proc/none",
                "run --master 192.0.2.7:1 -- true | ferro run: --master 192.0.2.7:1: 192.0.2.7 does not belong to this machine",
                "run --master no-such-host.invalid:1 -- true | ferro run: --master no-such-host.invalid:1: no address",
                "run -n 2 --backend pigeon ferro.launcher.FerroCommand | ferro run: there is no back end named \"pigeon\" (-cp adds one of your own); usable here: tcp, shm, auto; not",
                "run -n 1 --backend pigeon ferro.launcher.FerroCommand | usable here: tcp, shm, simulated, auto",
                "run -n 2 -J-Dferro.backend=dove ferro.launcher.FerroCommand | there is no back end named \"dove\"",
                "run -n 3 --backend simulated -- true | \"simulated\" joins threads of one process, but each of the 3 ranks",
                "bench barrier -n 3 --backend simulated | ferro bench: \"simulated\" joins threads of one process",
                "run --grace 9999999h -- true | ferro run: --grace 9999999h: need a time",
                "run --links pigeon -- true | ferro run: --links pigeon: need auto (shared memory where it works), tcp or shm",
                "bench allreduce --backend shm --links tcp | ferro bench: --links tcp with --backend shm",
                "bench alreduce -n 2 | ferro bench: no collective \"alreduce\" to measure",
                "bench all --compare --links tcp | takes only -n, --sizes and --time, found --links tcp",
                "run --grace soon -- true | ferro run: --grace soon: need a time",
                "analyze /no/such/folder | ferro analyze: /no/such/folder is not a folder",
                "analyze / | ferro analyze: / holds no recording (ferro-JOB-rankR.json): ranks write one when",
                "analyze | ferro analyze: Missing required parameter: 'DIR'",
                "dump /no/such/folder | ferro dump: /no/such/folder is not a folder",
                "dump --wait soon / | ferro dump: --wait soon: need a time",
                "archive -cp /no/such.jar no.such.Main -n 3 | -n stands behind no.such.Main, so the program gets it: options of ferro archive",
                "demo --foo | ferro demo: unknown option --foo: use --batch",
                "demo nonsense | ferro demo also takes --ranks",
                "demo --steps 0 | ferro demo: --steps 0: need an integer from 1",
                "demo --text /no/such/file | ferro demo: ",
                "help jump | jump",
                "rnu -n 2 Main.java | ferro: there is no command rnu; did you mean run?",
                "fly | ferro: there is no command fly: use run, demo, bench, analyze, dump, doctor, classpath, archive, secret, help",
                "--jump | ferro: Unknown option: '--jump'",
                "run --timeout 5s -- true | --timeout is a setting: set the variable FERRO_TIMEOUT",
                "run --timeout=5s -- true | --timeout is a setting: set the variable FERRO_TIMEOUT",
                "run --tcp-port 4000 -- true | --tcp-port is a setting: set the variable FERRO_TCP_PORT",
                "bench allreduce --timeout 5s | --timeout is a setting: set the variable FERRO_TIMEOUT",
                "archive -cp a.jar --timeout 5s Main | --timeout is a setting: set the variable FERRO_TIMEOUT",
                "demo --timeout 5s | --timeout is a setting: set the variable FERRO_TIMEOUT",
                "dump --timeout 5s / | did you mean --wait?",
                "run --nproc 2 -- true | did you mean -n?",
                "run --nproc_per_node=2 -- true | did you mean -n?",
                "run --np 2 -- true | did you mean -n?",
                "run -np 2 -- true | did you mean -n?",
                "run -np2 -- true | did you mean -n?",
                "run -nproc 2 -- true | did you mean -n?",
                "run --nnodes 2 -- true | did you mean --nodes?",
                "run --node_rank 2 -- true | did you mean --node-rank?",
                "run --graze 2s -- true | did you mean --grace?",
                "run --restart 2 -- true | did you mean --restarts?",
                "bench allreduce --nproc 2 | did you mean -n?",
                "bench allreduce -np 2 | did you mean -n?",
                "archive -cp a.jar --nproc 2 Main | did you mean -n?",
                "archive -cp a.jar -np 2 Main | did you mean -n?",
                "demo --nproc 2 | did you mean -n?",
                "demo -np 2 | did you mean -n?",
                "analyze --htm /tmp/page | did you mean --html?",
                "'' | need a command: run, demo, bench, analyze, dump, doctor, classpath, archive or secret; ferro help",
            })
    void wrongInputIsExplainedAndNothingIsStarted(String typed, String part) {
        String said = refused(typed.isEmpty() ? new String[0] : typed.split(" "));

        assertHas(said, part);
        assertEquals(false, said.contains("cores, backend"), said);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "run ferro.launcher.FerroCommand --version -n 3 | -n stands behind ferro.launcher.FerroCommand, so the program",
                "run ferro.launcher.FerroCommand --version --ranks=3 | --ranks stands behind ferro.launcher.FerroCommand",
                "run ferro.launcher.FerroCommand -n 3 | -n stands behind ferro.launcher.FerroCommand, so the program",
                "run ferro.launcher.FerroCommand -n3 | -n3 stands behind ferro.launcher.FerroCommand, so the program",
                "run ferro.launcher.FerroCommand -np 3 | -np stands behind ferro.launcher.FerroCommand, so the program",
                "run ferro.launcher.FerroCommand -J-Xmx9m | -J-Xmx9m stands behind ferro.launcher.FerroCommand, so",
                "run -n 1 -cp /no/such.jar:/no/such/* ferro.launcher.FerroCommand -V | /no/such.jar of the class path does not",
                "run -n 1 -cp /no/such.jar:/no/such/* ferro.launcher.FerroCommand -V | /no/such/* of the class path does not",
            })
    void misplacedOptionsAreReportedBeforeTheJobStarts(String typed, String part) {
        execute(typed.split(" "));

        String said = err.toString(StandardCharsets.UTF_8);
        int at = said.indexOf("ferro: " + part);
        assertTrue(at >= 0 && at < said.indexOf(", backend "), said);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run -n 1 ferro.launcher.FerroCommand --version -n 3",
                "run -n 1 ferro.launcher.FerroCommand --version -- --links tcp",
                "run ferro.launcher.FerroCommand help links n=3",
                "run -- true -n 3"
            })
    void optionsOfTheProgramAreNotReported(String typed) {
        execute(typed.split(" "));

        String said = err.toString(StandardCharsets.UTF_8);
        assertEquals(false, said.contains("stands behind"), said);
        assertHas(said, ", backend ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "help | Collective communication for the JVM",
                "help run | Usage: ferro run",
                "help run | ferro run -n 4 Main.java",
                "help demo | --help shows its options",
                "bench --help | one of: f32, f64, f16, bf16, i8, i16, i32, i64 (default: f32)",
                "bench --help | one of: sum, product, min, max, avg, premulsum",
                "bench --help | barrier, pingpong; with --compare also all",
                "demo --help | --steps N",
                "demo -h | --steps N",
            })
    void helpIsPrintedAndNothingIsStarted(String typed, String part) {
        assertEquals(0, execute(typed.split(" ")), err.toString(StandardCharsets.UTF_8));

        String said = out.toString(StandardCharsets.UTF_8);
        assertHas(said.replaceAll("\\s+", " "), part);
        assertEquals("", err.toString(StandardCharsets.UTF_8));
    }

    @Test
    void examplesOfTheHelpHaveTheirOwnLinesAt80Columns() {
        assertEquals(0, execute("help", "run"), err.toString(StandardCharsets.UTF_8));

        String said = out.toString(StandardCharsets.UTF_8);
        List<String> examples =
                said.substring(said.indexOf("Examples:\n")).lines().skip(1).toList();
        assertTrue(examples.size() > 5 && examples.stream().allMatch(line -> line.startsWith("  ")), said);
    }

    @ParameterizedTest
    @CsvSource({
        "run -n 1 --no-bind --backend pigeon -- true",
        "run -n 1 --backend simulated -- true",
        "run -n 2 --backend auto -- true"
    })
    void aBackendThatOnlyRanksCanFindIsNotChecked(String typed) {
        assertEquals(0, execute(typed.split(" ")), err.toString(StandardCharsets.UTF_8));
    }

    @Test
    void aBackendMayComeWithTheProgram() throws IOException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve("ferro.spi.BackendProvider"), "app.PigeonProvider\n");
        JavaSettings settings = JavaSettings.of(Optional.of("" + folder), List.of("-Dferro.backend=pigeon"), Map.of());
        LaunchTarget target = new JavaTarget("app.Main", settings, List.of(), false);

        BackendChoice choice = BackendChoice.of(JobSpec.onThisHost(2), target, Map.of("FERRO_BACKEND", "dove"));

        assertEquals("pigeon", choice.name());
        assertTrue(target.mayBringBackends());
        choice.check(2, target.mayBringBackends());
    }

    @Test
    void anUnusableBackendIsRefusedWithItsReason() {
        BackendReport odd = new BackendReport("odd", 7, Optional.of("libodd.so not found"));
        BackendReport even = new BackendReport("even", 7, Optional.empty());
        BackendChoice choice = new BackendChoice("odd", List.of(odd, even));

        String said = message(BadInputException.class, () -> choice.check(2, true));

        String expected = "back end \"odd\" cannot work here: libodd.so not found; usable here: even, auto";
        assertEquals(expected, said);
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu:even,cuda:odd", "cpu:even, cuda:odd"})
    @DisplayName("2-18: both halves of cpu:tcp,cuda:nccl are looked at")
    void bothBackendsOfAPairMustBeUsable(String pair) {
        BackendReport even = new BackendReport("even", 7, Optional.empty());
        BackendReport odd = new BackendReport("odd", -1, Optional.empty());
        BackendReport broken = new BackendReport("odd", -1, Optional.of("libodd.so not found"));

        new BackendChoice(pair, List.of(even, odd)).check(2, false);
        String said =
                message(BadInputException.class, () -> new BackendChoice(pair, List.of(even, broken)).check(2, false));
        String missing = message(BadInputException.class, () -> new BackendChoice(pair, List.of(odd)).check(2, false));

        assertEquals("back end \"odd\" cannot work here: libodd.so not found; usable here: even, auto", said);
        assertEquals("there is no back end named \"even\" (-cp adds one of your own); usable here: odd, auto", missing);
    }

    @Test
    @DisplayName("decision 12: the launcher asks with as many local ranks as it will start")
    void providersAreAskedWithTheNumberOfRanksOfThisHost() throws IOException {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve("ferro.spi.BackendProvider"), TooManyRanks.class.getName() + "\n");
        LaunchTarget target = (folder, few) -> List.of("true");
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
            thread.setContextClassLoader(loader);
            Map<String, String> few = Map.of("FERRO_BACKEND", "few");
            Map<String, String> underMpirun = Map.of(
                    "FERRO_BACKEND", "few",
                    "OMPI_COMM_WORLD_RANK", "0",
                    "OMPI_COMM_WORLD_SIZE", "1",
                    "OMPI_COMM_WORLD_LOCAL_RANK", "0",
                    "OMPI_COMM_WORLD_LOCAL_SIZE", "1");
            for (Map<String, String> environment : List.of(few, underMpirun)) {
                BackendChoice choice = BackendChoice.of(JobSpec.onThisHost(3), target, environment);
                String said = message(BadInputException.class, () -> choice.check(3, true));
                assertStarts(said, "back end \"few\" cannot work here: 3 local ranks, 2 devices");
            }
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** A back end of a host with two devices. */
    public static final class TooManyRanks implements BackendProvider {
        @Override
        public String name() {
            return "few";
        }

        @Override
        public int priority() {
            return -1;
        }

        @Override
        public Optional<String> unavailableBecause(RankContext context) {
            return Optional.of(Settings.LOCAL_WORLD_SIZE.of(context) + " local ranks, 2 devices");
        }

        @Override
        public Backend create(GroupSpec group, RankContext context) {
            throw new UnsupportedOperationException("group " + group + " is never made");
        }
    }

    @Test
    void aTakenStorePortIsReportedWithoutAStackTrace() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String master = "127.0.0.1:" + taken.getLocalPort();

            int code = execute("run", "--master", master, "--", "true");

            String said = err.toString(StandardCharsets.UTF_8);
            assertEquals(1, code, said);
            assertTrue(said.startsWith("ferro run: ") && said.contains(master), said);
            assertEquals(1, said.lines().count(), said);
        }
    }

    @Test
    void thePrintedClassPathIsAbsolute() {
        assertEquals(0, execute("classpath"));

        for (String entry : out.toString(StandardCharsets.UTF_8).trim().split(File.pathSeparator)) {
            assertStarts(entry, "/");
        }
    }

    @Test
    void aNewSecretIsPrivateAndNeverPrinted() throws IOException {
        Path file = folder.resolve("secret");

        assertEquals(0, execute("secret", file.toString()), err.toString(StandardCharsets.UTF_8));

        assertEquals(file + "\n", out.toString(StandardCharsets.UTF_8));
        assertTrue(Files.readString(file).matches("[0-9a-f]{64}"));
        assertEquals(file, JobFolder.checkSecret(file));
    }

    @Test
    void aNewSecretNeverOverwritesAFile() throws IOException {
        Path file = Files.writeString(folder.resolve("there"), "mine");

        String said = refused("secret", file.toString());

        assertStarts(said, "ferro secret: " + file + " exists, and ferro secret overwrites no file");
        assertEquals("mine", Files.readString(file));
    }

    @Test
    void aMissingSecretFileIsReportedWithTheCommandThatCreatesIt() {
        String said = refused("run", "--secret-file", "/no/such/file", "--", "true");

        String line = Invocation.ofProcess().line("secret", "/no/such/file");
        assertHas(said, "--secret-file /no/such/file: no such file; create one with: " + line + "\n");
    }

    @Test
    void aWeakSecretIsRefusedOutsideLoopbackBeforeAnythingStarts() throws IOException {
        Path weak = folder.resolve("weak");
        SecretFile.create(weak);
        Files.writeString(weak, "0123456789abcdef");

        String said =
                refused("run", "--nodes", "2", "--master", "192.0.2.7:1", "--secret-file", "" + weak, "--", "true");

        assertTrue(
                said.contains("has at most 8 random bytes")
                        && said.endsWith(Invocation.ofProcess().line("secret", "FILE") + "\n"),
                said);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "FERRO_TIMEOUT | 5 | run -n 3 ferro.launcher.FerroCommand help | ferro run: ferro.timeout=5: need a time such as",
                "FERRO_TIMEOUT | 5 | run -n 3 -- true | ferro run: ferro.timeout=5: need a time such as",
                "FERRO_TIMEOUT | 5 | bench barrier -n 3 | ferro bench: ferro.timeout=5: need a time such as",
                "FERRO_TIMEOUT | 5 | demo | ferro demo: ferro.timeout=5: need a time such as",
                "FERRO_LINKS | pigeon | run -- true | ferro run: ferro.links=pigeon: need auto",
                "FERRO_TCP_PORT | many | run --backend tcp -- true | ferro run: ferro.tcp.port=many: need a port",
                "NONE | 0 | run -J-Dferro.segment=big ferro.launcher.FerroCommand help | ferro run: ferro.segment=big: need",
            })
    void aWrongSettingIsReportedOnceForAJob(String name, String value, String typed, String line) {
        int code = execute(Map.of(name, value), typed.split(" "));

        String said = err.toString(StandardCharsets.UTF_8);
        assertEquals(2, code, said);
        assertStarts(said, line);
        assertEquals(1, said.lines().count(), said);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "FERRO_NCCL_DEVICE | one | run -- true",
                "FERRO_FALLBACK_CHUNK | big | run -- true",
                "FERRO_TLS_KEY_BYTES | 1 | run -- true",
                "FERRO_SEED | one | run -- true",
                "FERRO_LINKS | pigeon | run --links tcp -- true",
                "FERRO_TCP_PORT | many | run -n 1 --backend pigeon -- true",
                "FERRO_TIMEOUT | '' | run -- true",
            })
    void aWrongSettingThatNoRankReadsDoesNotEndTheJob(String name, String value, String typed) {
        assertEquals(0, execute(Map.of(name, value), typed.split(" ")), err.toString(StandardCharsets.UTF_8));
    }

    @Test
    void anUnknownSettingCausesOneWarningAndIsPassedToTheRanks() {
        int code = execute(
                Map.of("FERRO_TIEMOUT", "5s", "FERRO_WARNED_NAMES", "FERRO_OF_AN_OUTER_JOB"),
                "run -n 2 -- printenv FERRO_WARNED_NAMES".split(" "));

        String said = err.toString(StandardCharsets.UTF_8);
        assertEquals(0, code, said);
        List<String> warned =
                said.lines().filter(line -> line.contains("TIEMOUT")).toList();
        assertEquals(1, warned.size(), said);
        assertStarts(warned.get(0), "ferro: FERRO_TIEMOUT is no setting of ferro and has no effect: did");
        assertEquals(
                List.of("[0] FERRO_TIEMOUT", "[1] FERRO_TIEMOUT"),
                out.toString(StandardCharsets.UTF_8).lines().sorted().toList());
    }

    private String refused(String... typed) {
        int code = execute(typed);
        String said = err.toString(StandardCharsets.UTF_8);
        assertEquals(2, code, said);
        return said;
    }

    private int execute(String... arguments) {
        return execute(Map.of(), arguments);
    }

    private int execute(Map<String, String> set, String... arguments) {
        Map<String, String> environment = new HashMap<>(Map.of("PATH", "/usr/bin:/bin"));
        environment.putAll(set);
        Screen screen = new Screen(out, err);
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        CommandContext world = new CommandContext(environment, screen, print, Optional.empty());
        return FerroCommand.execute(world, arguments);
    }
}
