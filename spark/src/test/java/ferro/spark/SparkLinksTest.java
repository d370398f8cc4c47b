package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spark.ClassReferences.Reference;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that the compiled module links with the Spark of this class path. The module is compiled once, against the
 * oldest Spark. A method that this Spark lacks, or that has another compiled form, would fail at its first call.
 */
@Tag("version")
class SparkLinksTest {
    @Test
    void everyReferenceToSparkScalaAndHadoopIsFound() throws Exception {
        assertEquals(Set.of(), SparkLinks.missingReferences(FerroSpark.class, 100));
    }

    @Test
    void everyClassImplementsTheMethodsOfItsSupertypes() throws Exception {
        assertEquals(Set.of(), SparkLinks.missingMethods(FerroSpark.class));
    }

    @Test
    void aMissingMethodIsReportedMissing() throws Exception {
        assertTrue(SparkLinks.exists(new Reference("java/util/List", "size", "()I")));
        assertTrue(SparkLinks.exists(new Reference("java/util/ArrayList", "containsAll", "(Ljava/util/Collection;)Z")));
        assertEquals(false, SparkLinks.exists(new Reference("java/util/List", "size", "()J")));
        assertEquals(false, SparkLinks.exists(new Reference("java/util/List", "length", "()I")));
        assertEquals(false, SparkLinks.exists(new Reference("java/util/NoList", "size", "()I")));
    }
}
