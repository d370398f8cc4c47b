package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TraceShortenerTest {
    /** Traces as a patch: a line with a minus is folded, and a line with a plus stands in its place. */
    private static final String TRACES = """
             Exception in thread "main" ferro.FerroException: TIMED_OUT: allReduce on group "world" rank 0 seq 3: x
             \tat ferro.collectives@0.1.0-SNAPSHOT/ferro.collectives.engine.PendingWork.exception(Pend.java:2)
            -\tat ferro.collectives.CollectiveLane.run(CollectiveLane.java:116)
            -\tat ferro.group.ProcessGroup.allReduce(ProcessGroup.java:35)
            +\t... 2 frames of ferro
             \tat app.Model.step(Model.java:7)
            -\tat java.base/java.util.stream.IntPipeline.forEach(IntPipeline.java:617)
            +\t... 1 frame of the JDK
             \tat app.Model.lambda$train$0(Model.java:4)
            -\tat ferro.group.ProcessGroup.coalesced(ProcessGroup.java:172)
            -\tat java.base/java.lang.Thread.run(Thread.java:840)
            +\t... 1 frame of ferro, 1 frame of the JDK
             \tat app.Main.main(Main.java:3)

             java.lang.AssertionError: 3 and 4 differ
            -\tat org.junit.jupiter.api@5.0/org.junit.jupiter.api.AssertEquals.fail(AssertEquals.java:1)
            -\tat java.base/java.lang.reflect.Method.invoke(Method.java:1)
            +\t... 1 frame of the JDK, 1 frame of JUnit
             \tat app.SumTest.sums(SumTest.java:9)
            -\tat org.junit.platform.launcher.Main.run(Main.java:1)
            +\t... 1 frame of JUnit

             Exception in thread "main" java.lang.RuntimeException: causes are folded too, with a frame of ferro each
             \tat app.Main.lambda$main$0(Main.java:9)
             \tat ferro.group.ProcessGroup.coalesced(ProcessGroup.java:172)
             \tSuppressed: java.io.IOException: disk
            -\t\tat java.base/java.io.FileOutputStream.write(FileOutputStream.java:1)
            +\t\t... 1 frame of the JDK
             \t\tat app.Main.save(Main.java:5)
             Caused by: java.lang.IllegalArgumentException: output has 3 elements
             of 4
             \tat ferro.CollectiveCall.check(CollectiveCall.java:5)
            -\tat ferro.group.ProcessGroupBase.run(ProcessGroupBase.java:43)
            +\t... 1 frame of ferro
             \tat app.Main.step(Main.java:8)
             \t... 1 more

             Exception in thread "main" java.lang.IllegalStateException: programs that come with ferro are like others
             \tat ferro.examples.language.Training.step(Training.java:40)
             \tat ferro.examples.language.Main.main(Main.java:12)
            """;

    private static Stream<String> traces() {
        return Stream.of(TRACES.split("\n\n"));
    }

    @ParameterizedTest
    @MethodSource("traces")
    void framesOfTheProgramAndTheFirstOfFerroAreShownAndTheRestCounted(String trace) {
        assertEquals(without('-', trace), TraceShortener.of(without('+', trace)));
    }

    private static List<String> without(char mark, String trace) {
        return trace.lines()
                .filter(line -> line.charAt(0) != mark)
                .map(line -> line.substring(1))
                .toList();
    }
}
