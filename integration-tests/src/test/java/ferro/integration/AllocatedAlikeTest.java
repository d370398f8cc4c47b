package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.FerroException.Code;
import ferro.harness.Ranks;
import ferro.harness.Ranks.Ended;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory that all ranks of a group share must be asked for alike; over TCP each rank has its own. */
@Timeout(60)
class AllocatedAlikeTest {
    @ParameterizedTest
    @CsvSource({
        "shm,FLOAT32,8,f32[8]",
        "shm,INT32,6,i32[6]",
        "shm,FLOAT32,0,f32[0]",
        "shm,INT8,9000000000,i8[9000000000]",
        "simulated,FLOAT32,8000,f32[8000]",
        "simulated,FLOAT32,0,f32[0]"
    })
    void ranksThatAllocateDifferentMemoryAllFail(String medium, DataType type, long count, String text) {
        try (Ranks ranks = Ranks.over(medium, 3)) {
            List<Ended> all = ranks.ends(group -> {
                boolean odd = group.rank() == 2;
                group.allocate(odd ? type : DataType.FLOAT32, odd ? count : 6);
            });

            for (Ended ended : all) {
                assertEquals(
                        Code.MISMATCH, ended.failure().code(), ended.failure().getMessage());
                String told = ended.failure().getMessage();
                assertTrue(told.contains("rank 0 allocate f32[6], rank 2 allocate " + text), told);
                assertEquals(Set.of(0, 2), ended.failure().where().culprits());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "shm"})
    void emptyMemoryIsAllocatedOnAllRanks(String medium) {
        try (Ranks ranks = Ranks.over(medium, 2)) {
            ranks.each(group ->
                    assertEquals(0, group.allocate(DataType.INT64, 0).tensor().elementCount()));
            ranks.each(group -> group.allocate(DataType.INT64, 5));
        }
    }
}
