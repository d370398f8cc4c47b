package ferro.backend.nccl.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the libraries are looked for; nothing is loaded here. */
class LibraryLocationsTest {
    private static final LibraryLocations PLAIN =
            new LibraryLocations(Optional.empty(), Optional.empty(), List.of(), List.of());

    @TempDir
    private Path folder;

    private static void assertOrder(List<String> candidates, String... wanted) {
        assertEquals(
                List.of(wanted),
                candidates.stream()
                        .filter(candidate -> List.of(wanted).contains(candidate))
                        .toList(),
                candidates.toString());
    }

    private Path file(String path) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        return Files.createFile(file);
    }

    @Test
    @DisplayName("3-11: NCCL is looked for by its soname, in the system's folders, by its plain name, then as RCCL")
    void ncclIsLookedForInOrder() {
        assertOrder(
                PLAIN.nccl(),
                "libnccl.so.2",
                "/usr/lib/x86_64-linux-gnu/libnccl.so.2",
                "/usr/lib/aarch64-linux-gnu/libnccl.so.2",
                "/usr/local/lib/libnccl.so.2",
                "/usr/lib/libnccl.so.2",
                "libnccl.so",
                "librccl.so.1");
    }

    @Test
    @DisplayName("3-12 2-24: the runtime is looked for by versioned names before the plain one, 13 included")
    void theRuntimeIsLookedForInOrder() {
        assertOrder(
                PLAIN.runtime("libnccl.so.2"),
                "libcudart.so.12",
                "libcudart.so.13",
                "libcudart.so",
                "libcudart.so.11.0",
                "/usr/local/cuda/lib64/libcudart.so",
                "/usr/lib/x86_64-linux-gnu/libcudart.so");
        assertOrder(PLAIN.runtime("/opt/rocm/lib/librccl.so.1"), "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so");
        assertTrue(PLAIN.runtime("librccl.so.1").stream().noneMatch(candidate -> candidate.contains("cudart")));
        assertOrder(PLAIN.runtime(), "libcudart.so.12", "libcudart.so", "libamdhip64.so");
    }

    @Test
    @DisplayName("3-11: every candidate is an absolute path or a plain name")
    void noCandidateIsRelative() {
        List<String> all = Stream.of(PLAIN.nccl(), PLAIN.runtime(), PLAIN.runtime("librccl.so.1"))
                .flatMap(List::stream)
                .toList();

        for (String candidate : all) {
            assertTrue(candidate.startsWith("/") || candidate.indexOf('/') < 0, candidate);
        }
    }

    @Test
    @DisplayName("3-11 3-12: a library that is named is the only candidate")
    void aNamedLibraryIsTheOnlyCandidate() {
        LibraryLocations named = new LibraryLocations(
                Optional.of("/opt/nccl/libnccl.so.2"),
                Optional.of("libcudart.so.13"),
                List.of(folder),
                List.of(folder));

        assertEquals(List.of("/opt/nccl/libnccl.so.2"), named.nccl());
        assertEquals(List.of("libcudart.so.13"), named.runtime());
        assertEquals(List.of("libcudart.so.13"), named.runtime("librccl.so.1"));
    }

    @Test
    @DisplayName("3-11 3-12: what lies in the user's folders comes first, in their order")
    void theUsersFoldersComeFirst() throws IOException {
        Path second = file("b/libnccl.so.2");
        Path first = file("a/librccl.so.1");
        Path runtime = file("b/libcudart.so.13");

        LibraryLocations search = new LibraryLocations(
                Optional.empty(), Optional.empty(), List.of(folder.resolve("a"), folder.resolve("b")), List.of());

        assertEquals(List.of(first.toString(), second.toString()), search.nccl().subList(0, 2));
        assertEquals(runtime.toString(), search.runtime("libnccl.so.2").get(0));
    }

    @ParameterizedTest
    @DisplayName("3-11 3-12: conda's and pip's places are searched after the system's")
    @CsvSource({
        "lib/libnccl.so.2, true",
        "lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2, true",
        "lib/python3/dist-packages/nvidia/nccl/lib/libnccl.so.2, true",
        "lib/libcudart.so.12, false",
        "lib/python3.10/site-packages/nvidia/cuda_runtime/lib/libcudart.so.12, false",
        "lib/python3.13/site-packages/nvidia/cu13/lib/libcudart.so.13, false"
    })
    void librariesOfCondaAndPipAreSearched(String path, boolean nccl) throws IOException {
        Path file = file(path);
        LibraryLocations search = new LibraryLocations(Optional.empty(), Optional.empty(), List.of(), List.of(folder));

        List<String> candidates = nccl ? search.nccl() : search.runtime("libnccl.so.2");

        assertOrder(candidates, nccl ? "libnccl.so.2" : "libcudart.so.12", file.toString());
        assertTrue(new LibraryLocations(Optional.empty(), Optional.empty(), List.of(), List.of(folder.resolve("none")))
                .nccl()
                .contains("libnccl.so.2"));
    }

    @ParameterizedTest
    @DisplayName("3-12: one table says what a function is called under the other prefix")
    @CsvSource({
        "cudaMalloc, cudaMalloc, hipMalloc",
        "cudaHostAlloc, cudaHostAlloc, hipHostMalloc",
        "cudaFreeHost, cudaFreeHost, hipHostFree",
        "cudaMemcpyAsync D2H, cudaMemcpyAsync D2H, hipMemcpyAsync D2H",
        "ncclReduce, ncclReduce, ncclReduce"
    })
    void functionsOfHipHaveItsPrefix(String function, String cuda, String hip) {
        assertEquals(cuda, GpuRuntime.CUDA.nameOf(function));
        assertEquals(hip, GpuRuntime.HIP.nameOf(function));
    }
}
