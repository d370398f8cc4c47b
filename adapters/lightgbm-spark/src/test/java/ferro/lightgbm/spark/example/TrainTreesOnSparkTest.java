package ferro.lightgbm.spark.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.spark.SharedSpark;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;

class TrainTreesOnSparkTest {
    @Test
    void theProgramTrainsTheSameTreesTwice() {
        SharedSpark.context();
        SparkSession spark = SparkSession.builder().getOrCreate();

        String model = TrainTreesOnSpark.train(spark, 2_000, 5);

        assertEquals(5, model.lines().filter(line -> line.startsWith("Tree=")).count());
        assertEquals(model, TrainTreesOnSpark.train(spark, 2_000, 5));
    }
}
