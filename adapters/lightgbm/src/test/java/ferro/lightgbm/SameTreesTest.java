package ferro.lightgbm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.harness.Child;
import ferro.harness.Job;
import ferro.harness.Jvm;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that a model has the same trees over ferro as over LightGBM's own sockets, by the text of the model. */
class SameTreesTest {
    private static final List<String> MODELS = List.of(
            "data binary",
            "data multiclass",
            "data regression",
            "voting binary",
            "voting multiclass",
            "voting regression");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"2, auto", "2, tcp", "3, auto", "4, auto"})
    void theTreesEqualThoseOverLightGbmsOwnSockets(int ranks, String medium) throws Exception {
        Map<String, String> settings = medium.equals("tcp") ? Map.of("FERRO_LINKS", "tcp") : Map.of();
        List<String> line = Jvm.line(List.of("-Djna.tmpdir=" + folder), TrainsBothWays.class, 1000);
        for (Child rank : Job.run(ranks, settings, line)) {
            List<String> found = rank.after("model").stream().sorted().toList();
            assertEquals(MODELS.stream().map(model -> model + " equal 0.0").toList(), found);
        }
    }
}
