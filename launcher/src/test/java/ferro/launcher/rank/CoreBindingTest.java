package ferro.launcher.rank;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.launcher.program.ProgramFinder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CoreBindingTest {
    private static final CoreBinding.UsableCores FOUR = new CoreBinding.UsableCores(4, List.of(0, 1, 6, 7));

    @TempDir
    private Path folder;

    private ProgramFinder programs;

    @BeforeEach
    void makeTaskset() throws IOException {
        Path taskset = Files.createFile(folder.resolve("taskset"));
        taskset.toFile().setExecutable(true);
        programs = new ProgramFinder(folder.toString());
    }

    @Test
    void ranksGetEqualSlicesOfTheCoresThatWeMayUse() {
        CoreBinding binding = CoreBinding.of(2, true, programs, FOUR);

        assertEquals(List.of("taskset", "-c", "6,7", "java", "Main"), binding.wrap(1, List.of("java", "Main")));
        assertEquals("bound to 2 cores each", binding.reason());
    }

    @Test
    void moreRanksThanCoresAreNotBound() {
        CoreBinding binding = CoreBinding.of(5, true, programs, FOUR);

        assertEquals(List.of("java"), binding.wrap(4, List.of("java")));
        assertEquals("not bound (ranks > cores)", binding.reason());
    }

    @Test
    void theStartLineHasTheReasonWhyRanksAreNotBound() {
        ProgramFinder none = new ProgramFinder(folder + "/none");

        assertEquals("not bound (--no-bind)", reason(2, false, programs));
        assertEquals("not bound (only one rank)", reason(1, true, programs));
        assertEquals("not bound (no taskset on this machine)", reason(2, true, none));
    }

    private static String reason(int ranks, boolean binds, ProgramFinder programs) {
        return CoreBinding.of(ranks, binds, programs, FOUR).reason();
    }

    @Test
    void launchersOfOneMachineGetDifferentCores() {
        CoreBinding first = CoreBinding.of(2, true, programs, FOUR.part(0, 2));
        CoreBinding second = CoreBinding.of(2, true, programs, FOUR.part(1, 2));

        assertEquals(List.of("0", "1"), first.slices());
        assertEquals(List.of("6", "7"), second.slices());
        assertEquals("bound to a core each", second.reason());
    }

    @Test
    void launchersOfOneMachineWithFewerCoresThanRanksBindNone() {
        CoreBinding binding = CoreBinding.of(2, true, programs, FOUR.part(1, 3));

        assertEquals(List.of(), binding.slices());
        assertEquals("not bound (ranks of 3 nodes on this machine > cores)", binding.reason());
    }
}
