package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.spi.Setting;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** docs/launchers: every option and setting that a page or a file names is there, and the files of sbatch are such. */
class LauncherPagesTest {
    private static final Path PAGES = Path.of("../docs/launchers");
    /** What sbatch takes (sbatch(1)), as far as it is used. */
    private static final Set<String> SBATCH =
            Set.of("job-name nodes ntasks-per-node cpus-per-task mem time output requeue open-mode signal".split(" "));
    /** What srun takes (srun(1)), as far as it is used. */
    private static final Set<String> SRUN =
            Set.of("--kill-on-bad-exit", "--nodes", "--ntasks-per-node", "--cpus-per-task", "--cpu-bind");

    @Test
    void everySettingOnThePagesExists() throws IOException {
        Set<String> variables = Settings.all().stream().map(Setting::variable).collect(Collectors.toSet());
        Set<String> names = Settings.all().stream().map(Setting::name).collect(Collectors.toSet());
        List<String> wrong = new ArrayList<>();
        for (Path file : files("")) {
            String text = Files.readString(file);
            found("FERRO_[A-Z_]*[A-Z]", text)
                    .filter(name -> !variables.contains(name))
                    .forEach(name -> wrong.add(file.getFileName() + ": " + name));
            Stream.concat(found("(?<=-D)ferro[.][a-z.]*[a-z]", text), found("(?<=`)ferro[.][a-z.]*[a-z](?=`)", text))
                    .filter(name -> !names.contains(name))
                    .forEach(name -> wrong.add(file.getFileName() + ": " + name));
        }
        assertEquals(List.of(), wrong, "named in docs/launchers and no setting of ferro");
        assertTrue(files("").size() >= 10, files("") + " are not all pages");
    }

    @Test
    void everyFerroOptionOnThePagesExists() throws IOException {
        Map<String, CommandLine> commands = FerroCommand.commandLine().getSubcommands();
        List<String> wrong = new ArrayList<>();
        int seen = 0;
        for (Path file : files("")) {
            for (String line :
                    found("[.]/ferro [^`)|\\n]*", Files.readString(file)).toList()) {
                String[] words = line.trim().split("\\s+");
                CommandLine command = words.length > 1 ? commands.get(words[1]) : null;
                if (command == null) {
                    wrong.add(file.getFileName() + ": " + line);
                    continue;
                }
                for (String word : List.of(words).subList(2, words.length)) {
                    String option = word.startsWith("-J") ? "-J" : word;
                    seen += option.startsWith("-") ? 1 : 0;
                    if (option.startsWith("-") && command.getCommandSpec().findOption(option) == null) {
                        wrong.add(file.getFileName() + ": " + option + " of " + line);
                    }
                }
            }
        }
        assertEquals(List.of(), wrong, "typed in docs/launchers and unknown to ferro");
        assertTrue(seen > 10, "only " + seen + " options were found");
    }

    @Test
    void everySbatchFileHasOnlyOptionsOfSbatch() throws Exception {
        List<Path> scripts = files(".sbatch");
        assertEquals(2, scripts.size());
        for (Path script : scripts) {
            Child.run(0, new ProcessBuilder("bash", "-n", script.toString()));
            String text = Files.readString(script);
            assertHas(text, "Not run where ferro is built");
            List<String> unknown = Stream.concat(
                            found("(?<=^#SBATCH )\\S+", text).filter(option -> !isSbatch(option)),
                            found("(?<=^srun )[^\\n]*", text)
                                    .flatMap(line -> Stream.of(line.split(" (?=[^-])")[0].split(" ")))
                                    .filter(option -> !SRUN.contains(option.replaceFirst("=.*", ""))))
                    .toList();
            assertEquals(List.of(), unknown, script.toString());
            for (String part : List.of("--requeue", "--signal=TERM@", "scontrol requeue", "--open-mode=append")) {
                assertHas(text, part);
            }
        }
        String nodes = Files.readString(PAGES.resolve("nodes.sbatch"));
        int grace = Integer.parseInt(
                found("(?<=--grace )[0-9]+(?=s)", nodes).findFirst().orElseThrow());
        int notice =
                Integer.parseInt(found("(?<=TERM@)[0-9]+", nodes).findFirst().orElseThrow());
        assertTrue(grace < notice, "--grace " + grace + "s is longer than Slurm waits, " + notice + " s");
    }

    @Test
    void operationsAndTheFirstPageLinkToEveryOther() throws IOException {
        assertHas(Files.readString(PAGES.resolve("../operations.md")), "(launchers/README.md)");
        String first = Files.readString(PAGES.resolve("README.md"));
        for (Path page : files(".md")) {
            String name = page.getFileName().toString();
            assertTrue(name.equals("README.md") || first.contains("(" + name + ")"), "README.md does not name " + name);
        }
    }

    private static boolean isSbatch(String option) {
        return option.startsWith("--") && SBATCH.contains(option.substring(2).replaceFirst("=.*", ""));
    }

    static Stream<String> found(String pattern, String text) {
        return Pattern.compile(pattern, Pattern.MULTILINE)
                .matcher(text)
                .results()
                .map(MatchResult::group);
    }

    private static List<Path> files(String end) throws IOException {
        try (Stream<Path> all = Files.list(PAGES)) {
            return all.filter(file -> file.toString().endsWith(end)).sorted().toList();
        }
    }
}
