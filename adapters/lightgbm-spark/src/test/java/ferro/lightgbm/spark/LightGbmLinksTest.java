package ferro.lightgbm.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ferro.spark.SparkLinks;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests that the module, which is compiled against the oldest Spark, links with the Spark of this class path. */
class LightGbmLinksTest {
    @Test
    void everyReferenceToSparkAndScalaIsFound() throws Exception {
        assertEquals(Set.of(), SparkLinks.missingReferences(LightGbmOnFerro.class, 20));
        assertEquals(Set.of(), SparkLinks.missingMethods(LightGbmOnFerro.class));
    }
}
