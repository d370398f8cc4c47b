package ferro.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StagedBlockTest {
    @TempDir
    private Path folder;

    @Test
    void twoRanksThatTrainInStagesHaveTheBitsOfDjlsOwnLoop() {
        List<RankJvms.Ended> staged = RankJvms.run(folder, 2, FitsWithEasyTrain.class, "adam", "broadcast", "staged");
        List<RankJvms.Ended> whole = RankJvms.run(folder, 2, FitsWithEasyTrain.class, "adam", "broadcast", "whole");

        assertEquals(List.of("overlapped"), staged.get(0).after("whyNot"));
        for (int rank = 0; rank < 2; rank++) {
            assertEquals(FitsWithEasyTrain.STEPS, staged.get(rank).after("loss").size());
            assertEquals(whole.get(rank).after("loss"), staged.get(rank).after("loss"));
            assertEquals(whole.get(rank).after("replica"), staged.get(rank).after("replica"));
        }
    }
}
