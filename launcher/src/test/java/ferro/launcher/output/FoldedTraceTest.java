package ferro.launcher.output;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class FoldedTraceTest {

    @Test
    void programsFramesAndTheFirstOfFerroAreShownAndTheRestCounted() {
        List<String> trace = List.of(
                "Exception in thread \"main\" ferro.FerroException: TIMED_OUT: allReduce on group \"world\" rank 0 seq 3: x",
                "\tat ferro.collectives@0.1.0-SNAPSHOT/ferro.collectives.engine.progress.PendingWork.exception(PendingWork.java:228)",
                "\tat ferro.collectives.CollectiveLane.run(CollectiveLane.java:116)",
                "\tat ferro.group.ProcessGroup.allReduce(ProcessGroup.java:35)",
                "\tat app.Model.step(Model.java:7)",
                "\tat java.base/java.util.stream.IntPipeline.forEach(IntPipeline.java:617)",
                "\tat app.Model.lambda$train$0(Model.java:4)",
                "\tat ferro.group.ProcessGroup.coalesced(ProcessGroup.java:172)",
                "\tat java.base/java.lang.Thread.run(Thread.java:840)",
                "\tat app.Main.main(Main.java:3)");

        assertEquals(
                List.of(
                        trace.get(0),
                        trace.get(1),
                        "\t... 2 frames of ferro",
                        trace.get(4),
                        "\t... 1 frame of the JDK",
                        trace.get(6),
                        "\t... 1 frame of ferro, 1 frame of the JDK",
                        trace.get(9)),
                FoldedTrace.of(trace));
    }

    @Test
    void framesOfJunitAreCounted() {
        List<String> trace = List.of(
                "java.lang.AssertionError: 3 and 4 differ",
                "\tat org.junit.jupiter.api@5.0/org.junit.jupiter.api.AssertEquals.fail(AssertEquals.java:1)",
                "\tat java.base/java.lang.reflect.Method.invoke(Method.java:1)",
                "\tat app.SumTest.sums(SumTest.java:9)",
                "\tat org.junit.platform.launcher.Main.run(Main.java:1)");

        assertEquals(
                List.of(
                        trace.get(0),
                        "\t... 1 frame of the JDK, 1 frame of JUnit",
                        trace.get(3),
                        "\t... 1 frame of JUnit"),
                FoldedTrace.of(trace));
    }

    @Test
    void causesAreFoldedLikewiseAndEachShowsOneFrameOfFerro() {
        List<String> trace = List.of(
                "Exception in thread \"main\" java.lang.RuntimeException: no step",
                "\tat app.Main.main(Main.java:9)",
                "\tSuppressed: java.io.IOException: disk",
                "\t\tat java.base/java.io.FileOutputStream.write(FileOutputStream.java:1)",
                "\t\tat app.Main.save(Main.java:5)",
                "Caused by: java.lang.IllegalArgumentException: output has 3 elements",
                "of 4",
                "\tat ferro.CollectiveCall.check(CollectiveCall.java:5)",
                "\tat ferro.group.GroupCalls.run(GroupCalls.java:43)",
                "\tat app.Main.step(Main.java:8)",
                "\t... 1 more");

        assertEquals(
                List.of(
                        trace.get(0),
                        trace.get(1),
                        trace.get(2),
                        "\t\t... 1 frame of the JDK",
                        trace.get(4),
                        trace.get(5),
                        trace.get(6),
                        trace.get(7),
                        "\t... 1 frame of ferro",
                        trace.get(9),
                        trace.get(10)),
                FoldedTrace.of(trace));
    }

    @Test
    void programsThatComeWithFerroAreProgramsLikeAnyOther() {
        List<String> trace = List.of(
                "Exception in thread \"main\" java.lang.IllegalStateException: no data",
                "\tat ferro.examples.language.Training.step(Training.java:40)",
                "\tat ferro.examples.language.Main.main(Main.java:12)");

        assertEquals(trace, FoldedTrace.of(trace));
    }
}
