package ferro.backend.nccl;

import static ferro.harness.Says.assertSays;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.nccl.device.CudaStream;
import ferro.backend.nccl.device.NcclAvailability;
import ferro.backend.nccl.ffi.Cuda;
import ferro.backend.nccl.ffi.Nccl;
import ferro.backend.nccl.ffi.ResultChecker;
import ferro.backend.nccl.ffi.StandIn;
import ferro.backend.nccl.ffi.StandInHooks;
import ferro.backend.nccl.memory.CudaMemoryProvider;
import ferro.group.SystemContext;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(StandIn.class)
class NcclErrorsTest {

    @Test
    @DisplayName("test_nccl_error_display: 3-16 2-27 decision 13: each kind of failure has its words and its values")
    void eachKindOfFailureHasItsWords() {
        List<LibraryLoadFailure> tried = List.of(
                new LibraryLoadFailure("/a/lib.so", "no such file"), new LibraryLoadFailure("b", "wrong ELF class"));
        NcclLibraryNotFoundException library = new NcclLibraryNotFoundException(tried);
        CudaRuntimeNotFoundException runtime = new CudaRuntimeNotFoundException(tried);
        NcclSymbolNotFoundException symbol =
                new NcclSymbolNotFoundException("/a/lib.so", List.of("ncclGroupEnd", "ncclReduce"));
        NcclException nccl = ResultChecker.failure(5, "ncclAllReduce");
        CudaException cuda = ResultChecker.cudaFailure(100, "cudaSetDevice");

        assertSays(library, "NCCL library", "libnccl.so.2", "not found", "/a/lib.so (no such file)", "wrong ELF class");
        assertSays(library, "-Dferro.nccl.library", "FERRO_NCCL_LIBRARY");
        assertSays(runtime, "CUDA runtime library", "libcudart.so", "not found", "/a/lib.so (no such file)");
        assertSays(runtime, "-Dferro.cudart.library", "FERRO_CUDART_LIBRARY");
        assertSays(symbol, "Symbol not found", "/a/lib.so", "ncclGroupEnd", "ncclReduce");
        assertSays(nccl, "ncclAllReduce failed", "NCCL error ncclInvalidUsage (5)", "invalid usage");
        assertSays(cuda, "cudaSetDevice failed", "CUDA error (code 100)", "cudaErrorNoDevice");
        assertEquals(tried, library.tried());
        assertEquals(tried, runtime.tried());
        assertEquals(List.of("ncclGroupEnd", "ncclReduce"), symbol.symbols());
        assertEquals(NcclResult.INVALID_USAGE, nccl.result());
        assertEquals(100, cuda.cudaCode());
        assertEquals("cudaSetDevice", cuda.call());
        for (FerroException failure : List.of(library, runtime, symbol, nccl, cuda)) {
            assertEquals(Code.NATIVE, failure.code());
        }
    }

    @ParameterizedTest
    @DisplayName("3-15 T15: a code that nobody knows yet has a message too")
    @ValueSource(ints = {9, 4711, -3})
    void unknownCodesHaveAMessage(int code) {
        NcclException failure = ResultChecker.failure(code, "ncclReduce");

        assertSays(failure, "ncclReduce failed", "Unknown NCCL error: " + code);
        assertEquals(code, failure.result().code());
        assertSays(ResultChecker.cudaFailure(code, "cudaFree"), "cudaFree failed", "CUDA error (code " + code + ")");
    }

    @Test
    @DisplayName("3-15: what ncclGetLastError says stands in the message and beside it")
    void lastWordsStandInTheMessage() {
        NcclException failure =
                assertThrows(NcclException.class, () -> ResultChecker.nccl(Nccl.ncclGroupEnd(), "ncclGroupEnd"));

        assertEquals(NcclResult.INVALID_USAGE, failure.result());
        assertSays(failure, "ncclGroupEnd failed", failure.lastError());
        assertTrue(failure.lastError().length() > 3, failure.lastError());
    }

    @Test
    @DisplayName("3-17: one check per library throws for every code but success")
    void oneCheckPerLibrary() {
        assertDoesNotThrow(() -> ResultChecker.nccl(0, "ncclReduce"));
        assertDoesNotThrow(() -> ResultChecker.cuda(0, "cudaFree"));
        for (int code = 1; code <= 9; code++) {
            int answer = code;
            assertThrows(NcclException.class, () -> ResultChecker.nccl(answer, "ncclReduce"));
        }
    }

    @Test
    @DisplayName("3-17: a failed call leaves no last error behind, which NCCL would take for its own")
    void aFailedCallLeavesNoLastError() {
        assertThrows(CudaException.class, () -> ResultChecker.cuda(Cuda.cudaSetDevice(99), "cudaSetDevice"));

        assertEquals(Cuda.SUCCESS, Cuda.cudaGetLastError());
    }

    @Test
    @DisplayName("3-16: running out of device memory is RESOURCE, everything else NATIVE")
    void outOfMemoryIsAResource() {
        assertEquals(Code.RESOURCE, ResultChecker.cudaFailure(2, "cudaMalloc").code());
        assertEquals(Code.NATIVE, ResultChecker.cudaFailure(700, "cudaMalloc").code());
    }

    @Test
    @DisplayName("3-34: as part of an operation a failure keeps its kind, its values and its cause")
    void anOperationKeepsTheFailure() {
        Where where = Where.of("dp", 3);
        NcclException nccl = ResultChecker.failure(6, "ncclAllReduce");
        CudaException cuda = ResultChecker.cudaFailure(2, "cudaMalloc");

        NcclException during = nccl.during(where, "NCCL allreduce");
        CudaException inside = cuda.during(where, "GPU alloc");

        assertSays(during, "NCCL allreduce failed: ncclAllReduce failed", "ncclRemoteError (6)");
        assertSame(nccl, during.getCause());
        assertEquals(NcclResult.REMOTE_ERROR, during.result());
        assertEquals(where, during.where());
        assertSays(inside, "GPU alloc failed: cudaMalloc failed");
        assertSame(cuda, inside.getCause());
        assertEquals(Code.RESOURCE, inside.code());
    }

    @Test
    @DisplayName("decision 8 T18: what a failed call left in its out-parameter is not looked at")
    void outParametersOfFailedCallsAreNotRead() {
        StandInHooks.standInDevices(-1);
        int[] count = new int[1];
        assertEquals(Cuda.INSUFFICIENT_DRIVER, Cuda.cudaGetDeviceCount(count));
        assertEquals(99, count[0], "a number of devices that would do");
        StandInHooks.standInFailNext("cudaDriverGetVersion", 0, 999);

        NcclAvailability found = NcclAvailability.look(SystemContext.of(StandIn.settings()));

        assertEquals(0, found.devices());
        assertSays(found.unavailableBecause().orElseThrow(), "code 35", "no driver found");
    }

    @Test
    @DisplayName("2-31: loadable is not usable; no driver and no device are reasons that say what to do")
    void reasonsSayWhatToDo() {
        SystemContext context = SystemContext.of(StandIn.settings());
        assertTrue(NcclAvailability.unavailableBecause(context).isEmpty());
        assertEquals(4, NcclAvailability.look(context).devices());
        assertEquals(
                "2.28.9", NcclAvailability.look(context).version().orElseThrow().toString());

        StandInHooks.standInDevices(0);
        String none = NcclAvailability.unavailableBecause(context).orElseThrow();
        assertSays(none, "no device found", "CUDA_VISIBLE_DEVICES", "code 100");
        assertEquals(none, NcclAvailability.memoryUnavailableBecause(context).orElseThrow());

        StandInHooks.standInDevices(-1);
        assertSays(NcclAvailability.unavailableBecause(context).orElseThrow(), "driver", "code 35");

        StandInHooks.standInDevices(4);
        StandInHooks.standInStickyError(700);
        assertSays(NcclAvailability.unavailableBecause(context).orElseThrow(), "cannot count devices", "code 700");
        assertEquals(700, ((CudaException) assertThrows(FerroException.class, () -> CudaStream.create(0))).cudaCode());
        StandInHooks.standInStickyError(0);
        StandInHooks.standInDevices(0);
        FerroException refused = assertThrows(FerroException.class, () -> new CudaMemoryProvider().open(context));
        assertSays(refused, "no device memory", "no device found");
    }
}
