package ferro.integration.misuse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.integration.misuse.PublicCalls.Call;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Null for every argument of every public method: refused by name before anything is sent, but where Javadoc allows it. */
@Tag("text")
class NullArgumentsTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    /** Arguments that may be null, as their Javadoc says: type, method and parameter, a star for any. */
    private static final Set<String> ALLOWED = Set.of(
            // where this rank has none
            "*.on.in",
            "*.on.out",
            "OutOfPlaceResult.new.tensor",
            // where there is none to give
            "*.abort.cause",
            "JoinProgressPrinter.print.line",
            "DeviceTensor.new.owner",
            "SystemContext.of.store",
            "FallbackDecision.new.decidedBy");

    /** Types whose methods and constructors users never call, or that users write themselves. */
    private static final Map<String, String> NOT_CALLED_BY_USERS = Map.ofEntries(
            Map.entry("FerroException", "made of a failure, which a refusal would hide"),
            Map.entry("FerroException.Where", "made of a failure, which a refusal would hide"),
            Map.entry("FerroTransferException", "made of a failure, which a refusal would hide"),
            Map.entry("InvalidRankException", "made of a failure, which a refusal would hide"),
            Map.entry("GroupEvent", "made of a failure, which a refusal would hide"),
            Map.entry("NcclBackend", "needs a device or what stands in for one: NullDeviceArgumentsTest"),
            Map.entry("Carrier", "moves elements for the engine, piece by piece"),
            Map.entry("MessageStream", "moves bytes for a transport, piece by piece"),
            Map.entry("StagedLink", "moves bytes for a transport, piece by piece"),
            Map.entry("StagedLink.Sink", "written by transports, called by ferro"),
            Map.entry("StagedLink.Source", "written by transports, called by ferro"),
            Map.entry("ReduceOp.Combiner", "written by users, called by ferro"),
            Map.entry("RecordCombine", "written by users, called by ferro"),
            Map.entry("ReduceOp.SpanCombine", "written by users, called by ferro"),
            Map.entry("ReduceOp.FloatCombine", "written by users, called by ferro"),
            Map.entry("ReduceOp.DoubleCombine", "written by users, called by ferro"),
            Map.entry("ReduceOp.IntCombine", "written by users, called by ferro"),
            Map.entry("ReduceOp.LongCombine", "written by users, called by ferro"),
            Map.entry("GroupObjects.ReceivedObject", "made by ferro, for users to read"),
            Map.entry("Codec", "written by users, called by ferro"),
            Map.entry("ServiceErrors", "filled by ferro while it searches for services"),
            Map.entry("ExitTask", "written by back ends, called by ferro"),
            Map.entry("ExitTask.JvmExit", "made by ferro, for back ends to read"),
            Map.entry("Simulation.Script", "written by users, called by ferro"),
            Map.entry("SimulatedBackend.RankBody", "written by users, called by ferro"),
            Map.entry("SimulatedBackend.ResultBody", "written by users, called by ferro"),
            Map.entry("Simulation.Result", "made by ferro, for users to read"),
            Map.entry("DeviceMemory", "written for a device, called by ferro"),
            Map.entry("DeviceMemory.Copy", "written for a device, called by ferro"),
            Map.entry("DeviceMemoryProvider", "written for a device, called by ferro"),
            Map.entry("HostFallback", "a service that ferro calls"),
            Map.entry("StoreProvider", "a service that ferro calls"),
            Map.entry("BackendProvider", "a service that ferro calls"),
            Map.entry("ControlLaneProvider", "a service that ferro calls"),
            Map.entry("SimulatedBackendProvider", "a service that ferro calls"),
            Map.entry("SharedMemoryProvider", "a service that ferro calls"),
            Map.entry("SharedMemory", "part of a medium, called by the engine"),
            Map.entry("Store", "part of a medium, called while ranks join"),
            Map.entry("Transport", "part of a medium, called by the engine"),
            Map.entry("ControlLane", "part of a medium, called by the engine"),
            Map.entry("ControlLane.PeerEvents", "part of a medium, called by the engine"),
            Map.entry("TensorMemory", "memory of tensors, called by the engine and back ends"),
            Map.entry("Transport.Events", "part of a medium, called by the engine"),
            Map.entry("Link", "part of a medium, called by the engine"),
            Map.entry("CallHeader", "part of a medium, made by the engine"),
            Map.entry("CallHeader.Call", "part of a medium, made by the engine"),
            Map.entry("CallHeader.HeaderCopy", "part of a medium, made by the engine"),
            Map.entry("JobTool", "a service that the launcher calls"),
            Map.entry("JobTool.ToolRequest", "made by the launcher, for tools to read"),
            Map.entry("JobTool.RankProgram", "made by tools, for the launcher to read"),
            Map.entry("ProcessTable", "part of a context, called by the engine"),
            Map.entry("LinuxFiles", "read by ferro"),
            Map.entry("CollectiveEngine.SteppedEngine", "called by simulators"));

    private static Rig rig;

    @TempDir
    private Path folder;

    /** One argument of one call on one object, which of several by name. */
    private record Case(Call call, String receiver, int index) {
        String argument() {
            return call.call().getParameters()[index].getName();
        }

        @Override
        public String toString() {
            return call + " " + argument() + (receiver.isEmpty() ? "" : " on " + receiver);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void aNullArgumentIsRefusedByNameBeforeAnythingIsSent(Case refused) throws Throwable {
        boolean isIntact = false;
        try {
            Object receiver = rig().receiver(refused.call(), refused.receiver());
            Object[] arguments = new Sane(rig(), folder, SOON).arguments(refused.call());
            arguments[refused.index()] = null;
            long before = rig().meet();

            Throwable told = Rig.thrown(refused.call(), receiver, arguments);

            assertTrue(isRefusal(told), () -> "expected a refusal of " + refused.argument() + ", found " + told);
            assertTrue(names(told, refused.argument()), () -> refused.argument() + " is not named: " + told);
            assertEquals(before + 1, rig().meet(), "number of the next call");
            assertEquals(Optional.empty(), rig().group().failure(), "failure of the group");
            isIntact = true;
        } finally {
            if (!isIntact) {
                closeRig();
            }
        }
    }

    /** Returns what all cases use one after the other, since none may change it; after one that has failed, another one. */
    private static Rig rig() {
        if (rig == null) {
            rig = new Rig(2, SOON);
        }
        return rig;
    }

    @AfterAll
    static void closeRig() {
        if (rig != null) {
            rig.close();
            rig = null;
        }
    }

    /** Every line of the tables still stands for something. */
    @Test
    void everyAllowedNullArgumentExists() {
        List<Call> all = PublicCalls.all();
        Set<String> unused = new TreeSet<>(ALLOWED);
        all.forEach(call -> indices(call).forEach(index -> unused.removeIf(line -> stands(line, call.place(index)))));
        Set<String> gone = new TreeSet<>(NOT_CALLED_BY_USERS.keySet());
        all.forEach(call -> gone.remove(PublicCalls.name(call.on())));

        assertEquals(Set.of(), unused, "allowed, and there is no such argument");
        assertEquals(Set.of(), gone, "left out, and there is no such type with arguments");
    }

    private static List<Case> cases() {
        try (Rig rig = new Rig(2, SOON)) {
            return PublicCalls.all().stream()
                    .filter(call -> !NOT_CALLED_BY_USERS.containsKey(PublicCalls.name(call.on())))
                    .flatMap(call -> rig.names(call)
                            .flatMap(receiver -> indices(call).map(index -> new Case(call, receiver, index))))
                    .filter(each -> ALLOWED.stream()
                            .noneMatch(line -> stands(line, each.call().place(each.index()))))
                    .toList();
        }
    }

    private static Stream<Integer> indices(Call call) {
        Class<?>[] types = call.call().getParameterTypes();
        return IntStream.range(0, types.length)
                .filter(index -> !types[index].isPrimitive())
                .boxed();
    }

    private static boolean stands(String line, String place) {
        return Pattern.matches(line.replace(".", "\\.").replace("*", ".*"), place);
    }

    /** What the virtual machine says of a null that was used is no refusal. */
    private static boolean isRefusal(Throwable told) {
        String text = told == null ? null : told.getMessage();
        return text != null
                && (told instanceof NullPointerException && !text.startsWith("Cannot ")
                        || told instanceof IllegalArgumentException && text.contains("is null"));
    }

    /** Messages say input and output where parameters are in and out. */
    private static boolean names(Throwable told, String argument) {
        String word = Map.of("in", "input", "out", "output").getOrDefault(argument, argument);
        return Arrays.asList(told.getMessage().split("\\W+")).contains(word);
    }
}
