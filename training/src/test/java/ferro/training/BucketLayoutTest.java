package ferro.training;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.DataType;
import ferro.training.BucketLayout.Bucket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BucketLayoutTest {
    private static final BucketSettings SMALL = BucketSettings.DEFAULT.withBytes(64, 256);

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 64})
    void everyParameterIsInABucketAndRankPartsAreCacheLines(int worldSize) {
        Random random = new Random(worldSize);
        for (int round = 0; round < 50; round++) {
            List<Parameter> parameters = some(random);

            BucketLayout layout = BucketLayout.of(parameters, SMALL, worldSize);

            int count = 0;
            for (int index = 0; index < layout.buckets().size(); index++) {
                count += assertHolds(layout, index);
                assertHasPartsOfCacheLines(layout.buckets().get(index), worldSize);
            }
            assertEquals(parameters.size(), count);
        }
    }

    /** Returns how many parameters lie in a bucket, one behind the other. */
    private static int assertHolds(BucketLayout layout, int index) {
        Bucket bucket = layout.buckets().get(index);
        long at = 0;
        for (int member : bucket.members()) {
            assertEquals(index, layout.bucketOf(member));
            assertEquals(at, layout.offsetOf(member));
            assertEquals(bucket.dataType(), layout.parameters().get(member).dataType());
            at += layout.parameters().get(member).elementCount();
        }
        assertEquals(at, bucket.usedCount());
        return bucket.members().size();
    }

    private static void assertHasPartsOfCacheLines(Bucket bucket, int worldSize) {
        assertEquals(0, bucket.elementCount() % worldSize);
        assertEquals(0, bucket.elementCount() / worldSize * bucket.dataType().byteSize() % 64);
        assertTrue(bucket.elementCount() >= bucket.usedCount(), bucket::toString);
    }

    @Test
    void paddingIsLessThanACacheLinePerRank() {
        List<Parameter> parameters = List.of(f32("last", 32), f32("full", 64), f32("first", 1));

        List<Bucket> buckets = BucketLayout.of(parameters, BucketSettings.DEFAULT.withBytes(1, 1), 2)
                .buckets();

        assertEquals(
                List.of(32L, 64L, 64L),
                buckets.stream().map(Bucket::elementCount).toList());
        assertEquals(
                List.of(1L, 64L, 32L), buckets.stream().map(Bucket::usedCount).toList());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "the last parameter lies in the first bucket which is smaller, a20 b20 c20 d20 e8 f8, '[[5, 4], [3, 2, 1], [0]]'",
        "a parameter larger than a bucket has one of its own, a1 large1000 c1, '[[2], [1], [0]]'",
        "a bucket holds one type, a1 B1 C1 d1, '[[3], [2, 1], [0]]'",
    })
    void parametersFillTheBucketsOfTheTable(String what, String parameters, String members) {
        // a name in capitals is of f64
        List<Parameter> all = Stream.of(parameters.split(" "))
                .map(each -> Parameter.of(
                        each,
                        each.matches("[A-Z].*") ? DataType.FLOAT64 : DataType.FLOAT32,
                        Long.parseLong(each.replaceAll("\\D", ""))))
                .toList();

        assertEquals(members, "" + members(BucketLayout.of(all, SMALL, 2)));
    }

    @Test
    void parametersMayHaveAnotherOrder() {
        List<Parameter> parameters = List.of(f32("a", 1), f32("b", 1), f32("c", 1));

        BucketLayout layout = BucketLayout.of(parameters, SMALL.withOrder("b", "c", "a"), 2);

        assertEquals(List.of(List.of(1, 2, 0)), members(layout));
        assertEquals(List.of(2L, 0L, 1L), List.of(layout.offsetOf(0), layout.offsetOf(1), layout.offsetOf(2)));
    }

    @ParameterizedTest
    @CsvSource({
        "a b c, b d, 2, 'the order has 2 names for 3 parameters: missing [a, c], unknown [d], repeated []'",
        "a b, b a b, 2, 'the order has 3 names for 2 parameters: missing [], unknown [], repeated [b]'",
        "a a, , 2, two of 2 parameters have the name \"a\"",
        "'', , 2, 'need at least one parameter, found []'",
        "a, , 0, 'need at least one rank, found 0'"
    })
    void invalidLayoutsAreRefused(String names, String order, int worldSize, String text) {
        List<Parameter> parameters = names.isEmpty()
                ? List.of()
                : Stream.of(names.split(" ")).map(name -> f32(name, 1)).toList();
        BucketSettings settings = order == null ? SMALL : SMALL.withOrder(order.split(" "));

        assertEquals(text, refused(parameters, settings, worldSize));
    }

    private static String refused(List<Parameter> parameters, BucketSettings settings, int worldSize) {
        return assertThrows(IllegalArgumentException.class, () -> BucketLayout.of(parameters, settings, worldSize))
                .getMessage();
    }

    private static List<List<Integer>> members(BucketLayout layout) {
        return layout.buckets().stream().map(Bucket::members).toList();
    }

    private static Parameter f32(String name, long elements) {
        return Parameter.of(name, DataType.FLOAT32, elements);
    }

    private static List<Parameter> some(Random random) {
        List<Parameter> parameters = new ArrayList<>();
        for (int index = 0; index < 1 + random.nextInt(20); index++) {
            DataType type = random.nextInt(4) == 0 ? DataType.FLOAT64 : DataType.FLOAT32;
            parameters.add(Parameter.of("p" + index, type, 1 + random.nextInt(5), 1 + random.nextInt(15)));
        }
        return parameters;
    }
}
