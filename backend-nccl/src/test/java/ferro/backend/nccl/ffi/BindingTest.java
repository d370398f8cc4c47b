package ferro.backend.nccl.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every C function gets its arguments in the order of its header. */
@ExtendWith(StandIn.class)
class BindingTest {
    /** More than an int holds. */
    private static final long COUNT = 5_000_000_000L;

    /** What the functions answer here instead of doing anything. */
    private static final int PLANNED = 4;

    private static final NcclIdStruct.ByValue ID = id();

    /**
     * A call, and what the library must see: {@code *} is an address that we do not know.
     *
     * @param function  C function
     * @param call      with values that differ
     * @param arguments as the stand-in writes them down
     */
    record Call(String function, IntSupplier call, String arguments) {
        @Override
        public String toString() {
            return function;
        }
    }

    private static NcclIdStruct.ByValue id() {
        byte[] bytes = new byte[NcclIdStruct.BYTES];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (37 * i + 11);
        }
        return NcclIdStruct.of(bytes);
    }

    /** Folds as standInEcho does. */
    private static int echo(int before, int after) {
        int folded = before;
        for (byte one : ID.internal) {
            folded = 31 * folded + (one & 0xff);
        }
        return 31 * folded + after;
    }

    static Stream<Call> nccl() {
        int id = echo(0, 0);
        return Stream.of(
                new Call("ncclGetVersion", () -> Nccl.ncclGetVersion(new int[1]), "*"),
                new Call("ncclGetUniqueId", () -> Nccl.ncclGetUniqueId(new byte[128]), "*"),
                new Call("ncclCommInitRank", () -> Nccl.ncclCommInitRank(0x10, 4, ID, 3), "0x10,4," + id + ",3"),
                new Call("ncclCommInitAll", () -> Nccl.ncclCommInitAll(0x10, 4, new int[4]), "0x10,4,*"),
                new Call("ncclCommDestroy", () -> Nccl.ncclCommDestroy(0x10), "0x10"),
                new Call("ncclCommAbort", () -> Nccl.ncclCommAbort(0x10), "0x10"),
                new Call("ncclCommGetAsyncError", () -> Nccl.ncclCommGetAsyncError(0x10, new int[1]), "0x10,*"),
                new Call(
                        "ncclReduce",
                        () -> Nccl.ncclReduce(0x10, 0x20, COUNT, 7, 2, 3, 0x30, 0x40),
                        "0x10,0x20,5000000000,7,2,3,0x30,0x40"),
                new Call(
                        "ncclBroadcast",
                        () -> Nccl.ncclBroadcast(0x10, 0x20, COUNT, 7, 3, 0x30, 0x40),
                        "0x10,0x20,5000000000,7,3,0x30,0x40"),
                new Call(
                        "ncclAllReduce",
                        () -> Nccl.ncclAllReduce(0x10, 0x20, COUNT, 7, 2, 0x30, 0x40),
                        "0x10,0x20,5000000000,7,2,0x30,0x40"),
                new Call(
                        "ncclReduceScatter",
                        () -> Nccl.ncclReduceScatter(0x10, 0x20, COUNT, 7, 2, 0x30, 0x40),
                        "0x10,0x20,5000000000,7,2,0x30,0x40"),
                new Call(
                        "ncclAllGather",
                        () -> Nccl.ncclAllGather(0x10, 0x20, COUNT, 7, 0x30, 0x40),
                        "0x10,0x20,5000000000,7,0x30,0x40"),
                new Call("ncclGroupStart", Nccl::ncclGroupStart, ""),
                new Call("ncclGroupEnd", Nccl::ncclGroupEnd, ""));
    }

    static Stream<Call> newerNccl() {
        return Stream.of(
                new Call(
                        "ncclSend",
                        () -> NcclSendRecvFunctions.ncclSend(0x10, COUNT, 7, 3, 0x30, 0x40),
                        "0x10,5000000000,7,3,0x30,0x40"),
                new Call(
                        "ncclRecv",
                        () -> NcclSendRecvFunctions.ncclRecv(0x10, COUNT, 7, 3, 0x30, 0x40),
                        "0x10,5000000000,7,3,0x30,0x40"),
                new Call(
                        "ncclCommInitRankConfig",
                        () -> NcclConfigFunctions.ncclCommInitRankConfig(0x10, 4, ID, 3, 0x50),
                        "0x10,4," + echo(0, 0) + ",3,0x50"),
                new Call("ncclCommFinalize", () -> NcclConfigFunctions.ncclCommFinalize(0x10), "0x10"),
                new Call(
                        "ncclAlltoAll",
                        () -> NcclRootedFunctions.ncclAlltoAll(0x10, 0x20, COUNT, 7, 0x30, 0x40),
                        "0x10,0x20,5000000000,7,0x30,0x40"),
                new Call(
                        "ncclGather",
                        () -> NcclRootedFunctions.ncclGather(0x10, 0x20, COUNT, 7, 3, 0x30, 0x40),
                        "0x10,0x20,5000000000,7,3,0x30,0x40"),
                new Call(
                        "ncclScatter",
                        () -> NcclRootedFunctions.ncclScatter(0x10, 0x20, COUNT, 7, 3, 0x30, 0x40),
                        "0x10,0x20,5000000000,7,3,0x30,0x40"));
    }

    static Stream<Call> cuda() {
        return Stream.of(
                new Call("cudaGetDeviceCount", () -> Cuda.cudaGetDeviceCount(new int[1]), "*"),
                new Call("cudaSetDevice", () -> Cuda.cudaSetDevice(3), "3"),
                new Call("cudaGetDevice", () -> Cuda.cudaGetDevice(new int[1]), "*"),
                new Call("cudaStreamCreateWithFlags", () -> Cuda.cudaStreamCreateWithFlags(new long[1], 1), "*,1"),
                new Call("cudaStreamDestroy", () -> Cuda.cudaStreamDestroy(0x10), "0x10"),
                new Call("cudaStreamWaitEvent", () -> Cuda.cudaStreamWaitEvent(0x10, 0x20, 3), "0x10,0x20,3"),
                new Call("cudaStreamSynchronize", () -> Cuda.cudaStreamSynchronize(0x10), "0x10"),
                new Call("cudaStreamQuery", () -> Cuda.cudaStreamQuery(0x10), "0x10"),
                new Call("cudaEventCreateWithFlags", () -> Cuda.cudaEventCreateWithFlags(new long[1], 2), "*,2"),
                new Call("cudaEventRecord", () -> Cuda.cudaEventRecord(0x10, 0x20), "0x10,0x20"),
                new Call("cudaEventQuery", () -> Cuda.cudaEventQuery(0x10), "0x10"),
                new Call("cudaEventDestroy", () -> Cuda.cudaEventDestroy(0x10), "0x10"),
                new Call("cudaMalloc", () -> Cuda.cudaMalloc(new long[1], COUNT), "*,5000000000"),
                new Call("cudaFree", () -> Cuda.cudaFree(0x10), "0x10"),
                new Call("cudaHostAlloc", () -> Cuda.cudaHostAlloc(new long[1], COUNT, 1), "*,5000000000,1"),
                new Call("cudaFreeHost", () -> Cuda.cudaFreeHost(0x10), "0x10"),
                new Call("cudaMemGetInfo", () -> Cuda.cudaMemGetInfo(new long[1], new long[1]), "*,*"),
                new Call(
                        "cudaMemcpyAsync",
                        () -> Cuda.cudaMemcpyAsync(0x10, 0x20, COUNT, 2, 0x30),
                        "0x10,0x20,5000000000,2,0x30"),
                new Call("cudaDriverGetVersion", () -> Cuda.cudaDriverGetVersion(new int[1]), "*"),
                new Call("cudaRuntimeGetVersion", () -> Cuda.cudaRuntimeGetVersion(new int[1]), "*"));
    }

    @ParameterizedTest(name = "{0}")
    @DisplayName("3-05 3-07 3-08: functions get their arguments in order")
    @MethodSource({"nccl", "newerNccl", "cuda"})
    void argumentsAreInOrder(Call call) {
        StandInHooks.standInFailNext(call.function, 0, PLANNED);
        StandInHooks.standInRecord(1);

        // the end of no group is refused before what is planned
        assertEquals(call.function.equals("ncclGroupEnd") ? 5 : PLANNED, call.call.getAsInt());

        StandInHooks.standInRecord(0);
        String[] line = StandInHooks.log().strip().split("\\|", -1);
        assertEquals(call.function, line[0]);
        String known = line[3];
        for (int i = 0; i < call.arguments.split(",", -1).length; i++) {
            boolean unknown = call.arguments.split(",", -1)[i].equals("*");
            known = unknown ? masked(known, i) : known;
        }
        assertEquals(call.arguments, known);
        Cuda.cudaGetLastError();
    }

    private static String masked(String arguments, int index) {
        String[] parts = arguments.split(",", -1);
        assertTrue(parts[index].startsWith("0x"), arguments);
        parts[index] = "*";
        return String.join(",", parts);
    }

    @Test
    @DisplayName("3-07 3-08: no function is left out of these tests")
    void everyFunctionIsTested() {
        Set<String> tested = Stream.of(nccl(), newerNccl(), cuda())
                .flatMap(calls -> calls)
                .map(Call::function)
                .collect(Collectors.toSet());
        // these return a text, or the answer to another call, and are tested below
        tested.addAll(Set.of(
                "ncclGetErrorString",
                "ncclGetLastError",
                "cudaGetErrorName",
                "cudaGetErrorString",
                "cudaGetLastError"));

        Set<String> declared = Stream.of(
                        Nccl.class,
                        NcclSendRecvFunctions.class,
                        NcclConfigFunctions.class,
                        NcclLastErrorFunction.class,
                        NcclRootedFunctions.class,
                        Cuda.class)
                .flatMap(functions -> Stream.of(functions.getDeclaredMethods()))
                .filter(method -> Modifier.isNative(method.getModifiers()))
                .map(Method::getName)
                .collect(Collectors.toSet());

        assertEquals(declared, tested);
    }

    @Test
    @DisplayName("3-04 3-06: the id travels by value, all 128 bytes and what stands around them")
    void theIdTravelsByValue() {
        assertEquals(echo(123_456_789, 987), StandInHooks.standInEcho(123_456_789, ID, 987));
        assertEquals("NcclIdStruct[128 bytes]", ID.toString());
        assertEquals("NcclIdStruct[128 bytes]", ID.toString(true));
    }

    @Test
    @DisplayName("3-09: copy directions, stream and event flags have the numbers of the headers")
    void constantsAreThoseOfTheHeaders() {
        assertEquals(1, Cuda.HOST_TO_DEVICE);
        assertEquals(2, Cuda.DEVICE_TO_HOST);
        assertEquals(3, Cuda.DEVICE_TO_DEVICE);
        assertEquals(1, Cuda.STREAM_NON_BLOCKING);
        assertEquals(2, Cuda.EVENT_DISABLE_TIMING);
        assertEquals(0, Cuda.DEFAULT_STREAM);
    }

    @Test
    @DisplayName("3-15: texts come from the libraries")
    void textsComeFromTheLibraries() {
        assertEquals("no error", Nccl.ncclGetErrorString(0));
        assertTrue(Nccl.ncclGetErrorString(5).startsWith("invalid usage"));
        assertEquals("cudaErrorMemoryAllocation", Cuda.cudaGetErrorName(2));
        assertFalse(Cuda.cudaGetErrorString(100).isEmpty());
        assertEquals(5, Nccl.ncclGroupEnd());
        assertFalse(NcclLastErrorFunction.ncclGetLastError(0).isEmpty());
    }

    @Test
    @DisplayName("3-10 3-14 T8: loading again finds the same libraries, and asks nothing anew")
    void loadingAgainFindsTheSame() {
        StandInHooks.standInRecord(1);

        LoadedLibraries again = StandIn.load();

        StandInHooks.standInRecord(0);
        assertEquals("", StandInHooks.log());
        assertEquals(LibraryLoader.loaded().orElseThrow(), again);
        assertEquals("2.28.9", again.version().toString());
        assertEquals(Set.of(NcclCapability.values()), again.capabilities());
        assertTrue(again.nccl().endsWith("libnccl.so.2"), again.nccl());
        assertTrue(
                again.runtime().path().endsWith("libcudart.so.12"),
                again.runtime().path());
    }

    @Test
    @DisplayName("3-07: what a non-blocking configuration holds is the layout of NCCL 2.18")
    void theNonBlockingConfigurationHasTheLayoutOfNccl218() {
        try (NativeLongs config = NativeLongs.nonBlockingConfig()) {
            ByteBuffer bytes = PointerConverter.view(config.address(0), 48);
            assertEquals(48, bytes.getLong(0));
            assertEquals(0xcafebeef, bytes.getInt(8));
            assertEquals(21_800, bytes.getInt(12));
            assertEquals(0, bytes.getInt(16));
            for (int undefined : List.of(20, 24, 28, 40)) {
                assertEquals(Integer.MIN_VALUE, bytes.getInt(undefined));
            }
            assertEquals(0, bytes.getLong(32));
        }
    }
}
