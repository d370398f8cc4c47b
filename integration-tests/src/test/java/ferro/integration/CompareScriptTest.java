package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** benchmarks/compare.sh with what every machine has, and with a peer where one is installed; never how fast anything is. */
@Tag("long")
@Timeout(120)
class CompareScriptTest {
    private static final Path SCRIPT =
            Path.of("../benchmarks/compare.sh").toAbsolutePath().normalize();

    @TempDir
    private Path folder;

    private String path = System.getenv("PATH");

    @Test
    void ferroIsMeasuredWithoutAnyPeerInstalled() throws Exception {
        String printed = compare(0, "--ferro", "tcp", "--peers", "none", "--collectives", "alltoall,barrier");

        assertTrue(printed.contains("### alltoall, 2 ranks, ferro-tcp@"), printed);
        assertTrue(printed.contains("### barrier, 2 ranks, ferro-tcp@"), printed);
        List<String> lines = Files.readAllLines(folder.resolve("raw.csv"));
        assertEquals(4, lines.size(), lines::toString);
    }

    @Test
    void anInstalledPeerIsMeasuredBesideFerro() throws Exception {
        assumeTrue(
                compare(0, "--list").lines().anyMatch("gloo-tcp: here"::equals),
                "Gloo is not installed: libgloo-dev, g++");

        compare(0, "--ferro", "tcp", "--peers", "gloo-tcp", "--collectives", "reduce");

        Pattern ratio = Pattern.compile("2,reduce,65536,ferro-tcp@\\d+,gloo-tcp,(near|far),1,.*");
        String raw = Files.readString(folder.resolve("raw.csv"));
        assertTrue(raw.contains(",2,reduce,65536,gloo-tcp,0,"), raw);
        // a machine that changed its state meanwhile gives no ratio, which is right
        List<String> ratios = Files.readAllLines(folder.resolve("ratios.csv"));
        assertTrue(
                ratios.stream().skip(1).allMatch(line -> ratio.matcher(line).matches() || line.contains(",4,")),
                ratios::toString);
    }

    @Test
    void unknownArgumentsAreNamedBeforeAnythingStarts() throws Exception {
        assertTrue(compare(2, "--peers", "nccl-shm").contains("no peer \"nccl-shm\""));
        assertTrue(compare(2, "--speed", "9").contains("no option \"--speed\""));
    }

    @Test
    void anMpiWithoutItsHeadersIsListedAsMissing() throws Exception {
        // as the package openmpi-bin leaves it: a command that cannot compile
        Path commands = Files.createDirectory(folder.resolve("commands"));
        command(commands.resolve("mpirun.openmpi"), "exit 0");
        command(commands.resolve("mpicxx.openmpi"), "exit 1");
        path = commands + ":" + path;

        String listed = compare(0, "--list");

        String row = "openmpi-shm: missing \\(apt-get install\\) libopenmpi-dev( g\\+\\+)?";
        assertTrue(listed.lines().anyMatch(line -> line.matches(row)), listed);
        assertFalse(listed.contains("openmpi-bin"), listed);
    }

    @Test
    void aCloneThatIsSlowerInEachRoundIsMeasuredAgain() throws Exception {
        BenchmarkScript script = new BenchmarkScript(SCRIPT.resolveSibling("compare-clones.sh"), folder);
        List<String> clones = new ArrayList<>();
        // one size takes as long as is said, another longer from round to round, but in the median as long as before
        for (String micros : List.of("10 10 0", "10.6 6 1", "10.1 6 1", "10.6 5 1")) {
            Path clone = Files.createDirectories(folder.resolve(micros + "/benchmarks"));
            command(clone.resolve("compare.sh"), """
                    # --rounds 1 --peers none --out FOLDER
                    mkdir -p $6 && touch $6/raw.csv
                    lines=$(wc -l <$6/raw.csv)
                    echo r,2,scan,64,ferro-tcp@17,0,1,%s,1 >>$6/raw.csv
                    echo r,2,scan,4,ferro-tcp@17,0,1,$((%s + lines * %s)),1 >>$6/raw.csv
                    """.formatted((Object[]) micros.split(" ")));
            clones.add(clone.getParent().toString());
        }

        String slower = script.run(1, path, List.of(clones.get(0), clones.get(1), folder + "/slower"));
        String equal = script.run(0, path, List.of(clones.get(0), clones.get(2), folder + "/equal"));

        // one size is slower, and the row is not
        assertTrue(script.run(1, path, List.of(clones.get(0), clones.get(3), folder + "/cell"))
                .contains("tcp@17: 0.9"));
        assertTrue(slower.contains("2,scan,ferro-tcp@17: 1.030 of 2 sizes, ABOVE 1.02\nagain,2,scan,"), slower);
        Path again = folder.resolve("slower/scan-64-ferro-tcp@17/after/raw.csv");
        assertEquals(20, Files.readAllLines(again).size());
        assertEquals("2,scan,ferro-tcp@17: 1.005 of 2 sizes\n", equal);
        assertTrue(script.run(2, path, List.of(clones.get(0), "none", "any")).startsWith("usage: "));
    }

    private static void command(Path file, String line) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + line + "\n");
        assertTrue(file.toFile().setExecutable(true));
    }

    private String compare(int expected, String... words) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(
                List.of("--out", folder.toString(), "--rounds", "1", "--sizes", "4,64KiB", "--time", "1ms"));
        all.addAll(List.of(words));
        return new BenchmarkScript(SCRIPT, folder).run(expected, path, all);
    }
}
