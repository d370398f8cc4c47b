package ferro.integration.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import ferro.integration.Jdks;
import ferro.integration.release.Distribution.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The archive of the ferro command, which {@code mvn -Prelease verify} makes, unpacked in a folder with a space in its name. */
@Tag("long")
@EnabledOnOs(OS.LINUX)
@Timeout(600)
class DistributionTest {
    private static final String NOBODY = "65534";
    private static final Pattern CODE = Pattern.compile("```.*?```", Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final List<String> COMMANDS =
            List.of("run", "demo", "bench", "analyze", "dump", "doctor", "classpath", "archive", "secret");

    @TempDir
    private static Path shared;

    private static Distribution ferro;

    @TempDir
    private Path empty;

    @BeforeAll
    static void unpack() throws Exception {
        Path archive = Distribution.archive(".tar.gz");
        Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path work = Files.createDirectory(shared.resolve("work"));
        ferro = Distribution.unpacked(archive, shared.resolve("my tools"), work);
    }

    @ParameterizedTest
    @ValueSource(ints = {17, 25})
    void everyCommandRunsInAnEmptyFolder(int version) throws Exception {
        Path jdk = Jdks.assumed(version);
        Map<String, String> variables =
                Map.of("HOME", Files.createDirectory(empty.resolve("home")).toString());
        Path from = Files.createDirectory(empty.resolve("work"));
        String hello = ferro.root().resolve("examples/HelloAllReduce.java").toString();

        ferro.ferro(jdk, variables, from, "run", "-n", "2", hello)
                .endedWith(0)
                .printed("[1] rank 1 of 2: the sum is 3");
        ferro.ferro(jdk, variables, from, "doctor").endedWith(0).printed("a job of several ranks can run here");
        ferro.ferro(jdk, variables, from, "bench", "allreduce", "-n", "2", "--sizes", "4", "--time", "20ms")
                .endedWith(0)
                .printed("busbw");
        ferro.ferro(jdk, variables, from, "demo", "--ranks", "2", "--steps", "3")
                .endedWith(0)
                .printed("check ok: parameters are bitwise equal");
        Run analyzed =
                ferro.ferro(jdk, variables, from, "analyze", from.toString()).endedWith(2);
        assertTrue(analyzed.err().contains("holds no recording"), analyzed::toString);
        Run dumped = ferro.ferro(jdk, variables, from, "dump", from.toString(), "--wait", "100ms");
        assertFalse(dumped.exitCode() == 0, dumped::toString);
        String path =
                ferro.ferro(jdk, variables, from, "classpath").endedWith(0).out();
        assertTrue(path.startsWith(ferro.root().resolve("lib").toString()), path);
        assertFalse(names(ferro.root().resolve("lib")).toString().contains("netty-"), path);
    }

    @Test
    void theFirstCommandArchivesClassesInTheCacheFolder() throws Exception {
        Path caches = Files.createDirectory(empty.resolve("caches"));
        Map<String, String> variables = Map.of("XDG_CACHE_HOME", caches.toString());
        Path jdk = Path.of(System.getProperty("java.home"));

        Run first = ferro.ferro(jdk, variables, empty, "--version").endedWith(0);
        Run second = ferro.ferro(jdk, variables, empty, "--version").endedWith(0);

        assertTrue(first.err().contains("archiving classes"), first::toString);
        assertEquals("", second.err());
        Set<String> made = names(onlyFolder(caches.resolve("ferro")));
        String build = made.stream()
                .filter(name -> name.startsWith("archived-"))
                .findFirst()
                .orElseThrow()
                .substring("archived-".length());
        assertTrue(build.contains(System.getProperty("java.version")), build);
        assertEquals(
                Set.of("archived-" + build, "launcher-" + build + ".jsa", "ranks-" + build + ".jsa", "archive.log"),
                made);
        assertEquals(Set.of(), archives(ferro.root()));
    }

    /** A user who is not root, in a folder that nobody can write, without a folder for caches. */
    @ParameterizedTest
    @ValueSource(ints = {17, 25})
    void aReadOnlyFolderWorksWithoutAnArchive(int version) throws Exception {
        List<String> line = new ArrayList<>(asNobody());
        line.add(ferro.root().resolve("bin/ferro").toString());
        line.addAll(List.of(
                "run",
                "-n",
                "2",
                ferro.root().resolve("examples/HelloAllReduce.java").toString()));
        Path readOnly = Files.setPosixFilePermissions(empty, PosixFilePermissions.fromString("r-xr-xr-x"));
        try {
            Run run = ferro.command(Jdks.assumed(version), Map.of("HOME", readOnly.toString()), readOnly, line);

            run.endedWith(0).printed("[0] rank 0 of 2: the sum is 3");
            assertFalse(run.err().contains("archiving"), run::toString);
            assertEquals(Set.of(), archives(ferro.root()));
        } finally {
            Files.setPosixFilePermissions(empty, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    /** Root can read every folder, so another user must try. */
    @Test
    void unreadableRecordingsAreReportedInOneLine() throws Exception {
        assumeFalse(asNobody().isEmpty(), "only root can become another user");
        Path secret = Files.createDirectory(empty.resolve("recordings"));
        Files.setPosixFilePermissions(empty, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rwx------"));
        List<String> line = new ArrayList<>(asNobody());
        line.addAll(List.of(ferro.root().resolve("bin/ferro").toString(), "analyze", secret.toString()));

        Run run = ferro.command(Path.of(System.getProperty("java.home")), Map.of(), empty, line);

        run.endedWith(2);
        assertTrue(run.err().contains(secret + " cannot be read: run ferro analyze as the user"), run::toString);
        assertEquals(1, run.err().lines().count(), run::toString);
    }

    @Test
    void everyCommandHasAManualPageAndCompletion() throws Exception {
        Set<String> pages = names(ferro.root().resolve("share/man/man1"));
        for (String command : COMMANDS) {
            assertTrue(pages.contains("ferro-" + command + ".1"), pages::toString);
        }
        String page = Files.readString(ferro.root().resolve("share/man/man1/ferro-run.1"));
        assertTrue(page.contains(".SH \"OPTIONS\"") && page.contains("master"), page);
        Path jdk = Path.of(System.getProperty("java.home"));
        String script = "source \"$0\" && complete -p ferro && COMP_WORDS=(ferro d) COMP_CWORD=1"
                + " && _complete_ferro && echo \"${COMPREPLY[@]}\"";
        String completion =
                ferro.root().resolve("share/bash-completion/completions/ferro").toString();

        Run run = ferro.command(jdk, Map.of(), empty, List.of("bash", "-c", script, completion));

        run.endedWith(0).printed("demo dump doctor");
    }

    @Test
    void theArchiveHasChecksumsAndTexts() throws Exception {
        Path jdk = Path.of(System.getProperty("java.home"));
        Run checked =
                ferro.command(jdk, Map.of(), ferro.root(), List.of("sha256sum", "--check", "--strict", "SHA256SUMS"));
        checked.endedWith(0);
        Path archives = Distribution.archive(".zip").toRealPath().getParent();
        ferro.command(jdk, Map.of(), archives, List.of("sha256sum", "--check", "--strict", "SHA256SUMS"))
                .endedWith(0)
                .printed("tar.gz: OK");
        Set<String> files = new TreeSet<>();
        try (Stream<Path> all = Files.walk(ferro.root())) {
            all.filter(Files::isRegularFile)
                    .map(file -> ferro.root().relativize(file).toString())
                    .filter(name -> !name.equals("SHA256SUMS"))
                    .forEach(files::add);
        }
        Set<String> summed = checked.out()
                .lines()
                .map(line -> line.replaceFirst(": OK$", ""))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(files, summed);
        assertTrue(summed.containsAll(Set.of("bin/ferro", "lib/start.sh", "docs/errors.md")), summed::toString);
        assertTrue(
                names(ferro.root()).containsAll(Set.of("bin", "lib", "LICENSE", "NOTICE", "bom.json", "README.md")),
                () -> "the archive lacks texts");
    }

    @Test
    void linksOfThePagesLeadToFilesOfTheArchiveOrToTheWeb() throws IOException {
        Set<String> dead = new TreeSet<>();
        int seen = 0;
        try (Stream<Path> pages = Files.walk(ferro.root())) {
            for (Path page :
                    pages.filter(file -> file.toString().endsWith(".md")).toList()) {
                String text = CODE.matcher(Files.readString(page)).replaceAll("");
                for (MatchResult link : LINK.matcher(text).results().toList()) {
                    seen++;
                    String target = link.group(1).replaceFirst("#.*", "");
                    if (!target.contains(":") && !Files.exists(page.resolveSibling(target))) {
                        dead.add(ferro.root().relativize(page) + ": " + link.group(1));
                    }
                }
            }
        }

        assertEquals(Set.of(), dead);
        assertTrue(seen > 150, "found only " + seen + " links");
        String page = Files.readString(ferro.root().resolve("docs/lightgbm.md"));
        assertTrue(page.contains("The source of the program is TrainTrees."), page);
        assertTrue(page.contains("[every failure of ferro](errors.md)"), page);
    }

    @Test
    void theZipHasTheSameFiles() throws Exception {
        Set<String> inZip = new TreeSet<>();
        try (ZipFile zip = new ZipFile(Distribution.archive(".zip").toFile())) {
            for (Enumeration<? extends ZipEntry> all = zip.entries(); all.hasMoreElements(); ) {
                ZipEntry entry = all.nextElement();
                if (!entry.isDirectory()) {
                    inZip.add(entry.getName());
                }
            }
        }
        try (Stream<Path> files = Files.walk(ferro.root())) {
            Set<String> unpacked = files.filter(Files::isRegularFile)
                    .map(file -> ferro.root().getParent().relativize(file).toString())
                    .collect(Collectors.toCollection(TreeSet::new));
            assertEquals(inZip, unpacked);
        }
    }

    private static List<String> asNobody() {
        boolean isRoot = System.getProperty("user.name").equals("root");
        return isRoot
                ? List.of("/usr/bin/setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups")
                : List.of();
    }

    private static Set<String> archives(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.map(Path::toString)
                    .filter(name -> name.endsWith(".jsa"))
                    .collect(Collectors.toSet());
        }
    }

    private static Path onlyFolder(Path parent) throws IOException {
        try (Stream<Path> folders = Files.list(parent)) {
            List<Path> all = folders.toList();
            assertEquals(1, all.size(), all::toString);
            return all.get(0);
        }
    }

    private static Set<String> names(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
