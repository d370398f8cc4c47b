package ferro.backend.nccl.ffi;

import static ferro.backend.nccl.ffi.ForkedJvm.value;
import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What is loaded, from where, and what is said when that does not work; each in a JVM of its own. */
@Tag("long")
@ExtendWith(StandIn.class)
class LoadingTest {
    private static final String NCCL = "ferro.nccl.library";
    private static final String CUDART = "ferro.cudart.library";

    @TempDir
    private Path folder;

    private ForkedJvm jvm() {
        return new ForkedJvm(folder);
    }

    private ForkedJvm jvm(Object nccl, Object runtime) {
        return jvm().setting(NCCL, nccl).setting(CUDART, runtime);
    }

    private static String real(Path path) throws IOException {
        return path.toRealPath().toString();
    }

    /** Both libraries in one folder, as a package leaves them. */
    private Path copyOfBoth(Path to) throws IOException {
        Files.createDirectories(to);
        Files.copy(StandIn.nccl(), to.resolve("libnccl.so.2"));
        Files.copy(StandIn.runtime(), to.resolve("libcudart.so.12"));
        return to;
    }

    @Test
    @DisplayName("3-10 T8: a pair of libraries is loaded by path, hidden from others, and never unloaded")
    void aNamedPairIsLoadedForGood() throws Exception {
        List<String> lines = jvm(StandIn.nccl(), StandIn.runtime()).run("load", "global", "collect");

        assertEquals(real(StandIn.nccl()), value(lines, "nccl"));
        assertEquals(real(StandIn.runtime()), value(lines, "runtime"));
        assertEquals("CUDA", value(lines, "prefix"));
        assertEquals("2.28.9", value(lines, "version"));
        assertEquals("false", value(lines, "global"));
        assertEquals("22809", value(lines, "still"));
    }

    @Test
    @DisplayName("3-24 T8: making an id loads the library, which stays open when nobody holds anything of it")
    void makingAnIdKeepsTheLibraryOpen() throws Exception {
        List<String> lines = jvm(StandIn.nccl(), StandIn.runtime()).run("mapped", "id", "collect");

        assertEquals(List.of("mapped: false", "zero: false", "mapped: true", "still: 22809"), lines);
    }

    @Test
    @DisplayName("T8: a library stays open also where the load then failed")
    void aLibraryStaysOpenAfterAFailedLoad() throws Exception {
        List<String> lines = jvm(StandIn.nccl(), "/nowhere/libcudart.so")
                .run("load", "mapped", CUDART + "=" + StandIn.runtime(), "load", "mapped");

        assertSays(value(lines, "CudaRuntimeNotFoundException"), "/nowhere/libcudart.so");
        assertEquals(2, lines.stream().filter("mapped: true"::equals).count(), lines.toString());
        assertEquals("2.28.9", value(lines, "version"));
    }

    @Test
    @DisplayName("2-23 3-12: RCCL and HIP work by the same code, under their own names")
    void hipIsLoadedByTheSameCode() throws Exception {
        List<String> lines = jvm().setting("jna.library.path", StandIn.folder().resolve("hip"))
                .run("load", "look", "copy");

        assertEquals("HIP", value(lines, "prefix"));
        assertTrue(value(lines, "nccl").endsWith("hip/librccl.so.1"), lines.toString());
        assertTrue(value(lines, "runtime").endsWith("hip/libamdhip64.so"), lines.toString());
        assertEquals("none", value(lines, "reason"));
        assertEquals("true", value(lines, "pinned"));
        assertEquals("7 -8 9", value(lines, "copied"));
        assertTrue(value(lines, "CudaException").startsWith("hipMalloc failed: CUDA error (code 2)"), lines.toString());
    }

    @Test
    @DisplayName("3-11 3-12 2-24: jna.library.path comes before the usual names")
    void theUsersFoldersComeFirst() throws Exception {
        List<String> lines =
                jvm().setting("jna.library.path", ":" + StandIn.folder() + ":").run("load");

        assertTrue(value(lines, "nccl").startsWith(StandIn.folder().toString()), lines.toString());
        assertTrue(value(lines, "runtime").startsWith(StandIn.folder().toString()), lines.toString());
    }

    @Test
    @DisplayName("3-11: libraries of conda and of pip's packages are found")
    void librariesOfCondaAndPipAreFound() throws Exception {
        Path conda = folder.resolve("conda");
        copyOfBoth(conda.resolve("lib"));
        Path venv = folder.resolve("venv");
        Path wheel = copyOfBoth(venv.resolve("lib/python3.12/site-packages/nvidia/nccl/lib"));
        assumeTrue(notInstalled("libnccl.so.2"), "an NCCL of the system would be found first");

        assertEquals(
                real(conda.resolve("lib/libnccl.so.2")),
                value(
                        jvm().setting("CONDA_PREFIX", conda)
                                .setting(CUDART, StandIn.runtime())
                                .run("load"),
                        "nccl"));
        assertEquals(
                real(wheel.resolve("libnccl.so.2")),
                value(
                        jvm().setting("VIRTUAL_ENV", venv)
                                .setting(CUDART, StandIn.runtime())
                                .run("load"),
                        "nccl"));
    }

    private static boolean notInstalled(String name) {
        return List.of(
                        "/usr/lib/x86_64-linux-gnu",
                        "/usr/lib/aarch64-linux-gnu",
                        "/usr/local/lib",
                        "/usr/lib",
                        "/usr/lib64")
                .stream()
                .noneMatch(identity -> Files.exists(Path.of(identity, name)));
    }

    @Test
    @DisplayName("3-11: the current directory is never searched, and a relative name is refused")
    void theCurrentDirectoryIsNeverSearched() throws Exception {
        copyOfBoth(folder);
        assumeTrue(notInstalled("libnccl.so.2"), "an NCCL of the system would be found");

        assertSays(value(jvm().run("load"), "NcclLibraryNotFoundException"), "libnccl.so.2 not found");
        for (String relative : List.of("./libnccl.so.2", "../x/libnccl.so.2", "lib/libnccl.so.2")) {
            List<String> refused = jvm().setting(NCCL, relative).run("load", "look");
            assertSays(value(refused, "IllegalArgumentException"), NCCL + "=" + relative, "current directory");
            assertSays(value(refused, "reason"), NCCL + "=" + relative, "absolute path or a plain library name");
        }
    }

    @Test
    @DisplayName("3-11: a relative folder is refused, since JNA would look there for plain names")
    void aRelativeLibraryFolderIsRefused() throws Exception {
        copyOfBoth(folder.resolve("here"));
        for (String path : List.of("here", ".", StandIn.folder() + ":here")) {
            List<String> lines = jvm().setting("jna.library.path", path)
                    .option("-Djna.library.path=" + path)
                    .run("load", "look", "memory");
            for (String what : List.of("IllegalArgumentException", "reason", "memory")) {
                assertSays(value(lines, what), "jna.library.path", "relative folder", "current directory");
            }
        }
    }

    @Test
    @DisplayName("3-11: a library that lies on the class path is not unpacked and loaded")
    void theClassPathIsNotSearched() throws Exception {
        Path onClassPath = copyOfBoth(folder.resolve("classes/linux-x86-64"));
        Files.copy(
                StandIn.nccl(),
                Files.createDirectories(folder.resolve("classes/nowhere")).resolve("libnccl.so.2"));
        assumeTrue(notInstalled("libnccl.so.2"), "an NCCL of the system would be found");

        List<String> lines = jvm().onClassPath(onClassPath.getParent())
                .setting(CUDART, StandIn.runtime())
                .run("load", "look", NCCL + "=/nowhere/libnccl.so.2", "load");

        assertSays(value(lines, "NcclLibraryNotFoundException"), "libnccl.so.2 not found");
        assertTrue(lines.stream().noneMatch(line -> line.startsWith("nccl: ")), lines.toString());
    }

    @Test
    @DisplayName("3-10 2-23: an NCCL is refused that does not go with the runtime, which was loaded first or is named")
    void anNcclThatDoesNotFitTheRuntimeIsRefused() throws Exception {
        Path rccl = StandIn.folder().resolve("hip/librccl.so.1");
        Path hip = StandIn.folder().resolve("hip/libamdhip64.so");

        List<String> lines = jvm().run(
                        CUDART + "=" + StandIn.runtime(),
                        "memory",
                        NCCL + "=" + rccl,
                        "load",
                        "look",
                        NCCL + "=" + StandIn.nccl(),
                        "load");
        List<String> swapped = jvm(StandIn.nccl(), hip).run("load");

        assertSays(value(lines, "IllegalStateException"), real(rccl), "CUDA runtime", "a JVM can load one");
        assertSays(value(lines, "reason"), real(rccl), real(StandIn.runtime()));
        assertEquals(real(StandIn.nccl()), value(lines, "nccl"), "the one that fits is loaded");
        assertSays(value(swapped, "IllegalStateException"), "HIP runtime", real(hip));
    }

    @Test
    @DisplayName(
            "3-12 3-16 2-27: with both missing NCCL is what is missing; everything tried is listed with the loader's words")
    void everythingTriedIsListed() throws Exception {
        assumeTrue(notInstalled("libnccl.so.2"), "an NCCL of the system would be found");

        List<String> lines = jvm().setting(CUDART, "/nowhere/libcudart.so").run("load", "look");

        String message = value(lines, "NcclLibraryNotFoundException");
        assertSays(message, "NCCL library", "libnccl.so.2", "not found", "-Dferro.nccl.library", "FERRO_NCCL_LIBRARY");
        List<String> tried =
                lines.stream().filter(line -> line.startsWith("tried: ")).toList();
        for (String identity : List.of(
                "libnccl.so.2",
                "/usr/lib/x86_64-linux-gnu/libnccl.so.2",
                "/usr/local/lib/libnccl.so.2",
                "librccl.so.1")) {
            assertTrue(
                    tried.stream().anyMatch(line -> line.startsWith("tried: " + identity + " | ")), tried.toString());
            assertSays(message, identity);
        }
        assertTrue(tried.stream().allMatch(line -> line.contains("cannot open shared object file")), tried.toString());
    }

    @Test
    @DisplayName("3-16: a library that is named and does not load is an error, and no other takes its place")
    void aNamedLibraryIsNeverReplaced() throws Exception {
        Path text = Files.writeString(folder.resolve("libnccl.so.2"), "this is no library");

        List<String> missing = jvm().setting(NCCL, "/nowhere/libnccl.so.2")
                .setting("jna.library.path", StandIn.folder())
                .run("load", "look");
        List<String> wrong = jvm().setting(NCCL, text).run("load");
        List<String> runtime = jvm(StandIn.nccl(), "/nowhere/libcudart.so").run("load", "memory");

        assertSays(value(missing, "NcclLibraryNotFoundException"), "/nowhere/libnccl.so.2", "No such file");
        assertEquals(
                1, missing.stream().filter(line -> line.startsWith("tried: ")).count());
        assertSays(value(wrong, "NcclLibraryNotFoundException"), text.toString(), "file too short");
        assertSays(
                value(runtime, "CudaRuntimeNotFoundException"),
                "CUDA runtime library",
                "libcudart.so",
                "/nowhere/libcudart.so",
                "FERRO_CUDART_LIBRARY");
        assertSays(value(runtime, "memory"), "/nowhere/libcudart.so");
    }

    @Test
    @DisplayName("3-13 2-27: every function that is missing is named, with the library that lacks it")
    void missingFunctionsAreNamed() throws Exception {
        Path broken = StandIn.folder().resolve("broken/libnccl.so.2");
        List<String> one = jvm(broken, StandIn.runtime()).run("load", "look");
        List<String> swapped = jvm(StandIn.runtime(), StandIn.nccl()).run("load");

        assertSays(value(one, "NcclSymbolNotFoundException"), "Symbol not found", broken + " lacks ncclGroupEnd;");
        assertSays(value(one, "reason"), "ncclGroupEnd");
        assertSays(value(swapped, "NcclSymbolNotFoundException"), "ncclAllReduce, ", "ncclGetVersion, ");
    }

    @Test
    @DisplayName("2-25 3-13: functions that came later are capabilities; without them the library serves all the same")
    void olderLibrariesServe() throws Exception {
        List<String> old = jvm(StandIn.folder().resolve("old/libnccl.so.2"), StandIn.runtime())
                .run("load", "look");
        List<String> older = jvm(StandIn.folder().resolve("older/libnccl.so.2"), StandIn.runtime())
                .run("load", "look");

        assertEquals("2.7.8", value(old, "version"));
        assertEquals("none", value(old, "reason"));
        assertFalse(value(old, "lacks").contains("ncclSend"), old.toString());
        assertSays(value(old, "lacks"), "ncclCommInitRankConfig", "ncclGetLastError", "ncclAlltoAll");
        assertEquals("2.4.8", value(older, "version"));
        assertEquals("none", value(older, "reason"));
        assertSays(value(older, "lacks"), "ncclSend and ncclRecv (NCCL >= 2.7.3)");
    }

    @Test
    @DisplayName("3-10: a second context may name the same libraries, but no others")
    void oneProcessHasOnePair() throws Exception {
        Path link = Files.createSymbolicLink(folder.resolve("same.so"), StandIn.nccl());

        List<String> lines = jvm().run(
                        NCCL + "=" + StandIn.nccl(),
                        CUDART + "=" + StandIn.runtime(),
                        "load",
                        NCCL + "=" + link,
                        "load",
                        NCCL + "=" + StandIn.folder().resolve("old/libnccl.so.2"),
                        "load",
                        "look",
                        NCCL + "=" + link,
                        CUDART + "=/nowhere/libcudart.so",
                        "load",
                        "memory");

        Files.delete(link);
        assertEquals(2, lines.stream().filter(line -> line.startsWith("nccl: ")).count(), lines.toString());
        List<String> refused = lines.stream()
                .filter(line -> line.startsWith("IllegalStateException: "))
                .toList();
        assertEquals(2, refused.size(), lines.toString());
        assertSays(refused.get(0), real(StandIn.nccl()), "old/libnccl.so.2", "a JVM can load one NCCL");
        assertSays(refused.get(1), real(StandIn.runtime()), "/nowhere/libcudart.so");
        assertSays(value(lines, "reason"), "old/libnccl.so.2");
        assertSays(value(lines, "memory"), "/nowhere/libcudart.so");
    }

    @Test
    @DisplayName("2-23 0-08: device memory needs the runtime only")
    void deviceMemoryWorksWithoutNccl() throws Exception {
        List<String> lines = jvm("/nowhere/libnccl.so.2", StandIn.runtime())
                .run("memory", "copy", "look", NCCL + "=" + StandIn.nccl(), "load");

        assertEquals("Optional.empty", value(lines, "memory"));
        assertEquals("7 -8 9", value(lines, "copied"));
        assertSays(value(lines, "reason"), "/nowhere/libnccl.so.2");
        assertEquals("2.28.9", value(lines, "version"));
    }

    @Test
    @DisplayName("2-31 3-12: the real CUDA runtime of this machine says why it cannot be used")
    void theRealRuntimeSaysWhy() throws Exception {
        // the runtime first: loaded after the stand-in's NCCL, its runtime would be taken for the one asked for
        List<String> lines = jvm().setting(NCCL, StandIn.nccl()).run("memory", "load", "look");
        assumeTrue(!value(lines, "memory").contains("library libcudart.so not found"), "there is no CUDA runtime here");
        assumeTrue(!value(lines, "memory").equals("Optional.empty"), "this machine has a GPU");

        assertSays(value(lines, "reason"), value(lines, "runtime"), "CUDA error (code ");
        assertSays(value(lines, "memory"), value(lines, "reason"));
        boolean driver = value(lines, "reason").contains("driver found by the CUDA runtime")
                && value(lines, "reason").contains("install the driver");
        boolean device = value(lines, "reason").contains("no device found by the CUDA runtime");
        boolean tooOld = value(lines, "reason").contains("update the driver");
        assertTrue(driver || device || tooOld, lines.toString());
        assertEquals("0", value(lines, "devices"));
    }

    @Test
    @DisplayName("2-23: without JNA, or where JNA may not work, there is a reason and no crash")
    void withoutJnaThereIsAReason() throws Exception {
        List<String> absent = jvm().withoutJna().run("look", "memory");
        List<String> unwritable =
                jvm().setting(NCCL, StandIn.nccl()).option("-Djna.tmpdir=/proc").run("look", "look", "memory");

        assertSays(value(absent, "reason"), "JNA", "put jna.jar on the class path");
        assertSays(value(absent, "memory"), "JNA", "put jna.jar on the class path");
        assertSays(value(unwritable, "reason"), "JNA", "-Djna.tmpdir");
        assertSays(value(unwritable, "memory"), "JNA", "-Djna.tmpdir");
    }

    @Test
    @DisplayName("2-23: where native access is denied there is a reason that names the option")
    void deniedNativeAccessIsAReason() throws Exception {
        assumeTrue(Runtime.version().feature() >= 24, "this JDK has no way to deny native access");

        List<String> lines = jvm().option("--illegal-native-access=deny").run("look", "load", "memory");

        assertSays(value(lines, "reason"), "Illegal native access", "--enable-native-access=ALL-UNNAMED");
        assertSays(value(lines, "memory"), "--enable-native-access=ALL-UNNAMED");
    }
}
