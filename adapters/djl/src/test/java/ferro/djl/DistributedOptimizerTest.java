package ferro.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DistributedOptimizerTest {
    @ParameterizedTest
    @ValueSource(strings = {"adam", "sgd"})
    void fitOfTwoRanksMakesEqualReplicasAndTheLossesOfOneProcess(String optimizer) throws Exception {
        List<Child> two = RankJvms.run(2, FitsWithEasyTrain.class, optimizer, "broadcast", "whole");
        List<Child> one = RankJvms.run(1, FitsWithEasyTrain.class, optimizer, "broadcast", "whole");

        assertEquals(two.get(0).after("replica"), two.get(1).after("replica"));
        List<Double> expected = losses(one);
        List<Double> found = losses(two);
        assertEquals(FitsWithEasyTrain.STEPS, expected.size());
        assertEquals(FitsWithEasyTrain.STEPS, found.size());
        assertTrue(expected.get(FitsWithEasyTrain.STEPS - 1) < expected.get(0) - 0.1, expected::toString);
        for (int step = 0; step < expected.size(); step++) {
            assertEquals(expected.get(step), found.get(step), 1e-5, "step " + step + " of " + expected + found);
        }
    }

    @Test
    void ranksThatStartWithDifferentParametersThrowWithTheRemedy() throws Exception {
        List<String> line = RankJvms.line(List.of(), FitsWithEasyTrain.class, "sgd", "unlike", "whole");
        try (Job two = Job.start(2, Map.of(), line)) {
            for (Child rank : two.ended(1)) {
                String text = rank.errText();
                assertTrue(
                        text.contains(
                                        "before the first step replicas differ in 3 of 6 tensors: \"01Linear_weight\" is ")
                                && text.contains("call broadcastParameters()"),
                        text);
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "update | DJL updates parameter \"01Linear_weight\" a second time in a step",
                "ready | the gradient of parameter \"05Linear_weight\" is computed a second time",
                "inner | need a finite learning rate, found NaN"
            })
    void misuseOnOneRankFailsAllRanksAndTheGroupContinues(String misuse, String text) throws Exception {
        for (Child rank : RankJvms.run(2, MisusesOptimizer.class, misuse)) {
            assertEquals(1, rank.after("failed").size(), rank::toString);
            assertTrue(rank.after("failed").get(0).contains(text), rank::toString);
            assertEquals(List.of("goes on"), rank.after("group"), rank::toString);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"whole", "staged"})
    void aRankWithoutBatchesGetsTheModelOfTheOther(String kind) throws Exception {
        List<Child> two = RankJvms.run(2, TrainsUnevenly.class, kind, "5", "0");
        List<Child> one = RankJvms.run(1, TrainsUnevenly.class, kind, "5");

        for (Child rank : two) {
            assertEquals(List.of("10"), rank.after("steps"), rank::toString);
            assertEquals(one.get(0).after("replica"), rank.after("replica"));
        }
    }

    @Test
    void ranksThatRunOutOfBatchesInTurnStayEqual() throws Exception {
        List<Child> three = RankJvms.run(3, TrainsUnevenly.class, "whole", "2", "5", "3");

        for (Child rank : three) {
            assertEquals(List.of("10"), rank.after("steps"), rank::toString);
            assertEquals(1, rank.after("replica").size(), rank::toString);
            assertEquals(three.get(0).after("replica"), rank.after("replica"));
        }
    }

    static List<Double> losses(List<Child> ranks) {
        List<Double> means = new ArrayList<>();
        for (int step = 0; step < ranks.get(0).after("loss").size(); step++) {
            double sum = 0;
            for (Child rank : ranks) {
                sum += Double.parseDouble(rank.after("loss").get(step));
            }
            means.add(sum / ranks.size());
        }
        return means;
    }
}
